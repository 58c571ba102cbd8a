/* Limits: reports an error for a program with too many rows, too long operand paths, or too deeply nested control flow.
 *
 *   rows      rows of one program, including its own row
 *   depth     rows of the longest path over operands, including both ends
 *   nesting   control rows (if, for, loop, switch, block) within each other; 1 for a control row directly in its program
 *
 * Each row checks its own level and region depth, and a program row checks the distance to the next program (limits.vir).  The
 * first row over a limit gives the error, so the error does not depend on the order of the checks.  O(rows).
 *
 * Requires: levels.  Preserves: everything, because nothing changes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "limits-constants.h"
#include "vyre/plugin.h"

/* A limit has the name of its parameter. */
static const vyre_param params[] = {
    {.struct_size = sizeof(vyre_param),
     .type = VYRE_PARAM_UINT,
     .name = "rows",
     .summary = "rows of a program",
     .minimum = 1,
     .maximum = 1u << 28,
     .fallback = VYRE_MOST_ROWS},
    {.struct_size = sizeof(vyre_param),
     .type = VYRE_PARAM_UINT,
     .name = "depth",
     .summary = "rows of the longest path over operands",
     .minimum = 1,
     .maximum = 1u << 28,
     .fallback = VYRE_MOST_DEPTH},
    {.struct_size = sizeof(vyre_param),
     .type = VYRE_PARAM_UINT,
     .name = "nesting",
     .summary = "control rows (if, for, loop, switch, block) within each other",
     .minimum = 0,
     .maximum = 1u << 28,
     .fallback = VYRE_MOST_NESTING},
};

static vyre_status
fail(vyre_pass_ctx *ctx, uint32_t row, uint32_t over)
{
  switch (over) {
  case VIR_OVER_ROWS:
    return ctx->host->error(ctx, row,
                            "limit 'rows': the program has too many rows\n"
                            "Fix: raise the limit with limits<rows=N>, or split the program");
  case VIR_OVER_DEPTH:
    return ctx->host->error(ctx, row,
                            "limit 'depth': the longest path over operands to this row has too many rows\n"
                            "Fix: raise the limit with limits<depth=N>, or store an intermediate value in a variable");
  default:
    return ctx->host->error(ctx, row,
                            "limit 'nesting': control rows nest too deeply here\n"
                            "Fix: raise the limit with limits<nesting=N>, or nest less");
  }
}

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  uint32_t *most = ctx->host->memory(ctx, "most", 4);
  if (!most)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < 3; i++)
    most[i] = (uint32_t)ctx->host->param(ctx, params[i].name);
  most[3] = ctx->host->view(module)->rows;
  return VYRE_OK;
}

static vyre_status
finish(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const uint32_t over = *ctx->host->memory(ctx, "over", 0);
  (void)module;
  return over == UINT32_MAX ? VYRE_OK : fail(ctx, over >> 4, over & 15u);
}

extern const vyre_phases limits_phases;

static const vyre_pass limits_pass = {
    .struct_size = sizeof(vyre_pass),
    .name = "limits",
    .summary = "report programs with too many rows, too long operand paths or too deep nesting",
    .help = "Reports the limit and the first row over it as an error.  Changes nothing.",
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .requires_ = VYRE_LEVELS,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .phases = &limits_phases,
    .prepare = prepare,
    .finish = finish,
};
VYRE_PLUGIN("limits", "1.0", &limits_pass)
