/* Kernel files: the phases of a GPU pass, as row functions in `.vir`.  What stands in such a file, and what a phase may do, is
 * told in docs/gpu-passes.md.
 *
 * A file is read with those that it includes, in two steps.  What is the kernel file's own (declarations, the heads of phases, the
 * sequence) is read here (read.c).  The rest is `.vir`: each phase becomes a function, and a program around it for each way of
 * sweeping over rows, as text (expand.c), which the parser of ir/text takes; whatever is said of that text is said of the place in
 * the file that it came from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_H
#define VYRE_CODEGEN_KERNEL_H

#include "text/lex.h"
#include "vyre/ir.h"
#include "vyre/phases.h"

#define KERNEL_OWN_ROW    "the row" /* as the programs around phases call it */
#define KERNEL_MEMORY_SET 1         /* of the buffers that are the file's memory; a name's number is its binding */

enum {
  KERNEL_MOST_NAMES = 64,
  KERNEL_MOST_FUNCTIONS = 1024,
  KERNEL_MOST_STEPS = 256,
  KERNEL_MOST_TIMES = 1024, /* that a phase runs by repeats in each other */
  KERNEL_MOST_SOURCES = 64,
  KERNEL_MOST_CONSTANTS = 256
};

/* A piece of the text. */
typedef struct kernel_text {
  uint32_t at, length;
} kernel_text;

typedef enum kernel_kind {
  KERNEL_CORE,     /* a column of the table that says what a row is: a row function may write its own element */
  KERNEL_LINK,     /* one that says where it is: read alone */
  KERNEL_ANALYSIS, /* one of an analysis */
  KERNEL_FACT,     /* of each opcode, from ops.def */
  KERNEL_SIDE, /* the pass's own: `stride` elements a row, zero before the first phase; of stride 0: as many as the pass asks for */
  KERNEL_TABLE,   /* words that the pass hands over: read alone, at any index */
  KERNEL_COUNTER, /* one word that phases add to; of stride 0: as many as the pass asks for */
  KERNEL_VERDICT, /* one word, all ones at first, of which they leave the least: row << 4 | code */
} kernel_kind;

/* A name that phases use without a parameter for it; each is one bit of a set of names. */
typedef struct kernel_name {
  kernel_kind kind;
  kernel_text text;  /* declared ones */
  kernel_text label; /* of a counter: what -stats calls it; of no length: nothing */
  const char *word;  /* those of columns.def */
  uint32_t stride;
  bool is_provided; /* a column of an analysis that the pass makes */
} kernel_name;

/* A function, or a phase, which is one that is given its row. */
typedef struct kernel_function {
  kernel_text name; /* without the @ */
  kernel_text head; /* after the name: from ( to the end of the parameters */
  kernel_text body; /* from there to } */
  uint64_t names;   /* that it uses, by itself and in what it calls */
  /* Of a phase, known once it is checked: names that it writes, scatters or adds to. */
  uint64_t written, scattered, read;
  uint64_t read_elsewhere;            /* of which it reads other elements than its own row's, */
  uint64_t read_afar, scattered_afar; /* those of rows that are not reached over operands and parents: of any program */
  bool is_phase, has_parameters;
  vyre_direction direction;
} kernel_function;

/* Of the sequence; in the order of the text. */
typedef struct kernel_step {
  vyre_phase_step_kind kind;
  uint32_t phase; /* RUN: its function */
  uint32_t times; /* REPEAT; of LEVELS 1: they are what the side column `name` says */
  bool is_apart;  /* LEVELS: the author says that no program's rows see what those of others do in them */
  uint32_t name;  /* REPEAT_WHILE: a counter; until it stays as it is */
  uint32_t end;   /* but RUN: the step after those in it */
} kernel_step;

static inline bool
kernel_step_has_name(const kernel_step *step)
{
  return step->kind == VYRE_STEP_REPEAT_WHILE || (step->kind == VYRE_STEP_LEVELS && step->times != 0);
}

/* A number that the file gives a name. */
typedef struct kernel_number {
  kernel_text name; /* without the @ */
  uint32_t value;
} kernel_number;

/* What a part of the text was read from. */
typedef struct kernel_source {
  kernel_text text;
  uint32_t path; /* in `paths` */
} kernel_source;

/* The text is what every kernel file begins with (prelude.c), then the file's, then those of the files that it includes. */
typedef struct kernel_file {
  const char *path, *text;
  uint32_t length;
  vyre_bytes bytes, paths;
  kernel_source sources[KERNEL_MOST_SOURCES]; /* the prelude, the file itself, what it includes */
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
} kernel_file;

/* Reports at a piece of the text.  Returns false. */
bool kernel_error(kernel_file *file, kernel_text where, const char *fix, const char *format, ...) VYRE_PRINTF(4, 5);

/* ---- prelude.c ---- */
/* Appends the functions that each file may call. */
VYRE_MUST_USE vyre_status kernel_add_prelude(vyre_bytes *text);

/* ---- read.c ---- */
/* Reads the file and what it includes; `path` is borrowed.  What is wrong with them goes to the diagnostics, and is an error.  The
 * file is to be freed in any case. */
VYRE_MUST_USE vyre_status kernel_read(kernel_file *file, const char *path, vyre_diagnostics diagnostics);
void kernel_file_free(kernel_file *file);
/* The source that a byte of the text is in, its line there, and where in the text that line begins. */
uint32_t kernel_line_of(const kernel_file *file, uint32_t at, uint32_t *out_line, uint32_t *out_start);
const char *kernel_source_path(const kernel_file *file, uint32_t source);

/* The name after a %; UINT32_MAX: none of the file's. */
uint32_t kernel_find_name(const kernel_file *file, const text_token *token, const char *text);
/* The function or phase of that name, of those read so far; NULL: there is none. */
const kernel_function *kernel_find_function(const kernel_file *file, const text_token *token);

/* Names that phases use, or by whose change a sequence goes on: what a pass has as memory, in the order of names.  How many; of
 * each its index among them, of others UINT8_MAX. */
uint32_t kernel_memory(const kernel_file *file, uint8_t out[KERNEL_MOST_NAMES]);

/* ---- constants.c ---- */
/* What a name without its @ stands for: one of the file's numbers, or op.add, kind.f32, flag.imm, is.pure and the like, which
 * docs/gpu-passes.md has all of. */
bool kernel_constant(const kernel_file *file, const char *name, uint32_t length, uint32_t *out);

/* ---- expand.c ---- */
/* Where bytes of the expanded text came from. */
typedef struct kernel_piece {
  uint32_t at;     /* in the expanded text */
  uint32_t from;   /* in the file's text */
  uint32_t length; /* as they stand there; 0: they were made for what stands there */
} kernel_piece;

typedef struct kernel_expansion {
  kernel_file *file;
  vyre_bytes text;
  vyre_bytes pieces;    /* kernel_piece, in order */
  vyre_bytes in_bounds; /* a byte a row of the module that was parsed from the text, once it is checked: of an `at` row whether the
                           contract alone says that it is in bounds */
} kernel_expansion;

/* The file as `.vir`: phases as functions, and programs around them, each invocation of which is a row.  A name that they use is a
 * storage buffer of KERNEL_MEMORY_SET.  First one program a phase, NAME_rows, over all rows but row 0: gid.x +
 * 1, or, where users have their turn first, the one as far from the end.  Then one a phase, NAME_listed, over rows of a list. */
VYRE_MUST_USE vyre_status kernel_expand(kernel_file *file, kernel_expansion *out);
/* Functions and phases alone. */
VYRE_MUST_USE vyre_status kernel_expand_functions(kernel_file *file, kernel_expansion *out);
void kernel_expansion_free(kernel_expansion *expansion);

/* Reports at the statement of the row, of a module that was parsed from the expanded text. */
bool kernel_error_at(const kernel_expansion *expansion, const vyre_module *module, uint32_t row, const char *fix,
                     const char *format, ...) VYRE_PRINTF(5, 6);

/* Says of the file what was said of the expanded text: a vyre_diagnostics' emit, with the expansion as its user. */
void kernel_emit(void *user, const vyre_diagnostic *diagnostic);

/* ---- contract.c ---- */
/* Whether the phases do what phases may, and nothing else; `module` was parsed from the expanded text.  False: what is wrong was
 * said. */
VYRE_MUST_USE vyre_status kernel_check(kernel_expansion *expansion, const vyre_module *module);

/* ---- descriptor.c ---- */
/* Appends the C file of a plugin's phases: a vyre_phases of the name NAME_phases (vyre/phases.h). */
VYRE_MUST_USE vyre_status kernel_write_plugin(const kernel_expansion *expansion, const vyre_module *module, const char *name,
                                              vyre_bytes *out);

#endif
