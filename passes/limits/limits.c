/* Limits: a program that is too large, an operand path that is too long, control that nests too deeply are errors.
 *
 *   rows      rows of one program, its own row counted
 *   depth     rows of the longest path over operands, both ends counted
 *   nesting   control rows (if, for, loop, switch, block) within each other: 1 of one directly in its program
 *
 * Each row looks at its own level and region depth; a program row at where the next one begins.  The first row over a limit gives
 * the error, so that it does not depend on the order of the checks.  O(rows).
 *
 * requires: levels      preserves: everything (changes nothing)
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

typedef enum limit { WITHIN, ROWS, DEPTH, NESTING } limit;

/* Each limit's name is that of its parameter. */
static const vyre_param params[] = {
    {.struct_size = sizeof(vyre_param),
     .type = VYRE_PARAM_UINT,
     .name = "rows",
     .summary = "rows of a program",
     .minimum = 1,
     .maximum = 1u << 28,
     .fallback = 1u << 24},
    {.struct_size = sizeof(vyre_param),
     .type = VYRE_PARAM_UINT,
     .name = "depth",
     .summary = "rows of the longest path over operands",
     .minimum = 1,
     .maximum = 1u << 28,
     .fallback = 1u << 20},
    {.struct_size = sizeof(vyre_param),
     .type = VYRE_PARAM_UINT,
     .name = "nesting",
     .summary = "control rows (if, for, loop, switch, block) within each other",
     .minimum = 0,
     .maximum = 1u << 28,
     .fallback = 1023}, /* SPIR-V's own limit */
};

typedef struct limits {
  uint32_t rows, depth, nesting;
} limits;

/* Around a control row are its program and, of each control row around it, that row and its region. */
static limit
exceeded(const vyre_view *v, const limits *most, uint32_t row)
{
  if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_program && (v->next[row] ? v->next[row] : v->rows) - row > most->rows)
    return ROWS;
  if (v->level[row] >= most->depth)
    return DEPTH;
  const bool is_control = (vyre_op_flags_of(v, row) & VYRE_OP_REGIONS) != 0;
  return is_control && (v->depth[row] + 1) / 2 > most->nesting ? NESTING : WITHIN;
}

static vyre_status
fail(vyre_pass_ctx *ctx, uint32_t row, limit over)
{
  switch (over) {
  case ROWS:
    return ctx->host->error(ctx, row,
                            "limit 'rows': the program has more rows than it may\n"
                            "Fix: raise the limit, limits<rows=N>, or split the program");
  case DEPTH:
    return ctx->host->error(ctx, row,
                            "limit 'depth': the longest path over operands to this row has more rows than it may\n"
                            "Fix: raise the limit, limits<depth=N>, or keep what is in between in a variable");
  default:
    return ctx->host->error(ctx, row,
                            "limit 'nesting': control rows nest more deeply here than they may\n"
                            "Fix: raise the limit, limits<nesting=N>, or nest less");
  }
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  const limits most = {(uint32_t)ctx->host->param(ctx, "rows"), (uint32_t)ctx->host->param(ctx, "depth"),
                       (uint32_t)ctx->host->param(ctx, "nesting")};
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    const limit over = exceeded(v, &most, row);
    if (over != WITHIN)
      return fail(ctx, row, over);
  }
  return VYRE_OK;
}

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  uint32_t *most = ctx->host->memory(ctx, "most", 3);
  (void)module;
  for (uint32_t i = 0; most && i < 3; i++)
    most[i] = (uint32_t)ctx->host->param(ctx, params[i].name);
  return most ? VYRE_OK : ctx->host->out_of_memory(ctx);
}

static vyre_status
finish(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const uint32_t over = *ctx->host->memory(ctx, "over", 0);
  (void)module;
  return over == UINT32_MAX ? VYRE_OK : fail(ctx, over >> 4, (limit)(over & 15u));
}

extern const vyre_phases limits_phases;

static const vyre_pass limits_pass = {
    .struct_size = sizeof(vyre_pass),
    .name = "limits",
    .summary = "refuse programs that are too large, compute too deeply or nest too deeply",
    .help = "An error names the limit and the first row over it; nothing is changed.",
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .requires_ = VYRE_LEVELS,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .run = run,
    .phases = &limits_phases,
    .prepare = prepare,
    .finish = finish,
};
VYRE_PLUGIN("limits", "1.0", &limits_pass)
