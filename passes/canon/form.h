/* The canonical form of one row: the order of its operands, and the vectors that its lanes are read from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CANON_FORM_H
#define VYRE_PASSES_CANON_FORM_H

#include "../state/lanes.h"

/* Rewrites that rows of an op may need, in bits. */
enum {
  FORM_COMMUTES = 1,
  FORM_MIRRORS = 2, /* a literal on the left moves to the right */
  FORM_BACKWARD = 4, /* mirrors, and the mirrored comparison is canonical */
  FORM_PLACES = 8    /* reads or permutes lanes */
};

/* Returns the FORM_ bits of the rewrites that rows of the op may need.  Of a comparison and its mirror, the "less" one is
 * canonical. */
static inline uint32_t
form_chances(const vyre_view *v, uint32_t op)
{
  const vyre_op_info *info = vyre_op_info_of(v, op);
  if (op == VYRE_OP_lane || op == VYRE_OP_shuffle)
    return FORM_PLACES;
  if (info->flags & VYRE_OP_COMMUTES)
    return FORM_COMMUTES;
  if (info->mirrored == 0)
    return 0;
  return info->compares & VYRE_COMPARES_GREATER ? FORM_MIRRORS | FORM_BACKWARD : FORM_MIRRORS;
}

/* Returns the sort key of an operand: the operand with the lower rank is the left one.  A built-in's rank is its op, because
 * text does not keep its position.  The rank of any other row is its position. */
static inline uint32_t
form_rank(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  return vyre_op_is_invocation(op) ? op : VYRE_OP__ROOM + row;
}

/* Returns whether the row's operands must be exchanged.  `chances` is form_chances of its op.  Branch-free, because the order of
 * operands is not predictable. */
static inline bool
form_is_reversed(const vyre_view *v, uint32_t row, uint32_t chances)
{
  const uint32_t a = v->a[row], b = v->b[row];
  const bool commutes = (chances & FORM_COMMUTES) != 0, backward = (chances & FORM_BACKWARD) != 0,
             has_mirror = (chances & FORM_MIRRORS) != 0;
  const bool has_imm = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  const bool a_is_const = vyre_row_is_const(v, a), b_is_const = vyre_row_is_const(v, b), later = form_rank(v, a) > form_rank(v, b);
  const bool wrong = (commutes & later) | backward | a_is_const;
  return (commutes | has_mirror) & wrong & !has_imm & !b_is_const;
}

/* Exchanges the operands of the row, and mirrors its comparison. */
static inline void
form_exchange(vyre_pass_ctx *ctx, vyre_module *module, const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]), mirrored = vyre_op_info_of(v, op)->mirrored, after = mirrored ? mirrored : op;
  const uint32_t word = VYRE_ROW(after, VYRE_ROW_TYPE(v->op[row]), VYRE_ROW_FLAGS(v->op[row]));
  ctx->host->rewrite(module, row, word, v->imm[row], v->imm_hi[row], v->b[row], v->a[row], v->c[row]);
}

/* Makes a `lane` row read from the vector that defines the lane.  Returns whether the row changed. */
static inline bool
form_shorten_lane(vyre_pass_ctx *ctx, vyre_module *module, const vyre_view *v, uint32_t row)
{
  uint32_t k = v->imm[row];
  if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || vyre_row_imm(v, row) >= lanes_of(v, v->a[row]))
    return false;
  const uint32_t source = lanes_source(v, v->a[row], &k);
  if (source == v->a[row] || lanes_of(v, source) == 1) /* cprop replaces the uses of a scalar */
    return false;
  ctx->host->rewrite(module, row, v->op[row], k, 0, source, 0, 0);
  return true;
}

/* Makes a shuffle read its lanes from at most two source vectors.  `klass` is by row, as for lanes_whole.  Returns whether the
 * row changed. */
static inline bool
form_shorten_shuffle(vyre_pass_ctx *ctx, vyre_module *module, const vyre_view *v, const uint32_t *klass, uint32_t row)
{
  const uint32_t operands[2] = {v->a[row], v->b[row]};
  uint32_t sources[2] = {0, 0}, lanes = 0;
  for (uint32_t i = 0; i < lanes_of(v, row); i++) {
    const uint32_t at = VYRE_SHUFFLE_LANE(v->imm[row], i);
    uint32_t k = at & 3u;
    const uint32_t source = lanes_source(v, operands[at >> 2], &k);
    const uint32_t which = sources[0] == 0 || lanes_are_same(klass, sources[0], source) ? 0 : 1;
    if (lanes_of(v, source) == 1 || (sources[which] != 0 && !lanes_are_same(klass, sources[which], source)))
      return false;
    sources[which] = sources[which] ? sources[which] : source;
    lanes |= (which << 2 | k) << 4 * i;
  }
  if (sources[0] == operands[0] && sources[1] == operands[1])
    return false;
  ctx->host->rewrite(module, row, v->op[row], lanes, v->imm_hi[row], sources[0], sources[1], 0);
  return true;
}

#endif
