/* dbe of `if`: known conditions, equal arms, exchanged arms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"

/* Returns whether the rows are the same, correspond to each other, or are equal literals or built-ins. */
static bool
are_equal(const cleaner *k, uint32_t x, uint32_t y)
{
  const vyre_view *v = k->v;
  if (x == y || (y && x < k->rows && k->twin[x] == y))
    return true;
  return vyre_op_of(v, x) != VYRE_OP_at && v->op[x] == v->op[y] && !cleaner_has_place(v, x) &&
         vyre_row_imm(v, x) == vyre_row_imm(v, y);
}

/* Returns whether two operands are equal or correspond.  Paths are compared step by step, wherever their rows are. */
static bool
operands_equal(const cleaner *k, uint32_t x, uint32_t y)
{
  const vyre_view *v = k->v;
  for (; x != y && vyre_op_of(v, x) == VYRE_OP_at && vyre_op_of(v, y) == VYRE_OP_at; x = v->a[x], y = v->a[y])
    if (v->op[x] != v->op[y] || v->imm[x] != v->imm[y] || v->imm_hi[x] != v->imm_hi[y] ||
        (VYRE_ROW_FLAGS(v->op[x]) & VYRE_ROW_DECO) != 0 || !are_equal(k, v->b[x], v->b[y]))
      return false;
  return are_equal(k, x, y);
}

/* Returns whether row y may replace row x.  They are at the same position of their arms. */
static bool
rows_equal(const cleaner *k, uint32_t x, uint32_t y)
{
  const vyre_view *v = k->v;
  const vyre_op_info *info = vyre_op_info_of(v, vyre_op_of(v, x));
  if (v->op[x] != v->op[y] || v->imm[x] != v->imm[y] || (VYRE_ROW_FLAGS(v->op[x]) & VYRE_ROW_DECO) != 0)
    return false;
  if ((info->flags & VYRE_OP_CONVERGENT) != 0 || v->imm_hi[x] != v->imm_hi[y])
    return false;
  return k->twin[v->parent[x]] == v->parent[y] && operands_equal(k, v->a[x], v->a[y]) && operands_equal(k, v->b[x], v->b[y]) &&
         operands_equal(k, v->c[x], v->c[y]);
}

/* Returns the next row of the arm, at any depth, that is not a path, literal or built-in without decorations.  Returns 0 if there
 * is no such row. */
static uint32_t
next_placed(const vyre_view *v, uint32_t arm, uint32_t row)
{
  do
    row = vyre_body_next(v, arm, row);
  while (row && !cleaner_has_place(v, row));
  return row;
}

/* Returns whether the arms are equal.  Stops at the first difference.  Rows of one arm are not visible in the other, so an
 * operand is either the same row, or a row of the arm that this comparison has already paired. */
static bool
arms_equal(cleaner *k, uint32_t then_region, uint32_t else_region)
{
  const vyre_view *v = k->v;
  uint32_t x = then_region, y = else_region;
  if (v->op[cleaner_next_placed(v, v->first[x])] != v->op[cleaner_next_placed(v, v->first[y])] || !cleaner_allocate(k, &k->twin))
    return false;
  k->twin[x] = y;
  for (;;) {
    x = next_placed(v, then_region, x);
    y = next_placed(v, else_region, y);
    if (x == 0 || y == 0)
      return x == y;
    if (x >= k->rows || y >= k->rows || !rows_equal(k, x, y)) /* rows added in this run have no twin */
      return false;
    k->twin[x] = y;
  }
}

/* Rewrites `if not(x)` to `if x` with its arms exchanged. */
static void
exchange_arms(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t then_region = v->first[row], else_region = v->last[row];
  k->host->set_operand(k->module, row, 0, v->a[v->a[row]]);
  k->host->move_before(k->module, else_region, then_region);
  k->host->rewrite(k->module, else_region, v->op[else_region], VYRE_THEN, 0, 0, 0, 0);
  k->host->rewrite(k->module, then_region, v->op[then_region], VYRE_ELSE, 0, 0, 0, 0);
  k->constructs++;
}

void
cleaner_if(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  cleaner_find_operand(k, row);
  const uint32_t condition = v->a[row], then_region = v->first[row], else_region = v->last[row];
  if (vyre_row_is_const(v, condition)) {
    cleaner_replace_by_region(k, row, v->imm[condition] ? then_region : else_region);
  } else if (arms_equal(k, then_region, else_region)) {
    cleaner_replace_by_region(k, row, then_region);
  } else {
    k->completes[row] = cleaner_completes(k, then_region) || cleaner_completes(k, else_region);
    if (!k->completes[row])
      cleaner_drop_unreachable(k, row);
    if (vyre_op_of(v, condition) == VYRE_OP_not && !cleaner_is_empty(v, else_region))
      exchange_arms(k, row);
  }
}
