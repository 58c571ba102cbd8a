/* A second plugin, with a pass that has the short name of a pass in acme.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

VYRE_PLUGIN_EXPORT const char *plugin_motto(void);
const char *
plugin_motto(void)
{
  return "beta was here";
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  ctx->host->remark(ctx, 0, plugin_motto());
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static vyre_status
miss(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  ctx->host->remark(ctx, 0, "missed: a loop \"of\" 4 rounds");
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass unroll = {
    .struct_size = sizeof(vyre_pass), .name = "beta.unroll", .summary = "a pass with a name of acme", .run = run};
static const vyre_pass only = {
    .struct_size = sizeof(vyre_pass), .name = "beta.only", .summary = "a pass that acme lacks", .run = run};
static const vyre_pass sorry = {
    .struct_size = sizeof(vyre_pass), .name = "beta.sorry", .summary = "report a missed loop", .run = miss};
VYRE_PLUGIN("beta", "1", &unroll, &only, &sorry)
