/* Facts of a program before it is written: used rows, floats whose bits are used, and wide constructs.
 *
 * A construct is wide if lanes reconverge in it.  If lanes reconverge anywhere in the program, a construct with a jump to
 * beyond its end is wide too, because the remaining lanes need the correct mask.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static const vyre_op_info *
info_of(const gen *g, uint32_t row)
{
  return &vyre_op_infos[VYRE_ROW_OP(g->v->op[row])];
}

/* Returns whether the lanes of a subgroup must execute the row together: a subgroup barrier or a convergent operation. */
static bool
meets(const gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  if (op == VYRE_OP_barrier)
    return VYRE_ORDER_EXECUTION(g->v->imm[row]) == 3;
  return vyre_op_is_subgroup(op) && (info_of(g, row)->flags & VYRE_OP_CONVERGENT) != 0 && op != VYRE_OP_subgroup_inverse_ballot;
}

static bool
is_jump(const gen *g, uint32_t row)
{
  return (info_of(g, row)->flags & VYRE_OP_ENDS) != 0;
}

static void
find_wide(gen *g)
{
  const vyre_view *v = g->v;
  for (uint32_t row = g->program + 1; row < g->end; row++) {
    for (uint32_t around = v->parent[row]; meets(g, row) && around != g->program; around = v->parent[around])
      g->is_wide[around - g->program] = 1;
    g->wide = g->wide || meets(g, row);
  }
  for (uint32_t row = g->program + 1; row < g->end && g->wide; row++) {
    if (!is_jump(g, row))
      continue;
    const uint32_t target = vyre_jump_target(g->v, row);
    for (uint32_t around = v->parent[row]; around != target && around != g->program; around = v->parent[around])
      g->leaks[around - g->program] = 1;
  }
  for (uint32_t row = g->end; row-- > g->program + 1 && g->wide;) {
    if (!g->leaks[row - g->program])
      continue;
    for (uint32_t around = row; around != g->program; around = v->parent[around])
      g->is_wide[around - g->program] = 1;
  }
}

/* Returns whether the row computes with the value of a float operand, so that the bits of a NaN do not matter. */
static bool
computes(const gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const vyre_op_info *info = info_of(g, row);
  if (op == VYRE_OP_bitcast || (info->flags & VYRE_OP_PURE) == 0)
    return false;
  return info->klass == VYRE_CLASS_FLOAT || info->klass == VYRE_CLASS_NUM || op == VYRE_OP_ldexp;
}

static void
use(gen *g, uint32_t row, uint32_t operand)
{
  if (operand <= g->program)
    return;
  g->w.uses[operand - g->program]++;
  g->seen[operand - g->program] |= !computes(g, row);
}

void
pgen_survey(gen *g)
{
  const vyre_view *v = g->v;
  find_wide(g);
  for (uint32_t row = g->end; row-- > g->program + 1;) {
    const bool is_root = (info_of(g, row)->flags & (VYRE_OP_EFFECT | VYRE_OP_WRITES | VYRE_OP_REGION)) != 0;
    const vyre_opcode op = op_of(g, row);
    g->nests += (info_of(g, row)->flags & VYRE_OP_REGIONS) != 0;
    if (!is_root && g->w.uses[row - g->program] == 0)
      continue;
    if (op == VYRE_OP_workgroup || op == VYRE_OP_leave || op == VYRE_OP_case)
      continue; /* operands are literals or a construct */
    use(g, row, v->a[row]);
    use(g, row, v->b[row]);
    use(g, row, v->c[row]);
  }
}
