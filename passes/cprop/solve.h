/* Computes for each row and join the literal or the other row that it equals, if there is one.
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

/* A value is 0 if the row is not known to be reachable.  Below `rows` it is a row: itself, or the row with the same value.  From
 * `rows` on it is a join without a row, and from `literals` on a literal. */
typedef struct solution {
  vyre_pass_ctx *ctx;
  vyre_module *module;
  const vyre_view *v;
  const memory *m;
  uint32_t rows;     /* the first value that is a join */
  uint32_t literals; /* the first value that is a literal */
  uint32_t *value;   /* by row, then by join */
  uint8_t *changes;  /* by join of a loop header, the number of times its value changed */
  uint32_t *joins;   /* by construct and header, the first of its joins, 0 if it has none */
  uint8_t *taken;    /* whether control reaches: by region, its end; by jump, the jump; by construct, the row after it */
  list literal;
  uint32_t *slots; /* hash table of literals, 0 if a slot is free */
  uint32_t slot_mask;
  uint32_t program;
  uint64_t steps; /* rows and parts visited in the current program */
  bool cautious;  /* whether values carried around loops are treated as unknown */
  bool out_of_memory;
} solution;

/* Initializes a solution in which no value is computed. */
vyre_status solve_begin(solution *s, vyre_pass_ctx *ctx, vyre_module *module);

/* Computes the values of all rows and joins, over the edges that control can take. */
vyre_status solve(solution *s, const memory *m);

/* Returns the row's value, given its operands' values, or the row itself if no more is known. */
uint32_t solve_row(solution *s, uint32_t row);

/* Returns the value on which all parts of a join with reachable edges agree.  `only_front` limits the parts of a loop header's join
 * to the one from before the loop. */
uint32_t solve_join(solution *s, uint32_t index, bool only_front);

/* Prepares the table of literals.  Returns false if memory runs out. */
bool solve_begin_literals(solution *s);

/* Return the value of a literal, and of a splat of `bits`.  Return 0 if memory runs out. */
uint32_t solve_literal_value(solution *s, const solve_literal *wanted);
uint32_t solve_splat(solution *s, vyre_type type, uint64_t bits);

/* Returns the literal of a value, or NULL if the value is not a literal. */
static inline const solve_literal *
solve_literal_of(const solution *s, uint32_t value)
{
  return value >= s->literals ? LIST_AT(solve_literal, s->literal, value - s->literals) : NULL;
}

/* Returns the value that a variable has in a version. */
static inline uint32_t
solve_state(const solution *s, uint32_t version)
{
  if ((version & VYRE_JOIN) != 0)
    return s->value[s->rows + (version & ~VYRE_JOIN)];
  return s->value[vyre_op_of(s->v, version) == VYRE_OP_set ? s->v->b[version] : version];
}

#endif
