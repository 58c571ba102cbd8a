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

/* Returns an error with a line for each of the errors.  The fix of the first one is at the end. */
static vyre_status
report_errors(vyre_pass_ctx *ctx, const char *path, const rules_errors *errors)
{
  const uint32_t kept = rules_errors_kept(errors);
  const size_t room = (kept + 1) * (sizeof(rules_error) + 400);
  char *message = ctx->host->alloc(ctx, room);
  if (!message)
    return ctx->host->out_of_memory(ctx);
  size_t size = 0;
  for (uint32_t i = 0; i < kept; i++) {
    const rules_error *e = &errors->items[i];
    size += (size_t)snprintf(message + size, room - size, "%s%.300s:%u:%u: %s%s%s%s", i ? "\n" : "", path, e->line, e->column,
                             e->message, i ? " (" : "", i ? e->fix : "", i ? ")" : "");
  }
  if (errors->count > kept)
    size += (size_t)snprintf(message + size, room - size, "\nand %u more faulty rules", errors->count - kept);
  snprintf(message + size, room - size, "\nFix: %s", errors->items[0].fix);
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
  rules_errors errors;
  uint32_t others = 0;
  *out = (rules_table){0};
  VYRE_TRY(ctx->host->param_file(ctx, "rules", &text, &length));
  if (!text)
    return VYRE_OK;
  bool is_valid = rules_parse(memory, path, text, length, &set, &errors);
  if (is_valid && !rules_compile(memory, &set, use, out, &errors.items[0])) {
    errors.count = 1;
    is_valid = false;
  }
  if (!is_valid)
    return report_errors(ctx, path, &errors);
  for (uint32_t i = 0; i < set.count; i++)
    others += rules_used_by(&set.rules[i]) != use;
  if (others) {
    snprintf(message, sizeof message, "%u of the %u rules in '%.300s' apply only in %s", others, set.count, path,
             use == RULES_FOR_PM ? "expand, because they insert rows" : "pm, because they insert no row");
    ctx->host->remark(ctx, 0, message);
  }
  return VYRE_OK;
}
