/* C out: inside.
 *
 * survey.c     which rows are written where they are used, which get a name, and which outlive the loop that makes them
 * types.c      types and literals; names.c identifiers
 * helpers.c    functions that the text calls, written above it once they are asked for; helpers_*.c: their texts
 * values.c     values as expressions, a lane at a time; integers.c, floats.c, vectors.c: arithmetic
 * inside.c     workgroups in two parts, of which one has fewer checks
 * places.c     places as conditions and addresses; memory.c loads and stores; atomics.c; copies.c
 * control.c    control of one invocation; wide.c control of a workgroup together; subgroups.c what lanes do together
 * declare.c    a function's head: buffers, shared memory, tables
 * write.c      the whole
 *
 * An invocation is an iteration of a loop.  A program in which invocations wait for each other (at a barrier, in a subgroup
 * operation) is cut there: the rows between two such places, a *segment*, are a loop of their own over the workgroup.  Control
 * around such a place is *wide*: all invocations go through it together, and `where` says of each whether it is here, or for what
 * it waits.
 *
 *     segment 1: for (li ...) { rows }      if its control is wide:  for (li ...) { if (g.where[li] != HERE) continue; rows }
 *     barrier
 *     segment 2: for (li ...) { rows }
 *
 * Values that one segment makes and another reads are arrays of `g`, the workgroup's state, as are variables and private memory of
 * such a program.
 *
 * A value stands in C as its bits: integers are unsigned whatever they are in the program (what reads them as signed casts), an f16
 * is a uint16_t; bool, f32 and f64 are bool, float and double.  A vector is as many scalars, v_x to v_w.
 *
 * Errors: the first one is kept in `status`; what is written after it is thrown away.
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
#define CGEN_MANY       UINT32_MAX /* as a segment: more than one */
#define CGEN_MOST_STATE (4u << 20) /* bytes of a workgroup's state: it stands on the stack */

/* How a row is written. */
typedef enum cgen_form {
  CGEN_UNUSED, /* not at all */
  CODE_NAMED,  /* a statement that defines a name */
  CGEN_INLINE, /* an expression in its user */
} cgen_form;

/* What is known of a comparison in the part of a workgroup that is inside. */
enum { CGEN_OPEN, CGEN_TRUE, CGEN_FALSE };

/* Where a text has a part that is removed if nothing uses its name (prune.c). */
typedef enum cgen_mark_kind {
  CGEN_MARK_LINE,  /* to the end of the line: a definition, a declaration or an assignment */
  CGEN_MARK_CALL,  /* the same with an effect that stays */
  CGEN_MARK_BLOCK, /* to the next mark: a function or a table */
  CGEN_MARK_SCOPE, /* no part: names are defined anew from there on */
} cgen_mark_kind;

typedef struct cgen_mark_at {
  size_t at;
  cgen_mark_kind kind;
} cgen_mark_at;

typedef struct cgen_marks {
  cgen_mark_at *list; /* owned, in the order of the text */
  uint32_t count, capacity;
} cgen_marks;

/* What a file's programs share. */
typedef struct cgen_file {
  vyre_bytes helpers;
  cgen_marks helper_marks;
  uint32_t helped[CGEN_HELPERS]; /* by helper: a bit for each kind that it was written for */
} cgen_file;

typedef struct cgen {
  const vyre_module *module;
  const vyre_view *v;
  const vyre_c_options *options;
  code_writer w;
  cgen_file *file;
  uint32_t program, end;    /* its rows: from program to before end */
  uint32_t local[3], count; /* the workgroup's size */
  uint32_t subgroup;
  bool wide;   /* invocations wait for each other: there are segments */
  bool parks;  /* some wait while others go on: there is `where` */
  bool split;  /* a workgroup has two parts: what is `uniform` stands above them */
  bool inside; /* the first part is being written: there is no doubt of what is `known` */
  const char *function;

  /* by row less program */
  uint32_t *writes;  /* rows so far that a read may not be moved over */
  uint32_t *segment; /* that it stands in */
  uint32_t *seen;    /* the segment where its text stands, CGEN_MANY, or 0 */
  uint32_t *user;    /* of a single use: the statement where it ends up */
  uint8_t *form, *level, *twice;
  uint8_t *is_wide;      /* a construct with a waiting row in it, or such a row */
  uint8_t *spilled;      /* an array of the state */
  uint8_t *uniform;      /* the same for all invocations */
  uint8_t *known;        /* of a comparison how it comes out inside; of a buffer whether the place in the grid is in bounds there */
  uint8_t *left, *again; /* constructs: some jump goes to the label after it, or to its continuing region */

  /* text */
  vyre_bytes body, state, tables; /* one of these is the writer's `out` */
  cgen_marks marks, table_marks;  /* of body and tables */
  uint64_t state_bytes;
  uint32_t indent;
  uint32_t at_segment; /* being written */
  bool jumped;         /* some row of it goes to the segment's end */
  uint32_t faults;
} cgen;

/* ---- write.c ---- */
#define cgen_resize(g, ...) code_resize(&(g)->w, __VA_ARGS__)
#define cgen_fail(g, ...)   code_fail(&(g)->w, __VA_ARGS__)
#define cgen_put(g, ...)    code_put(&(g)->w, __VA_ARGS__)
void cgen_line(cgen *g, const char *format, ...) VYRE_PRINTF(2, 3); /* indented, with its end */
void cgen_begin_line(cgen *g);                                      /* indentation */
/* A line with a value between two texts. */
void cgen_value_line(cgen *g, const char *before, uint32_t value, uint32_t lane, bool tight, const char *after);
bool cgen_body_has(const cgen *g, const char *word); /* whether it stands in what is written of a workgroup */
/* A new fault: returns its number.  A comment is put at the end of the line. */
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
void cgen_mark(cgen *g, cgen_marks *marks, cgen_mark_kind kind); /* at the end of what is written */
/* Removes the marked parts whose names neither the rest of the text nor `user`, if it is not NULL, mentions; frees the marks. */
void cgen_prune(cgen *g, vyre_bytes *text, cgen_marks *marks, const vyre_bytes *user);
void cgen_cut(cgen *g, size_t start); /* takes the body's text from there on back, with its marks */
void cgen_free_marks(cgen *g, cgen_marks *marks);

/* ---- survey.c ---- */
void cgen_survey(cgen *g);
bool cgen_is_wide(const cgen *g, uint32_t row);

/* ---- names.c ---- */
/* A row's identifier, which no other row of the program has; for lane UINT32_MAX without a lane's ending, part UINT32_MAX without a
 * part's.  As it is read: with `g.` and `[li]` where it is spilled. */
const char *cgen_name(const cgen *g, uint32_t row, char name[CODE_NAME]);
void cgen_put_name(cgen *g, uint32_t row, uint32_t part, uint32_t lane);
bool cgen_clean_name(const char *text, char name[CODE_NAME]); /* whether nothing had to be changed */
bool cgen_is_reserved(const char *name);                      /* C, its headers or the text have a use for it */

/* ---- types.c ---- */
const char *cgen_type_name(vyre_kind kind); /* "uint32_t" */
vyre_kind cgen_plain(vyre_kind kind);       /* unsigned for an integer: what helper functions are for */
const char *cgen_suffix(vyre_kind kind);    /* "u32" */
void cgen_literal(cgen *g, vyre_kind kind, uint64_t bits);
/* What a float is computed with: the value as a float or, of an f16 or f64, a double. */
void cgen_float_literal(cgen *g, vyre_kind kind, uint64_t bits);

/* ---- helpers.c ---- */
/* "vyre_NAME_u32(" of a function that is written above once it is asked for. */
void cgen_call(cgen *g, const char *name, vyre_kind kind);
void cgen_need(cgen *g, const char *name, vyre_kind kind);

/* A text has $U for the unsigned integer of the kind's width, $S the signed one, $P that which it is computed in, $X and $Y the
 * signed and unsigned ones twice as wide, $N the width; $T for the type that the float kind is computed in, $f for the ending of
 * its functions and literals, $R for the rounding of a step; $K for the kind's suffix; @name for the function of that name. */
typedef struct cgen_helper {
  const char *name;
  uint8_t kind; /* vyre_kind: its only one, or VYRE_VOID: one for each that it is asked for */
  const char *text;
} cgen_helper;
extern const cgen_helper cgen_integer_helpers[], cgen_float_helpers[], cgen_memory_helpers[]; /* to a NULL name */

/* ---- values.c ---- */
/* One lane of a row, in parentheses where it is more than a name or a call and `tight`. */
void cgen_value(cgen *g, uint32_t row, uint32_t lane, bool tight);
/* The right operand, be it a row or a literal. */
void cgen_right(cgen *g, uint32_t row, uint32_t lane, bool tight);
void cgen_put_lindex(cgen *g); /* the invocation's number in its workgroup */
/* A row that is a statement: defines its name. */
void cgen_define(cgen *g, uint32_t row);
/* "const float v_x = ", or "g.v_x[li] = ". */
void cgen_begin_definition(cgen *g, uint32_t row, vyre_kind kind, uint32_t part, uint32_t lane);

/* ---- integers.c ---- */
bool cgen_integer(cgen *g, uint32_t row, uint32_t lane);
/* Whether the same text stands on both sides of what was written from `start` on, a comparison; then it is taken back: compilers
 * warn of what compares itself. */
bool cgen_is_twice(cgen *g, size_t start, const char *sign);
/* "k < n", of a loop. */
void cgen_compare_indices(cgen *g, uint32_t index, uint32_t to, bool is_signed);

/* ---- floats.c ---- */
bool cgen_float(cgen *g, uint32_t row, uint32_t lane);
/* A lane of a float row as what is computed with: "v", "(double)v", "vyre_value_f16(v)". */
void cgen_float_operand(cgen *g, uint32_t row, uint32_t lane, bool tight);
void cgen_open_result(cgen *g, vyre_kind kind, bool from_double); /* "vyre_result_f32(" */
void cgen_convert(cgen *g, uint32_t row, uint32_t lane);
void cgen_pack(cgen *g, uint32_t row, uint32_t lane);

/* ---- vectors.c ---- */
bool cgen_vector(cgen *g, uint32_t row, uint32_t lane);              /* one value, of several lanes */
bool cgen_part_of(cgen *g, uint32_t row, uint32_t k, uint32_t lane); /* a part of a row with several results */
uint32_t cgen_parts(const cgen *g, uint32_t row, vyre_type *out_type, uint32_t k);

/* ---- inside.c ---- */
/* Whether a workgroup is written in two parts: then what stands above them is. */
void cgen_put_inside(cgen *g);

/* ---- places.c ---- */
/* Where a path leads, of the row that accesses it: what is chosen of an array of descriptors is called by its number. */
typedef struct cgen_place {
  code_place at;
  uint32_t row;
  bool second; /* of a copy: where it comes from */
} cgen_place;

/* Whether the index is the invocation's place in the grid along x, which the text has as a size_t that does not wrap, too: what is
 * taken by it is side by side for all a compiler sees. */
bool cgen_is_grid_index(const cgen *g, uint32_t index);
bool cgen_place_of(cgen *g, uint32_t row, uint32_t path, cgen_place *out);
/* A statement in front of the access, where a descriptor is chosen: defines `at_` and the row's number. */
void cgen_open_place(cgen *g, const cgen_place *p);
bool cgen_put_terms(cgen *g, const cgen_place *p, bool dry); /* "i < 4u && j < 8u"; false: there are none */
/* "i < 4u && i < x_n": whether `bytes` bytes there are in bounds; of what never is, nothing.  False: it always is.  dry: is only
 * asked. */
bool cgen_put_bounds(cgen *g, const cgen_place *p, uint64_t bytes, bool dry);
/* "x + 4 * (size_t)i + 8", so many bytes on. */
void cgen_put_address(cgen *g, const cgen_place *p, uint64_t more);
void cgen_put_buffer(cgen *g, uint32_t buffer); /* what it begins at */
void cgen_put_base(cgen *g, const cgen_place *p);
void cgen_put_size(cgen *g, const cgen_place *p);
void cgen_put_offset(cgen *g, const cgen_place *p, uint64_t more);
void cgen_put_open_length(cgen *g, const cgen_place *p); /* of the runtime array in it */
void cgen_length(cgen *g, uint32_t row);

/* ---- memory.c, atomics.c, copies.c: statements ---- */
void cgen_load(cgen *g, uint32_t row);
void cgen_store(cgen *g, uint32_t row);
void cgen_atomic(cgen *g, uint32_t row);
void cgen_copy(cgen *g, uint32_t row);
void cgen_fence(cgen *g, uint32_t row);

/* ---- control.c ---- */
void cgen_region(cgen *g, uint32_t region); /* the rows in it, of one invocation */
void cgen_statement(cgen *g, uint32_t row);

/* ---- wide.c ---- */
void cgen_wide_region(cgen *g, uint32_t region);
void cgen_begin_invocations(cgen *g, bool here); /* "for (uint32_t li ..." over all, or those that are here */
void cgen_end_invocations(cgen *g);
void cgen_put_state(cgen *g, const char *what, uint32_t row); /* "LEFT_12" */
void cgen_set_state(cgen *g, const char *what, uint32_t row); /* a line: the invocation is there from now on */

/* ---- subgroups.c ---- */
void cgen_subgroup(cgen *g, uint32_t row);                      /* a waiting one */
bool cgen_subgroup_value(cgen *g, uint32_t row, uint32_t lane); /* one that looks at its own lane alone */

/* ---- declare.c ---- */
bool cgen_is_alone(const cgen *g, uint32_t buffer); /* no other one of the program may be the same memory */
void cgen_note_buffers(cgen *g);                    /* lines of a comment: which they are */
void cgen_put_buffers(cgen *g, bool parameters);    /* the pointers that a function for groups is given; else as they are given */
void cgen_declare_outside(cgen *g);                 /* the sizes that the body asks for, and arrays of buffers */
void cgen_declare_shared(cgen *g);                  /* of a workgroup */
void cgen_declare_own(cgen *g);                     /* of an invocation */
void cgen_declare_state(cgen *g);                   /* fields for what is spilled */
void cgen_put_states(cgen *g);                      /* the numbers of what `where` says */

#endif
