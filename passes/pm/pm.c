/* Pattern matching: applies the rules whose replacement is an operand, a literal, or one row over existing rows.
 *
 * The rules are data (docs/rules-format.md, docs/rules.md): the built-in ones of passes/pm, compiled to a table when vyre is
 * built, and those of a user's file.  A row is rewritten in place, or its uses become uses of a row reached through its
 * operands.  No row is added or moved.  One sweep in program order applies rules to each row until none matches.  Operands come
 * first.  O(rows).
 *
 * Limits: a literal without a const row can only be an operand if the op accepts an immediate.  Patterns match rows as written,
 * and comparisons in canon's form.  Pinned rows are not rewritten.  Rows with decorations are not part of a match.
 *
 * Requires: nothing.  Preserves: versions, loops, dominance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <string.h>

#include "pm-rules.inc"

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  rules_sweep s = {.ctx = ctx, .host = ctx->host, .module = module, .v = v, .rows = v->rows, .tables = {built_in}};
  *out = VYRE_UNCHANGED;
  rules_table users;
  VYRE_TRY(rules_read_user(ctx, RULES_FOR_PM, &users));
  s.tables[1] = users.words;
  VYRE_TRY(rules_sweep_run(&s, RULES_FORWARD_ORDER, rules_apply_in_place, NULL));
  rules_sweep_report(&s, built_in_names, built_in[RULES_TABLE_RULES]);
  *out = s.changed ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_host *host = ctx->host;
  const uint32_t own = sizeof built_in / sizeof *built_in;
  rules_sweep s = {.ctx = ctx, .host = host, .module = (vyre_module *)module, .v = host->view(module), .tables = {built_in}};
  rules_table users;
  s.rows = s.v->rows;
  VYRE_TRY(rules_read_user(ctx, RULES_FOR_PM, &users));
  VYRE_TRY(rules_sweep_begin(&s));
  uint32_t *rules = host->memory(ctx, "rules", own + users.count), *user = host->memory(ctx, "user", 1);
  uint32_t *used = host->memory(ctx, "used", built_in[RULES_TABLE_RULES]), *pinned = host->memory(ctx, "pinned", 0);
  if (!rules || !user || !used || !pinned)
    return host->out_of_memory(ctx);
  memcpy(rules, built_in, sizeof built_in);
  if (users.count)
    memcpy(rules + own, users.words, users.count * sizeof *rules);
  *user = users.count ? own : 0;
  for (uint32_t row = 1; row < s.rows && s.pinned; row++)
    pinned[row] = rules_sweep_is_pinned(&s, row);
  return VYRE_OK;
}

static vyre_status
finish(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const uint32_t *used = ctx->host->memory(ctx, "used", 0), *users = ctx->host->memory(ctx, "users", 0);
  (void)module;
  rules_report_uses(ctx, *users, used, built_in_names, built_in[RULES_TABLE_RULES]);
  return VYRE_OK;
}

extern const vyre_phases pm_phases;

static const vyre_param params[] = {RULES_PARAM};

static const vyre_pass pm = {
    .struct_size = sizeof(vyre_pass),
    .flags = VYRE_PASS_KEEPS_ORDER | VYRE_PASS_PREPARES_EARLY,
    .name = "pm",
    .long_name = "pattern-match",
    .summary = "replace rows by simpler ones in place, by rewrite rules",
    .help = built_in_help,
    .params = params,
    .param_count = 1,
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
    .phases = &pm_phases,
    .prepare = prepare,
    .finish = finish,
};
VYRE_PLUGIN("pm", "1.0", &pm)
