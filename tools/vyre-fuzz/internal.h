/* What the generator's files share: its state, and values that are visible at its position.
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
  bool wide;    /* all types */
  bool tame;    /* nothing undefined runs */
  bool unset;   /* the private array has no value until it is stored */
  bool inexact; /* a float mode flushes, or rounds another way */
  vyre_row out, in, wide_out, shared, uniform, blocks, lone, push, table, records, private_array, workgroup_array, workgroup_tile;
  vyre_row words[VYRE_KIND__COUNT]; /* workgroup arrays for atomics, by kind; 0: not made yet */
  vyre_row base, vars[MAX_VARS];
  vyre_row pool[MAX_POOL];
  uint32_t count;  /* of the pool */
  uint32_t budget; /* statements left */
  uint32_t depth;
  bool in_loop, in_continuing;
  vyre_row block; /* innermost block or switch to leave; 0: none */
  uint32_t stored;
  uint32_t twist; /* so many values on, one is another; 0: none */
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
vyre_row keep(generator *g, vyre_row row);    /* into the pool */
vyre_row value(generator *g, vyre_type type); /* of the pool, or made of that, or a constant */
vyre_row made_of(generator *g, vyre_type type, vyre_row from);
vyre_row index_below(generator *g, uint32_t n); /* a u32; of tame programs less than n */
vyre_row row(generator *g, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b, vyre_row c);
vyre_row copy_of(generator *g, uint32_t from);
void expression(generator *g);          /* any, kept */
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
void pattern(generator *g); /* any shape that passes look for */
vyre_row u32(generator *g, uint32_t bits);
vyre_row begin_if(generator *g, vyre_row condition); /* rows made next are in it, up to vyre_builder_leave */
void begin_else(generator *g, vyre_row control);
vyre_row begin_for(generator *g, uint32_t iterations);
vyre_row path(generator *g, vyre_row buffer, vyre_row index);
vyre_row private_words(generator *g); /* four */

/* program.c */
void statements(generator *g, uint32_t count);

/* lanes.c: communication of the workgroup's lanes; only at the program's top */
void communicate(generator *g);

/* deep.c: constructs nested RANDOM_DEPTH deep */
void deep_nest(generator *g);

/* layouts.c: accesses to a struct in storage */
void access_layouts(generator *g);

/* extremes.c */
vyre_row extreme_value(generator *g, vyre_type type); /* a constant, or a word of `in` (run.c) */
void extreme_operations(generator *g);

/* places.c: patterns, too */
void two_elements(generator *g);
void seldom_bound(generator *g);
void never_written(generator *g);
void beyond(generator *g);

/* memory.c */
vyre_row workgroup_words(generator *g, vyre_type type, uint32_t count);  /* an array; of tame programs mostly one that is zero */
vyre_row own_block_word(generator *g, uint32_t element, uint32_t index); /* the invocation's own, of an element of `blocks` */
void declare_memory(generator *g);
void set_private_array(generator *g); /* where it is unset: each element, often to zero, which a pass may not take for its start */
void memory(generator *g);            /* any access */
void meet(generator *g);              /* a barrier with what others wrote; where all invocations come */
vyre_row word_of(generator *g, vyre_row from); /* the value, or one of its lanes, as u32 */
/* To an element of `out` that is the invocation's own. */
void store_out(generator *g, vyre_row from);

#endif
