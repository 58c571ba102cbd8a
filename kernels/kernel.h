/* Kernel files: the phases of a GPU pass, as row functions in `.vir`.  docs/gpu-passes.md describes the language and the contract
 * of phases.
 *
 * A file and its includes are compiled in two steps.  read.c reads the parts that only kernel files have: declarations, the heads
 * of phases, the sequence.  The rest is `.vir`.  expand.c writes a text in which each phase is a function, with a program around it
 * for each way of sweeping over rows.  The parser of ir/text reads that text, and its messages are mapped to places in the file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_H
#define VYRE_CODEGEN_KERNEL_H

#include "text/lex.h"
#include "vyre/ir.h"
#include "vyre/phases.h"

#define KERNEL_OWN_ROW    "the row" /* the row's name in the programs around phases */
#define KERNEL_MEMORY_SET 1         /* the descriptor set of the file's memory; a name's number is its binding */

enum {
  KERNEL_MOST_NAMES = 64,
  KERNEL_MOST_FUNCTIONS = 1024,
  KERNEL_MOST_STEPS = 256,
  KERNEL_MOST_TIMES = 1024, /* runs of a phase: the product of the counts of nested repeats */
  KERNEL_MOST_SOURCES = 64,
  KERNEL_MOST_CONSTANTS = 256
};

/* A range of a kernel file's text. */
typedef struct kernel_text {
  uint32_t at, length;
} kernel_text;

typedef enum kernel_kind {
  KERNEL_CORE,     /* a column with a row's op, payload or operands, whose own element a row function may write */
  KERNEL_LINK,     /* a column with a row's position, read only */
  KERNEL_ANALYSIS, /* a column of an analysis, read only */
  KERNEL_FACT,     /* a fact of ops.def, by opcode */
  KERNEL_SIDE,     /* a side column of the pass: `stride` elements a row, zero at first; stride 0 if the pass sets its size */
  KERNEL_TABLE,    /* words from the pass, read only, at any index */
  KERNEL_COUNTER,  /* a word that phases add to; stride 0 for an array whose size the pass sets */
  KERNEL_VERDICT,  /* a word, all ones at first, that becomes the minimum of row << 4 | code */
} kernel_kind;

/* A name of memory that phases use without a parameter.  A set of names has a bit for each. */
typedef struct kernel_name {
  kernel_kind kind;
  kernel_text text;  /* the name, if the file declares it */
  kernel_text label; /* a counter's name in -stats, empty if it has none */
  const char *word;  /* the name, if columns.def lists it; otherwise NULL */
  uint32_t stride;
  bool is_provided; /* a column of an analysis that the pass provides */
} kernel_name;

/* A function, or a phase, which is a function of a row. */
typedef struct kernel_function {
  kernel_text name; /* without the @ */
  kernel_text head; /* from ( to the last parameter, without the ) */
  kernel_text body; /* from the ) of the parameters to } */
  uint64_t names;   /* names used by the function and its callees */
  /* For a checked phase: names written by stores or atomics, names scattered to by atomics, and names read by loads. */
  uint64_t written, scattered, read;
  uint64_t read_elsewhere;            /* names that the phase reads at other rows than its own */
  uint64_t read_afar, scattered_afar; /* names accessed at rows that may be of any program, not reached over operands and parents */
  bool is_phase, has_parameters;
  vyre_direction direction;
} kernel_function;

/* A step of the sequence, in the order of the text. */
typedef struct kernel_step {
  vyre_phase_step_kind kind;
  uint32_t phase; /* RUN: the function of the phase */
  uint32_t times; /* REPEAT: the number of repetitions; LEVELS: 1 if the levels are in the side column `name` */
  bool is_apart;  /* LEVELS: the author declares that programs are independent of each other */
  uint32_t name;  /* REPEAT_WHILE: a counter, until it does not change; LEVELS: a side column */
  uint32_t end;   /* except RUN: the step after the steps inside */
} kernel_step;

static inline bool
kernel_step_has_name(const kernel_step *step)
{
  return step->kind == VYRE_STEP_REPEAT_WHILE || (step->kind == VYRE_STEP_LEVELS && step->times != 0);
}

/* A number with a name. */
typedef struct kernel_number {
  kernel_text name; /* without the @ */
  uint32_t value;
} kernel_number;

/* A part of the text, and the path of the file that it comes from. */
typedef struct kernel_source {
  kernel_text text;
  uint32_t path; /* offset in `paths` */
} kernel_source;

/* A kernel file.  Its text is the prelude (prelude.c), then the file, then its includes. */
typedef struct kernel_file {
  const char *path, *text;
  uint32_t length;
  vyre_bytes bytes, paths;
  kernel_source sources[KERNEL_MOST_SOURCES]; /* the prelude, the file, its includes */
  uint32_t source_count;
  vyre_diagnostics diagnostics;
  uint32_t errors;
  kernel_name names[KERNEL_MOST_NAMES];
  uint32_t name_count;
  kernel_function functions[KERNEL_MOST_FUNCTIONS];
  uint32_t function_count;
  kernel_number numbers[KERNEL_MOST_CONSTANTS];
  uint32_t number_count;
  kernel_step steps[KERNEL_MOST_STEPS];
  uint32_t step_count;
  bool is_apart; /* the author declares that programs are independent of each other in the whole sequence */
} kernel_file;

/* Reports an error at a range of the text.  Returns false. */
bool kernel_error(kernel_file *file, kernel_text where, const char *fix, const char *format, ...) VYRE_PRINTF(4, 5);

/* ---- prelude.c ---- */
/* Appends the prelude to the text: the functions that each kernel file may call. */
VYRE_MUST_USE vyre_status kernel_add_prelude(vyre_bytes *text);

/* ---- read.c ---- */
/* Reads a file and its includes.  Borrows `path`.  Reports errors to the diagnostics and returns the first as a status.  Free the
 * file also after a failure. */
VYRE_MUST_USE vyre_status kernel_read(kernel_file *file, const char *path, vyre_diagnostics diagnostics);
void kernel_file_free(kernel_file *file);
/* Returns the source of a byte of the text, its line there, and the start of that line in the text. */
uint32_t kernel_line_of(const kernel_file *file, uint32_t at, uint32_t *out_line, uint32_t *out_start);
const char *kernel_source_path(const kernel_file *file, uint32_t source);

/* Returns the index of the name after a %, or UINT32_MAX if the file has no such name. */
uint32_t kernel_find_name(const kernel_file *file, const text_token *token, const char *text);
/* Returns the function or phase with that name among those read so far, or NULL. */
const kernel_function *kernel_find_function(const kernel_file *file, const text_token *token);

/* Returns the function of the prelude that an index of the column is passed through, or NULL if the column is not `version`.  The
 * version of a row that no longer accesses state reads as 0, because the host clears it only after the sequence. */
const kernel_function *kernel_filter_of_column(const kernel_file *file, uint32_t name);
/* Lists the memory of the pass: names that phases or repetitions use, in the order of names.  Returns their number.  out[name] is
 * the index among them, or UINT8_MAX for unused names. */
uint32_t kernel_memory(const kernel_file *file, uint8_t out[KERNEL_MOST_NAMES]);

/* ---- constants.c ---- */
/* Finds the value of a name without its @: a number of the file, or a constant such as op.add, kind.f32, flag.imm or is.pure
 * (docs/gpu-passes.md).  Returns false if there is none. */
bool kernel_constant(const kernel_file *file, const char *name, uint32_t length, uint32_t *out);

/* ---- expand.c ---- */
/* The origin of a range of the expanded text. */
typedef struct kernel_piece {
  uint32_t at;     /* in the expanded text */
  uint32_t from;   /* in the file's text */
  uint32_t length; /* bytes copied from there; 0 if the range was generated for that place */
} kernel_piece;

typedef struct kernel_expansion {
  kernel_file *file;
  vyre_bytes text;
  vyre_bytes pieces;    /* kernel_piece, in order */
  vyre_bytes in_bounds; /* by row of the checked module, whether the contract proves that an `at` row is in bounds */
} kernel_expansion;

/* Expands the file to `.vir`: phases as functions, and programs around them whose invocations each execute one row.  Each name is a
 * storage buffer of KERNEL_MEMORY_SET.  The program NAME_rows of a phase sweeps over all rows except row 0: the row is gid.x + 1,
 * or counted from the end if users run first.  The program NAME_listed sweeps over the rows of a list. */
VYRE_MUST_USE vyre_status kernel_expand(kernel_file *file, kernel_expansion *out);
/* Expands only functions and phases. */
VYRE_MUST_USE vyre_status kernel_expand_functions(kernel_file *file, kernel_expansion *out);
void kernel_expansion_free(kernel_expansion *expansion);

/* Reports an error at the statement of a row of the module that was parsed from the expanded text.  Returns false. */
bool kernel_error_at(const kernel_expansion *expansion, const vyre_module *module, uint32_t row, const char *fix,
                     const char *format, ...) VYRE_PRINTF(5, 6);

/* Maps a message about the expanded text to the file.  The callback `emit` of vyre_diagnostics; `user` is the expansion. */
void kernel_emit(void *user, const vyre_diagnostic *diagnostic);

/* ---- contract.c ---- */
/* Checks the contract of phases.  `module` was parsed from the expanded text.  Reports each violation.  Returns an error if there
 * was a violation. */
VYRE_MUST_USE vyre_status kernel_check(kernel_expansion *expansion, const vyre_module *module);

/* ---- descriptor.c ---- */
/* Optimizes a sealed module, which keeps its programs in order. */
typedef vyre_status kernel_optimizer(vyre_module *module);

/* Appends the C file of a plugin's phases, which defines the vyre_phases NAME_phases (vyre/phases.h). */
VYRE_MUST_USE vyre_status kernel_write_plugin(const kernel_expansion *expansion, const vyre_module *module, const char *name,
                                              kernel_optimizer *optimize, vyre_bytes *out);

#endif
