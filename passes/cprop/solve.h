/* What each row and join is, where that is one literal or another row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_SOLVE_H
#define VYRE_PASSES_CPROP_SOLVE_H

#include "../state/list.h"
#include "../state/memory.h"

typedef struct solve_literal {
  uint64_t lanes[4];
  vyre_type type;
} solve_literal;

/* A value: 0 not known to be executed; a row (itself, or the one whose value it has); from `rows` on a join, which has no row; from
 * `literals` on a literal. */
typedef struct solution {
  vyre_pass_ctx *ctx;
  vyre_module *module;
  const vyre_view *v;
  const memory *m;
  uint32_t rows;     /* first value that is a join */
  uint32_t literals; /* first value that is a literal */
  uint32_t *value;   /* by row, and by join after them */
  uint8_t *changes;  /* by join of a loop's head: how often its value was another one */
  uint32_t *joins;   /* by construct and head: the first of its joins; 0: none */
  uint8_t *taken;    /* by region: its end is reached; by jump: it is; by construct: the rows after it are */
  list literal;
  uint32_t *slots; /* hash table over literals */
  uint32_t slot_mask;
  uint32_t program;
  uint64_t steps; /* rows and parts that were visited in the program */
  bool cautious;  /* values carried around loops are treated as unknown */
  bool out_of_memory;
} solution;

/* Conditional constants and copies: values over the edges that can be taken. */
vyre_status solve(solution *s, const memory *m);

/* The row's value, from its operands' values; itself, if no more is known. */
uint32_t solve_row(solution *s, uint32_t row);

/* Room for literals; false: out of memory. */
bool solve_take_literals(solution *s);

/* The value that is this literal, or these bits in all lanes; 0: out of memory. */
uint32_t solve_literal_value(solution *s, const solve_literal *wanted);
uint32_t solve_splat(solution *s, vyre_type type, uint64_t bits);

/* The literal that a value is; NULL: it is none. */
static inline const solve_literal *
solve_literal_of(const solution *s, uint32_t value)
{
  return value >= s->literals ? LIST_AT(solve_literal, s->literal, value - s->literals) : NULL;
}

/* The value of a variable in that state. */
static inline uint32_t
solve_state(const solution *s, uint32_t version)
{
  if ((version & VYRE_JOIN) != 0)
    return s->value[s->rows + (version & ~VYRE_JOIN)];
  return s->value[vyre_op_of(s->v, version) == VYRE_OP_set ? s->v->b[version] : version];
}

#endif
