/* Conditional constants (Wegman and Zadeck 1991) with copies, over structured control and the state graph.  A value is unknown,
 * or is a literal, or is another row's value, or is the row's own.
 *
 * One walk in program order enters the regions that control can enter.  The walk is optimistic: it assumes that a loop leaves
 * the values that enter it unchanged.  If another value comes around, the loop is walked again.  A value that varied in a loop is
 * not assumed to be unchanged when the loop around it is walked again.  The value of a loop header's join changes at most a few
 * times, which bounds the walks of a loop for each walk of the loop around it.  In a deep nest this may be too often: after
 * MOST_STEPS for each row and part the walk restarts.  It then treats every value carried around a loop as unknown, and walks each
 * loop once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "branch.h"

enum { MOST_CHANGES = 4, MOST_STEPS = 64 };

/* Bits of `taken`.  CONTINUES is set for a loop if one of its `continue`s is reached. */
enum { TAKEN = 1, CONTINUES = 2 };

static bool visit_construct(solution *s, uint32_t row);

vyre_status
solve_begin(solution *s, vyre_pass_ctx *ctx, vyre_module *module)
{
  const vyre_view *v = ctx->host->view(module);
  const size_t nodes = (size_t)v->rows + v->join_count;
  *s = (solution){.ctx = ctx, .module = module, .v = v, .rows = v->rows, .literals = (uint32_t)nodes};
  s->value = ctx->host->alloc(ctx, sizeof(uint32_t) * nodes);
  s->taken = ctx->host->alloc(ctx, v->rows);
  s->out_of_memory = !s->value || !s->taken || !solve_begin_literals(s);
  return s->out_of_memory ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}

/* ---- joins --------------------------------------------------------------------------------------------------------------- */

uint32_t
solve_join(solution *s, uint32_t index, bool only_front)
{
  const vyre_view *v = s->v;
  const vyre_join *join = &v->joins[index];
  uint32_t value = 0;
  s->steps += join->count;
  for (uint32_t i = 0; i < join->count; i++) {
    const vyre_part *part = &v->parts[join->first + i];
    if ((only_front || !s->taken[part->edge]) && (vyre_op_flags_of(v, part->edge) & VYRE_OP_REGIONS) == 0)
      continue; /* neither taken nor from before the loop */
    const uint32_t brought = solve_state(s, part->version);
    if (brought && value && brought != value)
      return s->rows + index;
    value = brought ? brought : value;
  }
  return value;
}

static void
join_states(solution *s, uint32_t row, bool only_front)
{
  for (uint32_t i = s->joins[row]; i && i < s->v->join_count && s->v->joins[i].row == row; i++) {
    if (only_front && s->cautious)
      s->changes[i] = MOST_CHANGES;
    const bool varies = only_front && (s->changes[i] == MOST_CHANGES || s->value[s->rows + i] == s->rows + i);
    s->value[s->rows + i] = varies ? s->rows + i : solve_join(s, i, only_front);
  }
}

/* Updates the joins of a loop's header with the values that came around.  Returns whether one differs from the assumed value. */
static bool
has_changed(solution *s, uint32_t region)
{
  bool changed = false;
  for (uint32_t i = s->joins[region]; i && i < s->v->join_count && s->v->joins[i].row == region; i++) {
    uint32_t *value = &s->value[s->rows + i], new = solve_join(s, i, false);
    if (s->changes[i] == MOST_CHANGES || new == *value)
      continue;
    *value = ++s->changes[i] == MOST_CHANGES ? s->rows + i : new;
    changed = true;
  }
  return changed;
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------ */

/* Returns whether control reaches the row after the jump, or the region's end. */
static bool
visit_jump(solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t op = vyre_op_of(v, row);
  const solve_literal *condition = op == VYRE_OP_breakif ? solve_literal_of(s, s->value[v->a[row]]) : NULL;
  const bool ends_construct = op != VYRE_OP_return && op != VYRE_OP_trap && op != VYRE_OP_fallthrough;
  const uint32_t ended = ends_construct ? vyre_jump_target(v, row) : row;
  s->value[row] = row;
  if (condition && condition->lanes[0] == 0)
    return true;
  s->taken[ended] |= op == VYRE_OP_continue ? CONTINUES : TAKEN;
  s->taken[row] = TAKEN;
  return op == VYRE_OP_breakif && !condition;
}

static void
visit_region(solution *s, uint32_t region)
{
  const vyre_view *v = s->v;
  s->value[region] = region;
  bool goes_on = true;
  for (uint32_t row = v->first[region]; row && goes_on; row = v->next[row]) {
    const uint32_t flags = vyre_op_flags_of(v, row);
    s->steps++;
    if ((flags & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) == 0)
      s->value[row] = solve_row(s, row);
    else
      goes_on = (flags & VYRE_OP_REGIONS) != 0 ? visit_construct(s, row) : visit_jump(s, row);
  }
  s->taken[region] |= goes_on ? TAKEN : 0;
}

/* Returns whether to stop the optimistic walk. */
static bool
is_slow(const solution *s)
{
  return !s->cautious && s->steps / MOST_STEPS > (uint64_t)s->rows + s->v->part_count;
}

static void
visit_loop(solution *s, uint32_t loop)
{
  const vyre_view *v = s->v;
  const uint32_t body = v->first[loop], next = v->last[loop];
  join_states(s, body, true);
  do {
    visit_region(s, body);
    if (next != body && (s->taken[body] || (s->taken[loop] & CONTINUES))) {
      join_states(s, next, false);
      visit_region(s, next);
    }
  } while (has_changed(s, body) && !s->out_of_memory && !is_slow(s));
}

static bool
is_fallen_into(const solution *s, uint32_t region)
{
  const uint32_t before = s->v->prev[region], last = before ? s->v->last[before] : 0;
  return last && vyre_op_of(s->v, last) == VYRE_OP_fallthrough && s->taken[last];
}

/* Returns whether control reaches the row after the construct. */
static bool
visit_construct(solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t op = vyre_op_of(v, row);
  s->value[row] = row;
  if (op == VYRE_OP_loop || (op == VYRE_OP_for && branch_may_enter(s, row, v->first[row])))
    visit_loop(s, row);
  else if (op == VYRE_OP_for)
    join_states(s, v->first[row], true);
  for (uint32_t region = v->first[row]; region && !vyre_row_is_loop(v, row); region = v->next[region])
    if (branch_may_enter(s, row, region) || is_fallen_into(s, region)) {
      join_states(s, region, false);
      visit_region(s, region);
      s->taken[row] |= s->taken[region] & TAKEN;
    }
  if (op == VYRE_OP_for || (op == VYRE_OP_switch && branch_may_enter(s, row, row)))
    s->taken[row] |= TAKEN;
  join_states(s, row, false);
  return (s->taken[row] & TAKEN) != 0;
}

static void
solve_program(solution *s)
{
  const vyre_view *v = s->v;
  const uint32_t end = vyre_program_end(v, s->program);
  s->steps = 0;
  s->cautious = false;
  visit_region(s, s->program);
  if (!is_slow(s))
    return;
  s->cautious = true;
  memset(s->value + s->program, 0, sizeof(uint32_t) * (end - s->program));
  for (uint32_t i = 1; i < v->join_count; i++)
    if (v->joins[i].row >= s->program && v->joins[i].row < end)
      s->value[s->rows + i] = 0;
  visit_region(s, s->program);
}

vyre_status
solve(solution *s, const memory *m)
{
  const vyre_view *v = m->v;
  vyre_pass_ctx *ctx = m->ctx;
  VYRE_TRY(solve_begin(s, ctx, m->module));
  s->m = m;
  s->joins = ctx->host->alloc(ctx, sizeof(uint32_t) * v->rows);
  s->changes = ctx->host->alloc(ctx, v->join_count + 1);
  s->out_of_memory = !s->joins || !s->changes;
  for (uint32_t i = v->join_count; i-- > 1 && !s->out_of_memory;)
    s->joins[v->joins[i].row] = i;
  for (s->program = v->first[0]; s->program && !s->out_of_memory; s->program = v->next[s->program])
    solve_program(s);
  return s->out_of_memory ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}
