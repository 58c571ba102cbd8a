/* Internals of the C generator.
 *
 *   survey.c     inlined and named rows, and rows that outlive the loop that defines them
 *   types.c      types and literals; names.c: identifiers
 *   helpers.c    functions that the text calls, written above it on first use; helpers_*.c: their texts
 *   values.c     values as expressions, a lane at a time; integers.c, floats.c, vectors.c: arithmetic
 *   inside.c     workgroups in two parts, the first with fewer checks
 *   places.c     conditions and addresses of locations; memory.c: loads and stores; atomics.c; copies.c
 *   control.c    control flow of one invocation; wide.c: of a whole workgroup; subgroups.c: subgroup operations
 *   declare.c    a function's head: buffers, shared memory, tables
 *   prune.c      removal of unused definitions
 *   write.c      the whole file
 *
 * An invocation is an iteration of a loop.  A program in which invocations wait for each other (at a barrier or a subgroup
 * operation) is cut at these rows.  The rows between two of them, a *segment*, are a loop of their own over the workgroup.
 * Control flow around such a row is *wide*: all invocations pass through it together.  For each invocation, `where` records
 * whether it is active, or the event that it waits for.
 *
 *     segment 1: for (li ...) { rows }      in wide control flow:  for (li ...) { if (g.where[li] != HERE) continue; rows }
 *     barrier
 *     segment 2: for (li ...) { rows }
 *
 * Values that one segment defines and another one uses are arrays in `g`, the workgroup's state.  So are the variables and the
 * private memory of such a program.
 *
 * A C variable holds the bits of a value.  Integers are unsigned whatever their type is, and signed uses cast them.  An f16 is
 * a uint16_t; bool, f32 and f64 are bool, float and double.  A vector is one variable for each lane, v_x to v_w.
 *
 * `status` keeps the first error.  Text written after it is discarded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_C_INTERNAL_H
#define VYRE_CODEGEN_C_INTERNAL_H

#include "common.h"
#include "vyre/c.h"
#include "vyre/ir.h"
#include "vyre/view.h"

#include <string.h>

#define CGEN_HELPERS    192u
#define CGEN_MANY       UINT32_MAX /* as a segment: several segments */
#define CGEN_MOST_STATE (4u << 20) /* bytes of a workgroup's state, which is on the stack */

/* How a row is written. */
typedef enum cgen_form {
  CGEN_UNUSED, /* no text */
  CODE_NAMED,  /* a statement that defines a name */
  CGEN_INLINE, /* an expression in its users */
} cgen_form;

/* The result of a comparison in the first part of a workgroup, where the grid index is below all limits (inside.c). */
enum { CGEN_OPEN, CGEN_TRUE, CGEN_FALSE }; /* CGEN_OPEN: unknown */

/* The start of a part of the text that is removed if its name is unused (prune.c). */
typedef enum cgen_mark_kind {
  CGEN_MARK_LINE,  /* to the end of the line: a definition, declaration or assignment */
  CGEN_MARK_CALL,  /* to the end of the line: a definition by a call, which stays for its side effect */
  CGEN_MARK_BLOCK, /* to the next mark: a function or a table */
  CGEN_MARK_SCOPE, /* starts a scope, without text: names defined after it are new definitions */
} cgen_mark_kind;

typedef struct cgen_mark_at {
  size_t at;
  cgen_mark_kind kind;
} cgen_mark_at;

typedef struct cgen_marks {
  cgen_mark_at *list; /* owned, in text order */
  uint32_t count, capacity;
} cgen_marks;

/* State shared by a file's programs. */
typedef struct cgen_file {
  vyre_bytes helpers;
  cgen_marks helper_marks;
  uint32_t helped[CGEN_HELPERS]; /* by helper: a bit for each kind whose function is written */
} cgen_file;

typedef struct cgen {
  const vyre_module *module;
  const vyre_view *v;
  const vyre_c_options *options;
  code_writer w;
  cgen_file *file;
  uint32_t program, end;    /* the program's rows: from `program` to before `end` */
  uint32_t local[3], count; /* the workgroup's size */
  uint32_t subgroup;
  bool wide;   /* invocations wait for each other, so there are segments */
  bool parks;  /* some invocations wait while others run, so there is `where` */
  bool split;  /* a workgroup has two parts, and `uniform` rows precede them */
  bool inside; /* the first part is being written, where `known` results hold */
  const char *function;

  /* by row - program */
  uint32_t *writes;  /* number of rows so far over which no read may move */
  uint32_t *segment; /* the row's segment */
  uint32_t *seen;    /* the only segment that uses the row, CGEN_MANY if several do, or 0 if none does */
  uint32_t *user;    /* the statement that uses the row, if there is a single use */
  uint8_t *form, *level, *twice;
  uint8_t *is_wide;      /* a row that waits, or a construct that contains one */
  uint8_t *spilled;      /* a row whose value is an array of the state */
  uint8_t *uniform;      /* a row that has the same value for all invocations */
  uint8_t *known;        /* of a comparison: its result inside; of a buffer: whether grid indices are in bounds inside */
  uint8_t *left, *again; /* of a construct: a goto uses the label after it, or before its continuing region */

  /* text */
  vyre_bytes body, state, tables; /* the writer's `out` is one of them */
  cgen_marks marks, table_marks;  /* of body and tables */
  uint64_t state_bytes;
  uint32_t indent;
  uint32_t at_segment; /* the current segment */
  bool jumped;         /* a row of the segment jumps to the segment's end */
  uint32_t faults;
} cgen;

/* ---- write.c ---- */
#define cgen_resize(g, ...) code_resize(&(g)->w, __VA_ARGS__)
#define cgen_fail(g, ...)   code_fail(&(g)->w, __VA_ARGS__)
#define cgen_put(g, ...)    code_put(&(g)->w, __VA_ARGS__)
void cgen_line(cgen *g, const char *format, ...) VYRE_PRINTF(2, 3); /* Writes an indented line. */
void cgen_begin_line(cgen *g);                                      /* Writes the indentation. */
/* Writes a line with a value between two texts. */
void cgen_value_line(cgen *g, const char *before, uint32_t value, uint32_t lane, bool tight, const char *after);
bool cgen_body_has(const cgen *g, const char *word); /* Returns whether a workgroup's text has the word. */
/* Ends a line with the return of a new fault's number and a comment that names the row. */
void cgen_fault(cgen *g, uint32_t row);

/* ---- rows ---- */
#define cgen_op(g, row)          code_op((g)->v, (row))
#define cgen_is(g, row, opcode)  (code_op((g)->v, (row)) == (opcode))
#define cgen_row_type(g, row)    code_row_type((g)->v, (row))
#define cgen_kind(g, row)        VYRE_TYPE_KIND(code_row_type((g)->v, (row)))
#define cgen_lanes(g, row)       ((uint32_t)VYRE_TYPE_LANES(code_row_type((g)->v, (row))))
#define cgen_has_literal(g, row) code_has_literal((g)->v, (row))

static inline cgen_form
cgen_form_of(const cgen *g, uint32_t row)
{
  return (cgen_form)g->form[row - g->program];
}

/* ---- prune.c ---- */
void cgen_mark(cgen *g, cgen_marks *marks, cgen_mark_kind kind); /* adds a mark at the end of the text */
/* Removes the marked parts whose names appear neither in the rest of the text nor in `user`, which may be NULL.  Frees the
 * marks. */
void cgen_prune(cgen *g, vyre_bytes *text, cgen_marks *marks, const vyre_bytes *user);
void cgen_cut(cgen *g, size_t start); /* removes the body's text from `start` on, with its marks */
void cgen_free_marks(cgen *g, cgen_marks *marks);

/* ---- survey.c ---- */
void cgen_survey(cgen *g);
bool cgen_is_wide(const cgen *g, uint32_t row);

/* ---- names.c ---- */
/* Writes a row's identifier, which is unique in the program.  cgen_put_name appends the part and the lane unless they are
 * UINT32_MAX.  Names of spilled rows have `g.` before them and `[li]` after them. */
const char *cgen_name(const cgen *g, uint32_t row, char name[CODE_NAME]);
void cgen_put_name(cgen *g, uint32_t row, uint32_t part, uint32_t lane);
bool cgen_clean_name(const char *text, char name[CODE_NAME]); /* Returns whether the name equals the text. */
bool cgen_is_reserved(const char *name);                      /* Returns whether C, its headers or the text use the name. */

/* ---- types.c ---- */
const char *cgen_type_name(vyre_kind kind); /* "uint32_t" */
vyre_kind cgen_plain(vyre_kind kind);       /* Returns the unsigned kind of an integer kind.  Helpers exist for unsigned kinds. */
const char *cgen_suffix(vyre_kind kind);    /* "u32" */
void cgen_literal(cgen *g, vyre_kind kind, uint64_t bits);
/* Writes a literal of the type that the kind is computed in: float, or double for f16 and f64. */
void cgen_float_literal(cgen *g, vyre_kind kind, uint64_t bits);

/* ---- helpers.c ---- */
/* Writes "vyre_NAME_u32(", a call of a helper.  Adds the helper to the text above on first use. */
void cgen_call(cgen *g, const char *name, vyre_kind kind);
void cgen_need(cgen *g, const char *name, vyre_kind kind);

/* The text of a helper.  $U and $S are the unsigned and signed integers of the kind's width.  $P is the unsigned integer in
 * which the kind is computed, and $M the integer that holds it in memory.  $Y and $X are an unsigned and a signed integer that
 * hold a product.  $N is the width, and $C two to the power of $N - 1.  $T is the type in which the float kind is computed, $f
 * the suffix of its functions and literals, and $R the rounding of a step.  $D and $I convert a float to its bits and back.
 * NAME is the function itself, @name the function of the same kind, and #name_f32 the function of that kind. */
typedef struct cgen_helper {
  const char *name;
  uint8_t kind; /* vyre_kind: the only kind, or VYRE_VOID for any */
  const char *text;
} cgen_helper;
extern const cgen_helper cgen_integer_helpers[], cgen_float_helpers[], cgen_memory_helpers[]; /* end with a NULL name */

/* ---- values.c ---- */
/* Writes one lane of a row.  If `tight`, puts parentheses around all but names and calls. */
void cgen_value(cgen *g, uint32_t row, uint32_t lane, bool tight);
/* Writes the right operand, which is a row or a literal. */
void cgen_right(cgen *g, uint32_t row, uint32_t lane, bool tight);
void cgen_put_lindex(cgen *g); /* Writes the local invocation index. */
/* Writes the statements that define a row's names. */
void cgen_define(cgen *g, uint32_t row);
/* Writes "const float v_x = " or "g.v_x[li] = ". */
void cgen_begin_definition(cgen *g, uint32_t row, vyre_kind kind, uint32_t part, uint32_t lane);

/* ---- integers.c ---- */
bool cgen_integer(cgen *g, uint32_t row, uint32_t lane);
/* Returns whether both sides of the comparison that was written from `start` on have the same text.  Removes the comparison in
 * this case, because compilers warn of it. */
bool cgen_is_twice(cgen *g, size_t start, const char *sign);
/* Writes "k < n", the condition of a `for`. */
void cgen_compare_indices(cgen *g, uint32_t index, uint32_t to, bool is_signed);

/* ---- floats.c ---- */
bool cgen_float(cgen *g, uint32_t row, uint32_t lane);
/* Writes a lane of a float row in the type of the computation: "v", "(double)v", "vyre_value_f16(v)".  `tight` is that of
 * cgen_value. */
void cgen_float_operand(cgen *g, uint32_t row, uint32_t lane, bool tight);
void cgen_open_result(cgen *g, vyre_kind kind, bool from_double); /* Writes "vyre_result_f32(". */
void cgen_convert(cgen *g, uint32_t row, uint32_t lane);
void cgen_pack(cgen *g, uint32_t row, uint32_t lane);

/* ---- vectors.c ---- */
bool cgen_vector(cgen *g, uint32_t row, uint32_t lane);              /* one value, computed from several lanes */
bool cgen_part_of(cgen *g, uint32_t row, uint32_t k, uint32_t lane); /* one part of a row with several results */
uint32_t cgen_parts(const cgen *g, uint32_t row, vyre_type *out_type, uint32_t k);

/* ---- inside.c ---- */
/* Writes the uniform rows and the size of the first part, if a workgroup is written in two parts. */
void cgen_put_inside(cgen *g);

/* ---- places.c ---- */
/* The location of an access by `row`.  A chosen descriptor has a variable with the row's number. */
typedef struct cgen_place {
  code_place at;
  uint32_t row;
  bool second; /* the source of a copy */
} cgen_place;

/* Returns whether the index is the x component of `gid`.  For such an index the text has a size_t variable that does not wrap,
 * so that compilers see consecutive addresses. */
bool cgen_is_grid_index(const cgen *g, uint32_t index);
bool cgen_place_of(cgen *g, uint32_t row, uint32_t path, cgen_place *out);
/* Writes a statement before the access that defines the chosen descriptor, if there is one: `at_` and the row's number. */
void cgen_open_place(cgen *g, const cgen_place *p);
/* Writes "i < 4u && j < 8u".  Returns false if there are no terms. */
bool cgen_put_terms(cgen *g, const cgen_place *p, bool dry);
/* Writes "i < 4u && i < x_n", the condition that `bytes` bytes at the location are in bounds.  Writes nothing if they never
 * are.  Returns false if they always are.  If `dry`, only returns. */
bool cgen_put_bounds(cgen *g, const cgen_place *p, uint64_t bytes, bool dry);
/* Writes "x + 4 * (size_t)i + 8", the address `more` bytes after the location. */
void cgen_put_address(cgen *g, const cgen_place *p, uint64_t more);
void cgen_put_buffer(cgen *g, uint32_t buffer); /* the buffer's start */
void cgen_put_base(cgen *g, const cgen_place *p);
void cgen_put_size(cgen *g, const cgen_place *p);
void cgen_put_offset(cgen *g, const cgen_place *p, uint64_t more);
void cgen_put_open_length(cgen *g, const cgen_place *p); /* length of the runtime array in the location */
void cgen_length(cgen *g, uint32_t row);

/* ---- memory.c, atomics.c, copies.c: statements ---- */
void cgen_load(cgen *g, uint32_t row);
void cgen_store(cgen *g, uint32_t row);
void cgen_atomic(cgen *g, uint32_t row);
void cgen_copy(cgen *g, uint32_t row);
void cgen_fence(cgen *g, uint32_t row);

/* ---- control.c ---- */
void cgen_region(cgen *g, uint32_t region); /* the rows of a region, for one invocation */
void cgen_statement(cgen *g, uint32_t row);

/* ---- wide.c ---- */
void cgen_wide_region(cgen *g, uint32_t region);
void cgen_begin_invocations(cgen *g, bool here); /* Begins "for (uint32_t li ...", over all or the active invocations. */
void cgen_end_invocations(cgen *g);
void cgen_put_state(cgen *g, const char *what, uint32_t row); /* "LEFT_12" */
void cgen_set_state(cgen *g, const char *what, uint32_t row); /* Writes a line that moves the invocation to a state. */

/* ---- subgroups.c ---- */
void cgen_subgroup(cgen *g, uint32_t row);                      /* an operation that waits for other lanes */
bool cgen_subgroup_value(cgen *g, uint32_t row, uint32_t lane); /* an operation on its own lane only */

/* ---- declare.c ---- */
bool cgen_is_alone(const cgen *g, uint32_t buffer); /* Returns whether no other buffer may alias it. */
void cgen_note_buffers(cgen *g);                    /* comment lines that describe the buffers */
void cgen_put_buffers(cgen *g, bool parameters);    /* parameters of the function for groups, or its arguments */
void cgen_declare_outside(cgen *g);                 /* before the loops: sizes that the body uses, and arrays of buffers */
void cgen_declare_shared(cgen *g);                  /* memory of a workgroup */
void cgen_declare_own(cgen *g);                     /* memory and variables of an invocation */
void cgen_declare_state(cgen *g);                   /* fields for spilled rows */
void cgen_put_states(cgen *g);                      /* the enum of the states in `where` */

#endif
