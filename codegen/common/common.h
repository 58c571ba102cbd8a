/* Shared by the generators of code that computes addresses, C and PTX.
 *
 *   rows.c     facts of rows, and errors that name a row
 *   writer.c   the program being written: its text, its first error, columns of facts by row
 *   layout.c   offsets and sizes in memory; the order of a dispatch's buffers
 *   places.c   resolved paths, and the bounds of their indices
 *   walks.c    copies and initial images, scalar by scalar
 *   vectors.c  functions on vectors and matrices, operation by operation
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_COMMON_H
#define VYRE_CODEGEN_COMMON_H

#include "vyre/ir.h"
#include "vyre/run.h"
#include "vyre/view.h"

#include <stdarg.h>

/* ---- rows.c ---- */
/* Returns an error of the input, with the text "program @x, row 7 %v: TEXT". */
vyre_status code_error(const vyre_module *module, uint32_t program, uint32_t row, const char *format, va_list arguments);
/* Returns an error if the program has rows that only SPIR-V can express.  The error names the instruction: "OpImageWrite
 * cannot be written as PTX". */
vyre_status code_refuse_opaque(const vyre_module *module, uint32_t program, const char *language);
/* Returns the identity of a subgroup operation as bits: 0 for add, 1 for mul, and the like. */
uint64_t code_identity(vyre_opcode op, vyre_kind kind);
/* Counts, for each row of a program, the rows up to it that write, have effects, are convergent or begin regions. */
void code_count_writes(const vyre_view *v, uint32_t program, uint32_t end, uint32_t *out);
double code_half_value(uint32_t bits); /* value of a finite f16 */

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

/* Returns whether the right operand is a literal in the row itself. */
static inline bool
code_has_literal(const vyre_view *v, uint32_t row)
{
  return (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* Returns the type of the right operand, which is a row or a literal. */
vyre_type code_right_type(const vyre_view *v, uint32_t row);
/* Returns the lanes of a subgroup operation's cluster, if a subgroup has `subgroup` lanes. */
uint32_t code_cluster(const vyre_view *v, uint32_t row, uint32_t subgroup);

/* The layout of a type in the program's own memory. */
typedef struct code_type {
  uint64_t count, size; /* elements or members; bytes, at most 2^40 */
  uint32_t align;
} code_type;

#define CODE_UNBOUNDED UINT32_MAX /* value of open_descriptors: the number is known only at run time */

/* A program being written.  Its generator sets the members above `uses` before any call. */
typedef struct code_writer {
  const vyre_module *module;
  uint32_t program, end; /* its rows: from `program` to before `end` */
  const vyre_view *v;
  const char *task;             /* context of error messages: "while writing C" */
  const vyre_spec_value *specs; /* borrowed, as is in_bounds */
  uint32_t spec_count;
  const uint8_t *in_bounds;  /* by row: nonzero for a buffer or path whose accesses are in bounds; may be NULL */
  bool all_in_bounds;        /* all accesses are in bounds */
  bool has_push;             /* push constants are one of the dispatch's buffers */
  uint32_t open_descriptors; /* elements of an array of descriptors of open length */

  uint32_t *uses;     /* by row - program: the number of uses */
  code_type *types;   /* by type id - 256; owned */
  uint32_t *words;    /* memory of columns; owned */
  uint8_t *bytes;     /* memory of columns; owned */
  size_t word_count;  /* of `words` */
  size_t byte_count;  /* of `bytes` */
  vyre_status status; /* the first error; text written after it is discarded */
  vyre_bytes *out;    /* destination of the text */
} code_writer;

/* ---- writer.c ---- */
/* Resizes memory with the module's allocator.  Records an error if the allocation fails. */
void *code_resize(code_writer *w, void *memory, size_t old_size, size_t new_size);
/* Records an error at a row, unless there is one already.  Returns false. */
bool code_fail(code_writer *w, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
void code_put(code_writer *w, const char *format, ...) VYRE_PRINTF(2, 3);
void code_put_text(code_writer *w, const char *format, va_list arguments);
void code_put_bytes(code_writer *w, const vyre_bytes *text);
/* Makes zeroed columns with an element for each row of the program.  code_writer_free frees them. */
bool code_make_columns(code_writer *w, uint32_t **const *words, size_t word_columns, uint8_t **const *bytes, size_t byte_columns);
void code_writer_free(code_writer *w);
/* Returns whether the row is a used buffer of that space. */
bool code_is_in(const code_writer *w, uint32_t row, vyre_space space);

#define CODE_NAME 96u /* bytes of an identifier, with its NUL */
/* Makes an identifier of the text from letters, digits and _.  Puts `first` before a text whose first character `may_begin`
 * rejects.  Returns whether the identifier equals the text. */
bool code_clean_name(const char *text, const char *first, bool (*may_begin)(char c), char name[CODE_NAME]);
bool code_is_letter(char c);
bool code_is_word(char c); /* a letter, a digit or _ */

/* ---- layout.c ---- */
/* Lays out all types.  Errors: out of memory, or an array's length is not constant. */
bool code_lay_out(code_writer *w);

/* Stores the value of a const or spec row under the specialization values.  Returns false for other rows. */
bool code_constant(const code_writer *w, uint32_t row, uint64_t *out);
bool code_right_constant(const code_writer *w, uint32_t row, uint64_t *out); /* the same for its right operand */

uint64_t code_count_of(const code_writer *w, vyre_type_id type);
uint64_t code_own_size(const code_writer *w, vyre_type_id type);
uint64_t code_own_offset(const code_writer *w, const vyre_type_info *info, uint32_t member);

bool code_is_bound(const code_writer *w, uint32_t buffer);        /* a storage or uniform buffer */
bool code_is_outside(const code_writer *w, uint32_t buffer);      /* a buffer of the dispatch: bound, or push constants */
bool code_is_overlaid(const code_writer *w, uint32_t buffer);     /* a workgroup block that shares its start with others */
bool code_is_own(const code_writer *w, uint32_t buffer);          /* has the layout of code_type, not of its type */
uint64_t code_buffer_size(const code_writer *w, uint32_t buffer); /* for overlaid blocks, the size of the largest */
const vyre_buffer_info *code_buffer_info(const code_writer *w, uint32_t buffer);

/* Returns the first row of the set and binding of the dispatch's k-th buffer.  Returns 0 if the dispatch has at most k buffers. */
uint32_t code_buffer_row(const vyre_module *module, uint32_t program, bool has_push, uint32_t k);
uint32_t code_slot_of(const code_writer *w, uint32_t buffer);       /* Returns the k of code_buffer_row for a buffer. */
uint64_t code_descriptors(const code_writer *w, vyre_type_id type); /* Returns the elements of an array of descriptors. */
/* Returns whether the binding of a buffer row has descriptors whose number is known only at run time. */
bool code_is_table(const code_writer *w, uint32_t buffer);
/* Returns the number of descriptors of the bindings before `slot`.  A table counts as one descriptor. */
uint32_t code_first_descriptor(const code_writer *w, uint32_t slot);

/* ---- places.c ---- */
#define CODE_MOST_TERMS 64u
typedef struct code_term {
  uint32_t index;  /* a row */
  uint64_t stride; /* bytes; for a pick: descriptors */
  uint64_t bound;  /* index < bound; 0 stands for the runtime array's length */
} code_term;

/* The location of a path: fixed + the sum of index * stride over its terms, in bytes from its buffer's start.  A step with a
 * literal index is added to `fixed`.  Any other step is a term, whose index is compared with its bound.  A buffer of the
 * dispatch has a size that is known only at run time, so the end of an access is compared with that size too. */
typedef struct code_place {
  uint32_t buffer;
  uint32_t access; /* vyre_access bits of the buffer and of the members on the path */
  bool vouched;    /* the caller guarantees that the location is in bounds */
  vyre_type_id type;
  uint32_t lane_stride;
  uint64_t fixed;
  bool never;                 /* a literal index is out of bounds */
  bool open;                  /* within an element of a runtime array */
  uint64_t head, open_stride; /* offset and stride of that array */
  bool open_literal;          /* the array's index is open_index; otherwise it is that of the first term */
  uint64_t open_index;
  uint64_t beyond;  /* most bytes from the start of that element to the location */
  uint32_t choices; /* steps left that choose a descriptor */
  bool chosen;      /* a descriptor was chosen: choice + the sum over its picks */
  uint64_t choice;
  code_term picks[8], terms[CODE_MOST_TERMS];
  uint32_t pick_count, term_count;
} code_place;

/* Returns false and records an error if the path cannot be resolved. */
bool code_place_of(code_writer *w, uint32_t path, code_place *out);
/* Returns false and records an error for the length of an array at a dynamic offset. */
bool code_check_length(code_writer *w, uint32_t row, const code_place *array);
/* Returns the bytes that an access of `lanes` lanes spans. */
uint64_t code_extent(const code_place *p, uint32_t lanes, vyre_kind kind);
/* Returns the stride between the parts of an array or matrix.  Stores the stride between the lanes of a part. */
uint64_t code_part_stride(const code_writer *w, uint32_t buffer, const vyre_type_info *info, uint32_t *lane_stride);
uint64_t code_member_offset(const code_writer *w, uint32_t buffer, const vyre_type_info *info, uint32_t member);

/* ---- walks.c ---- */
#define CODE_DEEPEST 64u

/* One side of a copy: its location, and the offset from there to the current scalar. */
typedef struct code_side {
  const code_place *at;
  uint64_t fixed;
  uint32_t lane_stride;
  uint64_t strides[CODE_DEEPEST]; /* by enclosing loop */
} code_side;

typedef struct code_copy code_copy;
struct code_copy {
  uint32_t depth; /* enclosing loops */
  code_side to, from;
  void (*put_scalar)(code_copy *c, vyre_kind kind, uint32_t lane);
  void (*begin_loop)(code_copy *c, uint64_t count); /* `depth` is the loop's number, counted from outside */
  void (*end_loop)(code_copy *c, uint64_t count);
};

/* Calls the functions for each copied scalar.  Scalars are checked one by one, because the layouts of both sides may differ. */
void code_copy_walk(const code_writer *w, code_copy *c);
/* Returns false and records an error for a copy of arrays of descriptors. */
bool code_check_copy(code_writer *w, uint32_t row, const code_place *to, const code_place *from);

/* The initial words of a buffer, from its initializer.  Missing words are zero. */
typedef struct code_image {
  const uint32_t *words;
  uint32_t count, next;
} code_image;

code_image code_image_of(const code_writer *w, uint32_t buffer);
/* Calls `put` with each scalar and its offset in the program's own memory, in order. */
void code_image_walk(const code_writer *w, code_image *image, vyre_type_id type,
                     void (*put)(void *user, uint64_t offset, vyre_kind kind, uint64_t bits), void *user);
bool code_has_image(const code_writer *w, uint32_t buffer);

/* ---- vectors.c ---- */
/* A value of the generator: a register or a literal. */
typedef struct code_number {
  uint64_t words[2];
} code_number;

/* The operations on one lane of a kind, each rounded to the kind. */
typedef struct code_math {
  void *user;
  vyre_kind kind;
  code_number (*binary)(void *user, vyre_kind kind, vyre_opcode op, code_number a, code_number b); /* add, sub, mul or fdiv */
  code_number (*unary)(void *user, vyre_kind kind, vyre_opcode op, code_number a);                 /* neg, fabs or sqrt */
  code_number (*is_less)(void *user, vyre_kind kind, code_number a, code_number b);
  code_number (*choose)(void *user, vyre_kind kind, code_number condition, code_number yes, code_number no);
  code_number (*literal)(void *user, vyre_kind kind, double value);
} code_math;

typedef struct code_matrix {
  uint32_t columns, rows;
  code_number at[4][4]; /* column, row */
} code_matrix;

/* Computes dot to refract.  `lanes` are those of operand a. */
void code_vector_op(const code_math *m, vyre_opcode op, uint32_t lanes, const code_number a[4], const code_number b[4],
                    const code_number c[4], code_number out[4]);
/* Computes matvec to inverse, except transpose and outer.  A vector or scalar result is the first column. */
void code_matrix_op(const code_math *m, vyre_opcode op, const code_matrix *x, const code_number v[4], const code_matrix *other,
                    code_matrix *out);

#endif
