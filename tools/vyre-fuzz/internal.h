/* The internals of the generator: its state, and the values that are visible at its position.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FUZZ_INTERNAL_H
#define VYRE_FUZZ_INTERNAL_H

#include "vyre/ir.h"

#define MAX_POOL 4096u
#define MAX_VARS 6u

typedef struct generator {
  uint64_t random;
  vyre_module *m;
  const vyre_view *v;
  vyre_builder b;
  bool wide;    /* all types and ops */
  bool tame;    /* no undefined behavior */
  bool unset;   /* the private array is unset memory */
  bool inexact; /* a float mode flushes or does not round to nearest even */
  vyre_row out, in, wide_out, shared, uniform, blocks, lone, push, table, records, private_array, workgroup_array, workgroup_tile;
  vyre_row words[VYRE_KIND__COUNT]; /* workgroup arrays for atomics, by kind; 0 if not made yet */
  vyre_row base, vars[MAX_VARS];
  vyre_row pool[MAX_POOL];
  uint32_t count;  /* values in the pool */
  uint32_t budget; /* statements left */
  uint32_t depth;
  bool in_loop, in_continuing;
  vyre_row block; /* innermost block or switch that a jump may leave, or 0 */
  uint32_t stored;
  uint32_t twist; /* number of values after which one is replaced by another, or 0 */
  bool extreme;   /* each float operand has an extreme exponent */
} generator;

#define U32   VYRE_TYPE(VYRE_U32, 1)
#define I32   VYRE_TYPE(VYRE_I32, 1)
#define F32   VYRE_TYPE(VYRE_F32, 1)
#define BOOL  VYRE_TYPE(VYRE_BOOL, 1)
#define TUPLE VYRE_TYPE(VYRE_TUPLE, 1)

static inline vyre_type
type_of(const generator *g, vyre_row of)
{
  return VYRE_ROW_TYPE(g->v->op[of.id]);
}

/* values.c */
uint32_t below(generator *g, uint32_t n);
vyre_kind random_kind(generator *g);
vyre_type random_type(generator *g);
bool class_kind(generator *g, vyre_class klass, vyre_kind *out);
vyre_row keep(generator *g, vyre_row row);    /* adds the row to the pool */
vyre_row value(generator *g, vyre_type type); /* a row of the pool, one made of it, or a constant */
vyre_row made_of(generator *g, vyre_type type, vyre_row from);
vyre_row index_below(generator *g, uint32_t n); /* a u32; less than n in tame programs */
vyre_row row(generator *g, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b, vyre_row c);
vyre_row copy_of(generator *g, uint32_t from);
void add_expression(generator *g);      /* adds a random expression, and keeps it */
vyre_row float_operation(generator *g); /* a random operation whose operands are floats of one type */

/* functions.c */
vyre_row vector_expression(generator *g);
vyre_row tuple_expression(generator *g);
vyre_row matrix_expression(generator *g);
vyre_row float_expression(generator *g);
vyre_row bits_expression(generator *g);
vyre_row invocation_expression(generator *g);
vyre_row subgroup_expression(generator *g);

/* patterns.c */
void add_pattern(generator *g); /* adds a random shape that passes search for */
vyre_row u32(generator *g, uint32_t bits);
vyre_row begin_if(generator *g, vyre_row condition); /* the next rows are in the first arm, up to vyre_builder_leave */
void begin_else(generator *g, vyre_row control);
vyre_row begin_for(generator *g, uint32_t iterations);
vyre_row path(generator *g, vyre_row buffer, vyre_row index);
vyre_row private_words(generator *g); /* four words of private memory */

/* program.c */
void statements(generator *g, uint32_t count);

/* lanes.c: communication of the workgroup's lanes; only at the top level of the program */
void communicate(generator *g);

/* deep.c: generates constructs that are nested RANDOM_DEPTH deep */
void deep_nest(generator *g);
void mark_path(generator *g, vyre_row path, uint32_t step); /* adds the step to a hash of the lane's path, a variable */

/* jumps.c: generates constructs with many jumps.  Without `may_return` every lane reaches the rows after them. */
void jump_around(generator *g, bool may_return);

/* layouts.c: generates accesses to a struct in storage, and to a copy of constant memory */
void access_layouts(generator *g);
void load_from_copy(generator *g);

/* extremes.c */
vyre_row extreme_value(generator *g, vyre_type type); /* a constant, or a word of `in` (run.c) */
void extreme_operations(generator *g);

/* places.c: generate more patterns */
void access_two_elements(generator *g);
void use_seldom_bound(generator *g);
void load_never_written(generator *g);
void index_beyond(generator *g);

/* memory.c */
vyre_row workgroup_words(generator *g, vyre_type type, uint32_t count); /* an array, mostly zero in tame programs */
/* Returns the invocation's own word of an element of `blocks`. */
vyre_row own_block_word(generator *g, uint32_t element, uint32_t index);
void declare_memory(generator *g);
void set_private_array(generator *g);          /* stores each element if it is unset, often 0, which differs from an initial zero */
void access_memory(generator *g);              /* adds a random access */
void exchange_words(generator *g);             /* exchanges words of workgroup memory by barriers; only in uniform control flow */
vyre_row word_of(generator *g, vyre_row from); /* the value, or one of its lanes, as u32 */
/* Stores to the invocation's own element of `out`. */
void store_out(generator *g, vyre_row from);

#endif
