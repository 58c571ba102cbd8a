/* Pattern matching: the rules whose replacement is an operand, a literal, or one row over rows that are there.
 *
 * The rules are data (docs/rules-format.md, docs/rules.md): those of passes/pm, made into a table when vyre is built, and a user's
 * own file.  A row is rewritten in place, or its uses become uses of a row that is reached through its operands; none is made or
 * moved. One sweep in program order, each row until no rule matches there: what stands below it is done by then.  O(rows).
 *
 * Limits: a literal that has no row can stand only where the op takes an immediate; patterns are looked for as they are written,
 * compares in canon's form; rows that sizes use stay; rows with decorations are no part of a match.
 *
 * requires: nothing      preserves: versions, loops, dominance
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include "pm-rules.inc"

typedef struct operand {
  uint32_t row; /* 0: none that is a row */
  bool literal;
  uint64_t bits;
} operand;

static operand
read_operand(const rules_sweep *s, const uint32_t *table, const rules_match *m, uint32_t descriptor)
{
  vyre_kind kind;
  if ((descriptor & RULES_OPERAND_EXPRESSION) != 0)
    return (operand){0, true, rules_compute(table, s->v, m, table + m->action[1 + (descriptor & 15u)], &kind)};
  if ((descriptor & RULES_OPERAND_REGISTER) == 0)
    return (operand){0};
  const uint32_t value = m->reg[descriptor & 15u];
  if (!rules_value_is_literal(s->v, value))
    return (operand){.row = value};
  return (operand){(value & RULES_LITERAL_OF) != 0 ? 0 : value, true, rules_value_bits(s->v, value)};
}

/* The one row of the replacement.  A literal goes right, where it becomes an immediate. */
static bool
make_row(rules_sweep *s, const uint32_t *table, const rules_match *m)
{
  const uint32_t *row = m->action + 1 + (m->action[0] >> 8);
  const uint32_t op = VYRE_ROW_OP(row[0]), flags = s->v->op_infos[op].flags;
  operand a = read_operand(s, table, m, row[1] & 255u), b = read_operand(s, table, m, row[1] >> 8 & 255u);
  const operand c = read_operand(s, table, m, row[1] >> 16 & 255u);
  if (a.literal && (flags & VYRE_OP_COMMUTES) != 0) {
    const operand left = a;
    a = b;
    b = left;
  }
  const bool immediate = b.literal && (flags & VYRE_OP_TAKES_IMM) != 0;
  if ((a.literal && a.row == 0) || (c.literal && c.row == 0) || (b.literal && !immediate && b.row == 0))
    return false;
  rules_sweep_rewrite(s, m, op, immediate ? VYRE_ROW_IMM : 0, immediate ? b.bits : 0, a.row, immediate ? 0 : b.row, c.row);
  return true;
}

static bool
apply(rules_sweep *s, void *user, const uint32_t *table, const rules_match *m, vyre_status *out_status)
{
  (void)user;
  if ((m->action[0] & 15u) == RULES_MAKE)
    return make_row(s, table, m);
  return rules_sweep_replace(s, table, m, out_status);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  rules_sweep s = {.ctx = ctx, .host = ctx->host, .module = module, .v = v, .rows = v->rows, .tables = {built_in}};
  *out = VYRE_UNCHANGED;
  VYRE_TRY(rules_read_user(ctx, RULES_FOR_PM, &s.tables[1]));
  VYRE_TRY(rules_sweep_run(&s, RULES_FORWARD_ORDER, apply, NULL));
  rules_sweep_report(&s, built_in_names, built_in[RULES_TABLE_RULES]);
  *out = s.changed ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_param params[] = {RULES_PARAM};

static const vyre_pass pm = {
    .struct_size = sizeof(vyre_pass),
    .name = "pm",
    .long_name = "pattern-match",
    .summary = "replace rows by simpler ones in place, by a bank of rules",
    .help = built_in_help,
    .params = params,
    .param_count = 1,
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("pm", "1.0", &pm)
