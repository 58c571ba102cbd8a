/* What the generators of code that computes addresses share: C and PTX.
 *
 * rows.c     facts of rows, and the error that names one
 * writer.c   a program that is written: its text, its first error, columns of facts by row
 * layout.c   where things lie in memory; the order of a dispatch's buffers
 * places.c   paths: where they lead, and the bounds of their indices
 * walks.c    copies and initial images, scalar by scalar
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_COMMON_H
#define VYRE_CODEGEN_COMMON_H

#include "vyre/ir.h"
#include "vyre/run.h"
#include "vyre/view.h"

#include <stdarg.h>

/* ---- rows.c ---- */
/* "program @x, row 7 %v: TEXT", an error of the input. */
vyre_status code_error(const vyre_module *module, uint32_t program, uint32_t row, const char *format, va_list arguments);
/* Refuses a program with rows that only SPIR-V has, by the name of their instruction: "OpImageWrite has no PTX". */
vyre_status code_refuse_opaque(const vyre_module *module, uint32_t program, const char *language);
/* What combining by a subgroup's operation begins with, as bits: add 0, mul 1, and the like. */
uint64_t code_identity(vyre_opcode op, vyre_kind kind);
/* Counts, for each row of a program, the rows up to it that write, have effects, are convergent or begin regions. */
void code_count_writes(const vyre_view *v, uint32_t program, uint32_t end, uint32_t *out);
double code_half_value(uint32_t bits); /* of an f16 that is finite */

static inline vyre_opcode
code_op(const vyre_view *v, uint32_t row)
{
  return (vyre_opcode)VYRE_ROW_OP(v->op[row]);
}

static inline vyre_type
code_row_type(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_TYPE(v->op[row]);
}

/* Whether the right operand is a literal in the row itself. */
static inline bool
code_has_literal(const vyre_view *v, uint32_t row)
{
  return (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* The type of the right operand, be it a row or a literal. */
vyre_type code_right_type(const vyre_view *v, uint32_t row);
/* The lanes of a cluster of a subgroup operation, in subgroups of that many. */
uint32_t code_cluster(const vyre_view *v, uint32_t row, uint32_t subgroup);

/* Where a type lies in memory of the program's own. */
typedef struct code_type {
  uint64_t count, size; /* elements or members; bytes, cut at 2^40 */
  uint32_t align;
} code_type;

#define CODE_UNBOUNDED UINT32_MAX /* as open_descriptors: the number is known when the code runs */

/* A program that is written.  Its generator sets the members above `uses` before it calls anything else. */
typedef struct code_writer {
  const vyre_module *module;
  uint32_t program, end; /* its rows: from program to before end */
  const vyre_view *v;
  const char *task;             /* "while writing C", for messages */
  const vyre_spec_value *specs; /* these and in_bounds are borrowed */
  uint32_t spec_count;
  const uint8_t *in_bounds;  /* by row: not 0 of a buffer or path whose accesses are in bounds; NULL: of none */
  bool all_in_bounds;        /* all accesses are */
  bool has_push;             /* push constants are one of the dispatch's buffers */
  uint32_t open_descriptors; /* how many elements an array of descriptors has whose length is open */

  uint32_t *uses;     /* by row less program: how many rows use it */
  code_type *types;   /* by type id less 256; owned */
  uint32_t *words;    /* columns; owned */
  uint8_t *bytes;     /* columns; owned */
  size_t word_count;  /* of `words` */
  size_t byte_count;  /* of `bytes` */
  vyre_status status; /* the first error; what is written after it is thrown away */
  vyre_bytes *out;    /* where text goes */
} code_writer;

/* ---- writer.c ---- */
/* Resizes memory with the module's allocator.  Records an error if that fails. */
void *code_resize(code_writer *w, void *memory, size_t old_size, size_t new_size);
/* Notes an error at a row, unless there was one; returns false. */
bool code_fail(code_writer *w, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
void code_put(code_writer *w, const char *format, ...) VYRE_PRINTF(2, 3);
void code_put_text(code_writer *w, const char *format, va_list arguments);
void code_put_bytes(code_writer *w, const vyre_bytes *text);
/* Makes columns of zeros with an element for each row of the program, which code_writer_free frees. */
bool code_make_columns(code_writer *w, uint32_t **const *words, size_t word_columns, uint8_t **const *bytes, size_t byte_columns);
void code_writer_free(code_writer *w);
/* A buffer of that space which a row uses. */
bool code_is_in(const code_writer *w, uint32_t row, vyre_space space);

#define CODE_NAME 96u /* bytes of an identifier, its end counted */
/* Makes an identifier of the text: letters, digits and _, with `first` before it if it begins with nothing that `may_begin` allows.
 * Returns whether nothing had to be changed. */
bool code_clean_name(const char *text, const char *first, bool (*may_begin)(char c), char name[CODE_NAME]);
bool code_is_letter(char c);
bool code_is_word(char c); /* a letter, a digit or _ */

/* ---- layout.c ---- */
/* Lays out all types.  Errors: no memory, an array's length that is not constant. */
bool code_lay_out(code_writer *w);

/* The value of a const or spec row under the specialization values; false: it is another one. */
bool code_constant(const code_writer *w, uint32_t row, uint64_t *out);
bool code_right_constant(const code_writer *w, uint32_t row, uint64_t *out); /* of its right operand, be it a row or a literal */

uint64_t code_count_of(const code_writer *w, vyre_type_id type);
uint64_t code_own_size(const code_writer *w, vyre_type_id type);
uint64_t code_own_offset(const code_writer *w, const vyre_type_info *info, uint32_t member);

bool code_is_bound(const code_writer *w, uint32_t buffer);        /* a storage or uniform buffer */
bool code_is_outside(const code_writer *w, uint32_t buffer);      /* given with the dispatch: one of these, or push constants */
bool code_is_overlaid(const code_writer *w, uint32_t buffer);     /* a workgroup block that begins where others do */
bool code_is_own(const code_writer *w, uint32_t buffer);          /* lies as code_type says; else as its type does */
uint64_t code_buffer_size(const code_writer *w, uint32_t buffer); /* of what is overlaid, that of the largest such block */
const vyre_buffer_info *code_buffer_info(const code_writer *w, uint32_t buffer);

/* The k-th of the dispatch's buffers: the first row of its set and binding.  0: there are only k. */
uint32_t code_buffer_row(const vyre_module *module, uint32_t program, bool has_push, uint32_t k);
uint32_t code_slot_of(const code_writer *w, uint32_t buffer);       /* its place among them */
uint64_t code_descriptors(const code_writer *w, vyre_type_id type); /* elements of an array of descriptors */
/* Returns whether the binding of a buffer row has descriptors whose number is known only when the code runs. */
bool code_is_table(const code_writer *w, uint32_t buffer);
/* Returns the number of descriptors of the bindings before that slot; a table counts as one. */
uint32_t code_first_descriptor(const code_writer *w, uint32_t slot);

/* ---- places.c ---- */
#define CODE_MOST_TERMS 64u
typedef struct code_term {
  uint32_t index;  /* a row */
  uint64_t stride; /* bytes; of a descriptor how many descriptors */
  uint64_t bound;  /* index < bound; 0: the runtime array's length */
} code_term;

/* Where a path leads: to fixed + the sum of index * stride over its terms, in bytes from its buffer's start.  A step with a literal
 * adds to a number that is known here; any other is a term, with a bound that the index is held against.  Only what a dispatch
 * brings is measured as a whole, too: its size is known when the code runs. */
typedef struct code_place {
  uint32_t buffer;
  uint32_t access; /* vyre_access bits of the buffer and of the members on the path */
  bool vouched;    /* in bounds, as the caller says */
  vyre_type_id type;
  uint32_t lane_stride;
  uint64_t fixed;
  bool never;                 /* out of bounds, as literals say */
  bool open;                  /* within an element of a runtime array */
  uint64_t head, open_stride; /* where that begins; its stride */
  bool open_literal;          /* its index is open_index, else that of the first term */
  uint64_t open_index;
  uint64_t beyond;  /* most bytes from its element's start to here */
  uint32_t choices; /* steps that choose a descriptor yet */
  bool chosen;      /* there were such steps: the descriptor is choice + the sum over its picks */
  uint64_t choice;
  code_term picks[8], terms[CODE_MOST_TERMS];
  uint32_t pick_count, term_count;
} code_place;

/* Returns false, and notes an error, if the place cannot be known. */
bool code_place_of(code_writer *w, uint32_t path, code_place *out);
/* Returns false, and notes an error, for the length of an array that begins at no fixed place. */
bool code_check_length(code_writer *w, uint32_t row, const code_place *array);
/* Bytes that an access of so many lanes there touches. */
uint64_t code_extent(const code_place *p, uint32_t lanes, vyre_kind kind);
/* What a step from an array or matrix into its k-th part adds for each k; *lane_stride: between the part's lanes. */
uint64_t code_part_stride(const code_writer *w, uint32_t buffer, const vyre_type_info *info, uint32_t *lane_stride);
uint64_t code_member_offset(const code_writer *w, uint32_t buffer, const vyre_type_info *info, uint32_t member);

/* ---- walks.c ---- */
#define CODE_DEEPEST 64u

/* One side of a copy: where the path leads, and what the way from there to the scalar adds. */
typedef struct code_side {
  const code_place *at;
  uint64_t fixed;
  uint32_t lane_stride;
  uint64_t strides[CODE_DEEPEST]; /* by loop */
} code_side;

typedef struct code_copy code_copy;
struct code_copy {
  uint32_t depth; /* loops around */
  code_side to, from;
  void (*put_scalar)(code_copy *c, vyre_kind kind, uint32_t lane);
  void (*begin_loop)(code_copy *c, uint64_t count); /* at `depth`, which is one more inside */
  void (*end_loop)(code_copy *c, uint64_t count);
};

/* Walks what is copied, scalar by scalar: each is in its own bounds, as both sides may lie in memory in ways of their own. */
void code_copy_walk(const code_writer *w, code_copy *c);
/* Returns false, and notes an error, for a copy of arrays of descriptors. */
bool code_check_copy(code_writer *w, uint32_t row, const code_place *to, const code_place *from);

/* The initial words of a buffer, from its initializer.  Words that it does not give are zero. */
typedef struct code_image {
  const uint32_t *words;
  uint32_t count, next;
} code_image;

code_image code_image_of(const code_writer *w, uint32_t buffer);
/* Calls `put` with each scalar and its offset in the program's own memory, in order. */
void code_image_walk(const code_writer *w, code_image *image, vyre_type_id type,
                     void (*put)(void *user, uint64_t offset, vyre_kind kind, uint64_t bits), void *user);
bool code_has_image(const code_writer *w, uint32_t buffer);

#endif
