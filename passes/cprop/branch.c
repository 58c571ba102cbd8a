/* The regions that control enters from a row whose condition, selector or bounds are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "branch.h"

/* Returns whether the case has that label. */
static bool
has_label(const vyre_view *v, uint32_t region, uint64_t selector)
{
  vyre_labels labels = vyre_labels_of(v, region);
  uint32_t label;
  while ((label = vyre_next_label(v, &labels)) != 0 && vyre_row_imm(v, label) != selector)
    ;
  return label != 0;
}

/* Returns the region that a switch enters, or the switch itself if no case matches. */
static uint32_t
entered_region(const vyre_view *v, uint32_t row, uint64_t selector)
{
  uint32_t fallback = row;
  for (uint32_t region = v->first[row]; region; region = v->next[region]) {
    if (has_label(v, region, selector))
      return region;
    if (v->imm[region] & VYRE_CASE_DEFAULT || v->a[region] == 0)
      fallback = region;
  }
  return fallback;
}

static bool
is_less(const solve_literal *from, const solve_literal *to)
{
  const vyre_kind kind = VYRE_TYPE_KIND(from->type);
  const uint64_t bias = vyre_kind_is_signed(kind) ? UINT64_C(1) << (vyre_kind_bits(kind) - 1) : 0; /* unsigned order */
  return (from->lanes[0] ^ bias) < (to->lanes[0] ^ bias);
}

bool
branch_may_enter(const solution *s, uint32_t row, uint32_t region)
{
  const vyre_view *v = s->v;
  const solve_literal *left = solve_literal_of(s, s->value[v->a[row]]), *right = solve_literal_of(s, s->value[v->b[row]]);
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_if:
    return !left || region == (left->lanes[0] ? v->first[row] : v->last[row]);
  case VYRE_OP_switch:
    return !left || region == entered_region(v, row, left->lanes[0]);
  case VYRE_OP_for: /* bounds that allow no iteration; any other trip count is treated as unknown */
    return region == row || !left || !right || is_less(left, right);
  default:
    return true;
  }
}
