/* Chooses the rows that are inlined and the rows that are named statements.  Finds the rows at which invocations wait for each
 * other, and the values that outlive the loop over invocations that defines them.
 *
 * Rows are visited from the last to the first, so that the users of a row precede it.  A row is inlined if it has no name and
 * one use, in the same region and segment.  The user's text must contain the row once, and the expression must stay shallow.
 * Between a `get` and the statement nothing may write.  Constants, built-ins, paths, tuples, parts and unnamed lanes
 * at a literal index are always inlined.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define DEEPEST 4u

static const vyre_op_info *
info_of(const cgen *g, uint32_t row)
{
  return &vyre_op_infos[VYRE_ROW_OP(g->v->op[row])];
}

/* ---- segments ------------------------------------------------------------------------------------------------------------- */

/* Returns whether invocations wait for each other at the row. */
static bool
waits(const cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  if (op == VYRE_OP_barrier)
    return VYRE_ORDER_EXECUTION(g->v->imm[row]) != 4; /* a barrier of an invocation only orders memory */
  return vyre_op_is_subgroup(op) && (op < VYRE_OP_subgroup_inverse_ballot || op > VYRE_OP_subgroup_ballot_findmsb);
}

bool
cgen_is_wide(const cgen *g, uint32_t row)
{
  return g->is_wide[row - g->program] != 0;
}

static void
find_wide(cgen *g)
{
  const vyre_view *v = g->v;
  for (uint32_t row = g->program + 1; row < g->end; row++)
    for (uint32_t around = row; waits(g, row) && around != g->program && !cgen_is_wide(g, around); around = v->parent[around])
      g->is_wide[around - g->program] = g->wide = true;
  for (uint32_t row = g->program + 1; row < g->end && g->wide; row++) {
    const uint32_t parent = v->parent[row];
    const bool is_region = (info_of(g, row)->flags & VYRE_OP_REGION) != 0;
    if (is_region && cgen_is_wide(g, parent))
      g->is_wide[row - g->program] = true;
    g->parks = g->parks || cgen_is(g, row, VYRE_OP_return) || (is_region && cgen_is_wide(g, row));
  }
}

/* Numbers the segments.  A segment is consecutive rows of one region, with their regions, in which no invocation waits. */
static void
find_segments(cgen *g)
{
  const vyre_view *v = g->v;
  uint32_t last = 0;
  for (uint32_t row = g->program + 1; row < g->end; row++) {
    const uint32_t parent = v->parent[row], prev = v->prev[row];
    uint32_t *segment = &g->segment[row - g->program];
    if (parent != g->program && !cgen_is_wide(g, parent))
      *segment = g->segment[parent - g->program];
    else if (!cgen_is_wide(g, row) && prev && !cgen_is_wide(g, prev))
      *segment = g->segment[prev - g->program];
    else
      *segment = ++last;
  }
}

/* ---- forms ---------------------------------------------------------------------------------------------------------------- */

/* Returns whether the row is computed lane by lane, so that its text has each lane of an operand once. */
static bool
is_lanewise(const cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  if (op >= VYRE_OP_add && op <= VYRE_OP_sabsdiff)
    return op < VYRE_OP_uaddc || op > VYRE_OP_smulx;
  if ((op >= VYRE_OP_and && op <= VYRE_OP_convert) || op == VYRE_OP_quantize16 || (op >= VYRE_OP_round && op <= VYRE_OP_ldexp))
    return op != VYRE_OP_fone && op != VYRE_OP_fueq;
  return op == VYRE_OP_join || op == VYRE_OP_lane || op == VYRE_OP_select;
}

/* Returns whether the text of the row contains that operand more than once. */
static bool
mentions_twice(const cgen *g, uint32_t row, uint32_t operand)
{
  const vyre_view *v = g->v;
  const bool many = cgen_lanes(g, row) > 1;
  switch (VYRE_ROW_OP(v->op[row])) {
  case VYRE_OP_at:
  case VYRE_OP_tuple:
  case VYRE_OP_for:
    return true;
  case VYRE_OP_lane:
  case VYRE_OP_part:
    return operand == v->b[row] || g->w.uses[row - g->program] > 1;
  case VYRE_OP_select:
    return operand == v->a[row] && many && cgen_lanes(g, operand) == 1;
  case VYRE_OP_ubfe:
  case VYRE_OP_sbfe:
    return operand != v->a[row] && many;
  case VYRE_OP_bitcast:
    return cgen_lanes(g, operand) != cgen_lanes(g, row);
  case VYRE_OP_if:
  case VYRE_OP_switch:
  case VYRE_OP_breakif:
  case VYRE_OP_set:
  case VYRE_OP_store:
  case VYRE_OP_load:
  case VYRE_OP_length:
    return false;
  default:
    return vyre_op_is_atomic(VYRE_ROW_OP(v->op[row])) ? false : !is_lanewise(g, row);
  }
}

static bool
goes_inside_always(const cgen *g, uint32_t row)
{
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_const:
  case VYRE_OP_spec:
  case VYRE_OP_at:
  case VYRE_OP_tuple:
  case VYRE_OP_part:
    return true;
  case VYRE_OP_lane:
    return cgen_has_literal(g, row) && vyre_row_name(g->module, (vyre_row){row}) == NULL;
  default:
    return vyre_op_is_invocation(VYRE_ROW_OP(g->v->op[row]));
  }
}

/* Returns whether inlining the row causes warnings: an integer cast, or `x & 3` in a comparison.  Compilers see that such a
 * comparison has a constant result.  gcc also moves casts, and then warns of sign conversions. */
static bool
would_warn(const cgen *g, uint32_t row, uint32_t user)
{
  const vyre_opcode op = cgen_op(g, row), of = cgen_op(g, user);
  if (op == VYRE_OP_convert)
    return vyre_kind_is_int(cgen_kind(g, row)) && vyre_kind_is_int(cgen_kind(g, g->v->a[row]));
  return (op == VYRE_OP_and || op == VYRE_OP_or) && (vyre_op_infos[of].compares != 0 || of == VYRE_OP_lane);
}

static bool
may_go_inside(const cgen *g, uint32_t row)
{
  const vyre_kind kind = cgen_kind(g, row);
  if (vyre_row_name(g->module, (vyre_row){row}) || kind == VYRE_TUPLE || cgen_is(g, row, VYRE_OP_length))
    return false;
  return (info_of(g, row)->flags & VYRE_OP_PURE) != 0 || cgen_is(g, row, VYRE_OP_get);
}

static void
choose(cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t i = row - g->program, place = g->user[i];
  g->form[i] = CODE_NAMED;
  if (goes_inside_always(g, row)) {
    g->form[i] = CGEN_INLINE;
    return;
  }
  if (g->w.uses[i] != 1 || g->twice[i] || !may_go_inside(g, row) || v->parent[place] != v->parent[row] || g->level[i] > DEEPEST)
    return;
  if (g->segment[i] != g->segment[place - g->program])
    return;
  if (cgen_is(g, row, VYRE_OP_get) && g->writes[place - 1 - g->program] != g->writes[i])
    return;
  g->form[i] = CGEN_INLINE;
}

/* Records the use of `operand` by `row`, whose form is known. */
static void
use(cgen *g, uint32_t row, uint32_t operand)
{
  const uint32_t i = operand - g->program, user = row - g->program;
  if (operand <= g->program)
    return;
  const bool inside = g->form[user] == CGEN_INLINE;
  const uint32_t seen = inside ? g->seen[user] : g->segment[user];
  g->w.uses[i]++;
  g->twice[i] |= mentions_twice(g, row, operand) || would_warn(g, operand, row);
  g->twice[i] |= inside && goes_inside_always(g, row) && g->w.uses[user] > 1; /* its text repeats wherever the row's text does */
  g->user[i] = inside && g->user[user] ? g->user[user] : row;
  g->seen[i] = g->seen[i] == 0 || g->seen[i] == seen ? seen : CGEN_MANY;
  g->level[i] = inside ? (uint8_t)(g->level[user] + !goes_inside_always(g, row)) : 0;
}

static bool
is_root(const cgen *g, uint32_t row)
{
  const uint32_t flags = info_of(g, row)->flags;
  return (flags & (VYRE_OP_EFFECT | VYRE_OP_WRITES | VYRE_OP_REGION)) != 0;
}

/* Returns whether the row's value is used in another segment than its own.  Variables and indices of wide loops are, too. */
static bool
outlives(const cgen *g, uint32_t row)
{
  const uint32_t i = row - g->program;
  const vyre_kind kind = cgen_kind(g, row);
  if (!g->wide || g->form[i] != CODE_NAMED)
    return false;
  if (cgen_is(g, row, VYRE_OP_var))
    return true;
  if (cgen_is(g, row, VYRE_OP_body))
    return cgen_is_wide(g, g->v->parent[row]);
  if (kind == VYRE_VOID || kind == VYRE_PATH)
    return false;
  return cgen_is_wide(g, row) || g->seen[i] != g->segment[i];
}

void
cgen_survey(cgen *g)
{
  const vyre_view *v = g->v;
  find_wide(g);
  find_segments(g);
  code_count_writes(g->v, g->program, g->end, g->writes);
  for (uint32_t row = g->end; row-- > g->program + 1;) {
    const uint32_t i = row - g->program;
    if (is_root(g, row))
      g->form[i] = CODE_NAMED;
    else if (g->w.uses[i] == 0)
      continue;
    else
      choose(g, row);
    g->spilled[i] = outlives(g, row);
    if (cgen_is(g, row, VYRE_OP_workgroup) || cgen_is(g, row, VYRE_OP_leave) || cgen_is(g, row, VYRE_OP_case))
      continue; /* operands are literals or regions */
    use(g, row, v->a[row]);
    use(g, row, v->b[row]);
    use(g, row, v->c[row]);
  }
}
