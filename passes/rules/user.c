/* Reads the user's rules: pm<rules=FILE>, expand<rules=FILE>.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <stdio.h>

static void *
allocate(void *user, size_t bytes)
{
  vyre_pass_ctx *ctx = user;
  return ctx->host->alloc(ctx, bytes); /* freed when the run ends */
}

static vyre_status
report_error(vyre_pass_ctx *ctx, const char *path, const rules_error *error)
{
  char message[900];
  snprintf(message, sizeof message, "%.300s:%u:%u: %s\nFix: %s", path, error->line, error->column, error->message, error->fix);
  return ctx->host->error(ctx, 0, message);
}

vyre_status
rules_read_user(vyre_pass_ctx *ctx, rules_use use, rules_table *out)
{
  const char *path = ctx->host->param_text(ctx, "rules");
  const rules_memory memory = {allocate, ctx};
  const char *text;
  char message[400];
  size_t length;
  rules_set set = {0};
  rules_error error;
  uint32_t others = 0;
  *out = (rules_table){0};
  VYRE_TRY(ctx->host->param_file(ctx, "rules", &text, &length));
  if (!text)
    return VYRE_OK;
  if (!rules_parse(memory, path, text, length, &set, &error) || !rules_compile(memory, &set, use, out, &error))
    return report_error(ctx, path, &error);
  for (uint32_t i = 0; i < set.count; i++)
    others += rules_used_by(&set.rules[i]) != use;
  if (others) {
    snprintf(message, sizeof message, "%u of the %u rules in '%.300s' apply only in %s", others, set.count, path,
             use == RULES_FOR_PM ? "expand, because they insert rows" : "pm, because they insert no row");
    ctx->host->remark(ctx, 0, message);
  }
  return VYRE_OK;
}
