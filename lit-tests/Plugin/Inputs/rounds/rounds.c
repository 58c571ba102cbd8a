/* Passes that need several rounds of a fixpoint, or break a rule of rounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

extern const vyre_phases peel_phases, swap_phases, silent_phases, drop_phases, retype_phases, twins_phases;

static const vyre_pass peel = {.struct_size = sizeof(vyre_pass),
                               .flags = VYRE_PASS_KEEPS_ORDER,
                               .name = "rounds.peel",
                               .summary = "lower literals by 1",
                               .preserves = VYRE_VERSIONS,
                               .phases = &peel_phases};

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  uint32_t *literals = ctx->host->memory(ctx, "literals", 2);
  (void)module;
  if (!literals)
    return ctx->host->out_of_memory(ctx);
  literals[0] = (uint32_t)ctx->host->param(ctx, "from");
  literals[1] = (uint32_t)ctx->host->param(ctx, "to");
  return VYRE_OK;
}

static const vyre_param params[] = {
    {.struct_size = sizeof(vyre_param), .type = VYRE_PARAM_UINT, .name = "from", .summary = "the literal", .maximum = 1000},
    {.struct_size = sizeof(vyre_param), .type = VYRE_PARAM_UINT, .name = "to", .summary = "its replacement", .maximum = 1000}};

static const vyre_pass swap = {.struct_size = sizeof(vyre_pass),
                               .flags = VYRE_PASS_KEEPS_ORDER | VYRE_PASS_PREPARES_EARLY,
                               .name = "rounds.swap",
                               .summary = "replace a literal by another one",
                               .params = params,
                               .param_count = 2,
                               .preserves = VYRE_VERSIONS,
                               .phases = &swap_phases,
                               .prepare = prepare};

static const vyre_pass silent = {.struct_size = sizeof(vyre_pass),
                                 .flags = VYRE_PASS_KEEPS_ORDER,
                                 .name = "rounds.silent",
                                 .summary = "change a literal, but report no change",
                                 .preserves = VYRE_VERSIONS,
                                 .phases = &silent_phases};

static const vyre_pass drop = {.struct_size = sizeof(vyre_pass),
                               .flags = VYRE_PASS_KEEPS_ORDER,
                               .name = "rounds.drop",
                               .summary = "remove stores of a literal",
                               .preserves = VYRE_VERSIONS,
                               .phases = &drop_phases};

static const vyre_pass retype = {.struct_size = sizeof(vyre_pass),
                                 .flags = VYRE_PASS_KEEPS_ORDER,
                                 .name = "rounds.retype",
                                 .summary = "turn stores of a literal into literals",
                                 .phases = &retype_phases};

static const vyre_pass twins = {.struct_size = sizeof(vyre_pass),
                                .name = "rounds.twins",
                                .summary = "count loads that equal an earlier one",
                                .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
                                .phases = &twins_phases};
VYRE_PLUGIN("rounds", "1.0", &peel, &swap, &silent, &drop, &retype, &twins)
