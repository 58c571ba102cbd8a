/* A plugin of API 1.0, built from the frozen copy of its headers: every host of 1.x must run it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#if VYRE_PLUGIN_ABI != VYRE_ABI(1, 0)
#error "these are not the headers of 1.0"
#endif

/* Replaces multiplications by 2 by additions, with most functions of the host. */
static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  uint32_t *fwd = (uint32_t *)host->alloc(ctx, v->rows * 2 * sizeof *fwd);
  const uint32_t rows = v->rows;
  *out = VYRE_UNCHANGED;
  if (!fwd)
    return host->out_of_memory(ctx);
  for (uint32_t row = 0; row < 2 * rows; row++)
    fwd[row] = row;
  for (uint32_t row = 1; row < rows; row++) {
    const vyre_op_info *info = vyre_op_info_of(v, vyre_op_of(v, row));
    if (vyre_op_of(v, row) != VYRE_OP_mul || !vyre_row_is_pure(v, row) || vyre_row_imm(v, row) != 2 ||
        (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || info->operands != 2)
      continue;
    const uint32_t sum =
        host->insert_row(module, row, VYRE_ROW(VYRE_OP_add, VYRE_ROW_TYPE(v->op[row]), 0), 0, 0, v->a[row], v->a[row], 0);
    host->set_name(module, sum, host->name(module, row));
    fwd[row] = sum;
    host->count(ctx, "multiplications", host->param(ctx, "each"));
    *out = VYRE_CHANGED;
  }
  /* The map must have an element for each row, also for the new rows. */
  if (*out == VYRE_CHANGED)
    host->forward(module, fwd);
  return VYRE_OK;
}

static const vyre_param params[] = {{sizeof(vyre_param), VYRE_PARAM_UINT, "each", "the count of one multiplication", 1, 8, 1, 0}};
static const vyre_pass pass = {.struct_size = sizeof(vyre_pass),
                               .name = "frozen.sums",
                               .summary = "replace multiplications by 2 by additions",
                               .params = params,
                               .param_count = 1,
                               .run = run};

VYRE_PLUGIN("frozen", "1.0", &pass)
