/* The sweep of pm and expand: see sweep.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

/* Each rule makes the program smaller, so this limit is never reached.  It ends the sweep if a table is wrong. */
enum { MOST_STEPS = 1000 };

/* ---- pinned rows ----------------------------------------------------------------------------------------------------- */

/* Pins a row that defines a type's length or a workgroup's size.  Such rows must stay expressions over specialization constants. */
static void
pin(rules_sweep *s, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(s->v->op[row]);
  if (op == VYRE_OP_null || op == VYRE_OP_spec)
    return;
  if (!s->pinned)
    s->pinned = s->host->alloc(s->ctx, sizeof(bool) * s->rows);
  if (s->pinned)
    s->pinned[row] = true;
  else
    s->lost = true;
}

static void
pin_unless_literal(rules_sweep *s, uint32_t row)
{
  if (!vyre_row_is_const(s->v, row))
    pin(s, row);
}

/* Pins a length, even a literal: a type names the literal's row, so the row cannot be replaced. */
static void
pin_length(void *user, uint32_t row)
{
  pin(user, row);
}

static vyre_status
pin_rows(rules_sweep *s)
{
  const vyre_view *v = s->v;
  s->host->each_pinned(s->module, pin_length, s);
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    uint32_t row = v->first[program];
    while (row && VYRE_ROW_OP(v->op[row]) != VYRE_OP_workgroup)
      row = v->next[row];
    const uint32_t sizes[3] = {v->a[row], v->b[row], v->c[row]};
    for (uint32_t k = 0; k < 3; k++)
      pin_unless_literal(s, sizes[k]);
  }
  for (uint32_t row = s->rows; s->pinned && row-- > 1;)
    if (rules_sweep_is_pinned(s, row)) {
      pin_unless_literal(s, v->a[row]);
      pin_unless_literal(s, v->b[row]);
      pin_unless_literal(s, v->c[row]);
    }
  return s->lost ? s->host->out_of_memory(s->ctx) : VYRE_OK;
}

/* ---- operands -------------------------------------------------------------------------------------------------------- */

static void
change_operands(rules_sweep *s, uint32_t row, uint32_t a, uint32_t b, uint32_t c)
{
  const vyre_view *v = s->v;
  const uint32_t op = v->op[row], old_a = v->a[row], old_b = v->b[row], old_c = v->c[row];
  s->host->rewrite(s->module, row, op, v->imm[row], v->imm_hi[row], a, b, c);
  const uint64_t replaced = (uint64_t)((v->a[row] != old_a) + (v->b[row] != old_b) + (v->c[row] != old_c));
  s->replaced += replaced;
  s->changed |= replaced != 0;
}

/* Replaces forwarded operands, and makes a literal right operand an immediate. */
void
rules_sweep_operands(rules_sweep *s, uint32_t row)
{
  const vyre_view *v = s->v;
  uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
  if (s->forward) {
    a = s->forward[a];
    b = s->forward[b];
    c = s->forward[c];
  }
  const bool immediate = b != 0 && VYRE_ROW_OP(v->op[b]) == VYRE_OP_const && (vyre_op_flags_of(v, row) & VYRE_OP_TAKES_IMM) != 0;
  if (immediate || a != v->a[row] || b != v->b[row] || c != v->c[row])
    change_operands(s, row, a, b, c);
}

static bool
begin_forwarding(rules_sweep *s)
{
  if (s->forward)
    return true;
  s->forward = s->host->alloc(s->ctx, sizeof(uint32_t) * s->rows);
  for (uint32_t i = 0; s->forward && i < s->rows; i++)
    s->forward[i] = i;
  return s->forward != NULL;
}

/* ---- replacements ---------------------------------------------------------------------------------------------------- */

static void
rewrite_to_literal(rules_sweep *s, const rules_match *m, uint64_t bits)
{
  const uint32_t root = m->reg[0];
  s->host->rewrite(s->module, root, VYRE_ROW(VYRE_OP_const, VYRE_ROW_TYPE(s->v->op[root]), 0), (uint32_t)bits,
                   (uint32_t)(bits >> 32), 0, 0, 0);
  s->changed = true;
  s->rewritten++;
}

bool
rules_sweep_replace(rules_sweep *s, const uint32_t *table, const rules_match *m, vyre_status *out_status)
{
  const vyre_view *v = s->v;
  const uint32_t root = m->reg[0], value = m->reg[m->action[0] >> 4 & 15u];
  vyre_kind kind;
  if ((m->action[0] & 15u) == RULES_LITERALLY) {
    rewrite_to_literal(s, m, rules_compute(table, v, m, m->action + 1, &kind));
    return true;
  }
  if (rules_value_is_literal(v, value)) {
    rewrite_to_literal(s, m, rules_value_bits(v, value));
    return true;
  }
  if (VYRE_ROW_TYPE(v->op[value]) != VYRE_ROW_TYPE(v->op[root]) || (VYRE_ROW_FLAGS(v->op[root]) & VYRE_ROW_NONUNIFORM) != 0)
    return false;
  if (begin_forwarding(s))
    s->forward[root] = value < s->rows ? s->forward[value] : value;
  else
    *out_status = s->host->out_of_memory(s->ctx);
  return true;
}

void
rules_sweep_rewrite(rules_sweep *s, const rules_match *m, uint32_t op, uint32_t flags, uint64_t imm, uint32_t a, uint32_t b,
                    uint32_t c)
{
  const uint32_t root = m->reg[0], kept = VYRE_ROW_FLAGS(s->v->op[root]) & VYRE_ROW_NONUNIFORM;
  s->host->rewrite(s->module, root, VYRE_ROW(op, VYRE_ROW_TYPE(s->v->op[root]), flags | kept | m->exact | m->relaxed),
                   (uint32_t)imm, (uint32_t)(imm >> 32), a, b, c);
  s->changed = true;
  s->rewritten++;
}

/* ---- the sweep ------------------------------------------------------------------------------------------------------- */

bool
rules_sweep_step(rules_sweep *s, uint32_t row, rules_apply apply, void *user, vyre_status *out_status)
{
  const vyre_view *v = s->v;
  for (uint32_t t = 0; t < 2 && s->tables[t]; t++) {
    rules_match m;
    uint32_t candidate = 0;
    while (rules_find(s->tables[t], v, row, s->scope, candidate, &m)) {
      if (apply(s, user, s->tables[t], &m, out_status)) {
        s->hits++;
        if (t == 0)
          s->used[m.rule]++;
        else
          s->users++;
        return true;
      }
      candidate = m.candidate + 1;
    }
  }
  return false;
}

static bool
is_forwarded(const rules_sweep *s, uint32_t row)
{
  return s->forward && s->forward[row] != row;
}

static vyre_status
sweep_row(rules_sweep *s, uint32_t row, rules_apply apply, void *user)
{
  vyre_status status = VYRE_OK;
  if ((VYRE_ROW_FLAGS(s->v->op[row]) & VYRE_ROW_DECO) != 0 || rules_sweep_is_pinned(s, row))
    return VYRE_OK;
  for (uint32_t steps = 0; steps < MOST_STEPS && !status && !is_forwarded(s, row); steps++)
    if (!rules_sweep_step(s, row, apply, user, &status))
      break;
  return status;
}

/* Sweeps the rows from `from` to before `to`. */
static vyre_status
sweep_program(rules_sweep *s, uint32_t from, uint32_t to, rules_order order, rules_apply apply, void *user)
{
  const bool backward = order == RULES_BACKWARD_ORDER;
  for (uint32_t i = from; i < to; i++) {
    const uint32_t row = backward ? to - 1 - (i - from) : i;
    rules_sweep_operands(s, row);
    if (rules_sweep_may_step(s, row))
      VYRE_TRY(sweep_row(s, row, apply, user));
  }
  return VYRE_OK;
}

vyre_status
rules_sweep_begin(rules_sweep *s)
{
  VYRE_TRY(pin_rows(s));
  s->used = s->host->alloc(s->ctx, sizeof(uint32_t) * (s->tables[0][RULES_TABLE_RULES] + 1));
  return s->used ? VYRE_OK : s->host->out_of_memory(s->ctx);
}

vyre_status
rules_sweep_run(rules_sweep *s, rules_order order, rules_apply apply, void *user)
{
  const vyre_view *v = s->v;
  const bool backward = order == RULES_BACKWARD_ORDER;
  VYRE_TRY(rules_sweep_begin(s));
  for (uint32_t program = backward ? v->last[0] : v->first[0]; program; program = backward ? v->prev[program] : v->next[program]) {
    s->scope = rules_scope_of(v->imm[program]);
    VYRE_TRY(sweep_program(s, program, v->next[program] ? v->next[program] : s->rows, order, apply, user));
  }
  return VYRE_OK;
}

void
rules_sweep_report(const rules_sweep *s, const char *const *names, uint32_t count)
{
  s->host->count(s->ctx, "rows rewritten", s->rewritten);
  s->host->count(s->ctx, "operands replaced", s->replaced);
  if (s->hits)
    rules_report_uses(s->ctx, s->users, s->used, names, count);
}

void
rules_report_uses(vyre_pass_ctx *ctx, uint32_t users, const uint32_t *used, const char *const *names, uint32_t count)
{
  if (users)
    ctx->host->count(ctx, "uses of the file's rules", users);
  for (uint32_t i = 0; i < count; i++)
    if (used[i])
      ctx->host->count(ctx, names[i], used[i]);
}
