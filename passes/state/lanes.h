/* The origin of a vector's lane, through rows that only rearrange lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_LANES_H
#define VYRE_PASSES_STATE_LANES_H

#include "vyre/plugin.h"

static inline uint32_t
lanes_of(const vyre_view *v, uint32_t row)
{
  return VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[row]));
}

/* Returns whether two rows have one value: rows of one class if `klass` is not NULL, otherwise only a row and itself. */
static inline bool
lanes_are_same(const uint32_t *klass, uint32_t x, uint32_t y)
{
  return x == y || (klass && klass[x] == klass[y]);
}

/* Returns the operand of `row` that its lane *k is a lane of, and sets *k to the lane of the operand.  Returns 0 if `row` computes
 * the lane.  The lane exists. */
static inline uint32_t
lanes_before(const vyre_view *v, uint32_t row, uint32_t *k)
{
  uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]}, at, i = 0;
  if (!vyre_row_is_pure(v, row))
    return 0;
  switch (VYRE_ROW_OP(v->op[row])) {
  case VYRE_OP_join:
    for (; *k >= lanes_of(v, operands[i]); i++)
      *k -= lanes_of(v, operands[i]);
    return operands[i];
  case VYRE_OP_splat:
    *k = 0;
    return operands[0];
  case VYRE_OP_shuffle:
    at = VYRE_SHUFFLE_LANE(v->imm[row], *k);
    *k = at & 3u;
    return operands[at >> 2];
  case VYRE_OP_insert:
    if (VYRE_ROW_OP(v->op[operands[2]]) != VYRE_OP_const)
      return 0;
    if (vyre_row_imm(v, operands[2]) != *k)
      return operands[0];
    *k = 0;
    return operands[1];
  case VYRE_OP_lane:
    if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || vyre_row_imm(v, row) >= lanes_of(v, operands[0]))
      return 0;
    *k = v->imm[row];
    return operands[0];
  default:
    return 0;
  }
}

/* Follows lanes_before through up to 16 rows.  Returns the scalar that became the lane, or the vector that computes it, and sets *k
 * to its lane.  Returns `row` if 16 rows are not enough. */
static inline uint32_t
lanes_source(const vyre_view *v, uint32_t row, uint32_t *k)
{
  uint32_t at = row, lane = *k;
  for (uint32_t steps = 0; steps < 16; steps++) {
    const uint32_t before = lanes_of(v, at) > 1 ? lanes_before(v, at, &lane) : 0;
    if (before == 0) {
      *k = lane;
      return at;
    }
    at = before;
  }
  return row;
}

/* Returns the scalar that became lane k of a vector.  Returns 0 if it is not known or the lane does not exist, because an index
 * that became a literal may be out of range. */
static inline uint32_t
lanes_scalar(const vyre_view *v, uint32_t row, uint32_t k)
{
  if (k >= lanes_of(v, row))
    return 0;
  const uint32_t source = lanes_source(v, row, &k);
  return lanes_of(v, source) == 1 ? source : 0;
}

/* Returns the vector whose lanes a join, insert or shuffle combines unchanged, or 0.  `klass` is by row, or NULL. */
static inline uint32_t
lanes_whole(const vyre_view *v, const uint32_t *klass, uint32_t row)
{
  uint32_t whole = 0;
  for (uint32_t k = 0; k < lanes_of(v, row); k++) {
    uint32_t at = k, source = lanes_source(v, row, &at);
    if (lanes_of(v, source) == 1)
      source = lanes_before(v, source, &at);
    if (source == 0 || at != k || (k > 0 && !lanes_are_same(klass, source, whole)))
      return 0;
    whole = k > 0 ? whole : source;
  }
  return whole != row && VYRE_ROW_TYPE(v->op[whole]) == VYRE_ROW_TYPE(v->op[row]) ? whole : 0;
}

#endif
