/* What each row and phi is, where that is one literal or another row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_SOLVE_H
#define VYRE_PASSES_CPROP_SOLVE_H

#include "loads.h"

typedef struct solve_literal {
  uint64_t lanes[4];
  vyre_type type;
} solve_literal;

/* A value: 0 not known to be executed; a row or phi (itself, or the one whose value it has); from `literals` on a literal. */
typedef struct solution {
  flow *f;
  vyre_module *module;
  const loads *loads;
  uint32_t literals; /* first value that is a literal */
  uint32_t *value;   /* by node */
  flow_list literal;
  uint32_t *slots; /* hash table over literals */
  uint32_t slot_mask;
  uint32_t *users; /* by node: the first of its users that may look at it again; 0: none */
  flow_list uses;
  uint8_t *state;           /* by node: how often it changed, and whether it moves, was visited, waits */
  flow_list copies, others; /* nodes that wait, uint32_t: sets, gets and phis; all others */
  flow_list fresh;          /* blocks, uint32_t, that were reached when the walk had passed them */
  uint32_t place;           /* of the block at hand, in flow.order */
} solution;

/* Bits of a node's state.  MOVES: its value may turn out to be another's; that of all others is known beforehand.  VISITED: it is
 * executed, as far as is known.  DIFFERS: its value is or was not itself. */
enum { SOLVE_DIFFERS = 8, SOLVE_MOVES = 32, SOLVE_VISITED = 64 };

/* Conditional constants: values of rows and phis over the edges that can be taken.  O(rows + sources). */
vyre_status solve(solution *s, flow *f, vyre_module *module, const loads *known);

/* Room for literals; false: out of memory. */
bool solve_take_literals(solution *s);

/* The value that is this literal, or these bits in all lanes; 0: out of memory. */
uint32_t solve_literal_value(solution *s, const solve_literal *wanted);
uint32_t solve_splat(solution *s, vyre_type type, uint64_t bits);

/* The literal that a value is; NULL: it is none. */
static inline const solve_literal *
solve_literal_of(const solution *s, uint32_t value)
{
  return value >= s->literals ? FLOW_AT(solve_literal, s->literal, value - s->literals) : NULL;
}

#endif
