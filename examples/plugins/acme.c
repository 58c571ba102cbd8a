/* An example of a pass: replaces integer multiplications by a power of two by shifts.
 *
 * `mul x, 2^k` on i32 and u32, also on vectors with a splat literal, equals `shl x, k`.  Both wrap, and a count below the width is
 * defined in strict and relaxed programs.  Rows are rewritten in place.
 *
 * Limits: only literals; with max=K only counts up to K.  O(rows).
 *
 * Requires: nothing.  Preserves: all analyses, because rows keep their positions, operands and effects.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

/* Returns k for 2^k, or 32 if the value is not a power of two. */
static uint32_t
log2_of(uint32_t value)
{
  for (uint32_t k = 0; k < 32; k++)
    if (value == 1u << k)
      return k;
  return 32;
}

static bool
is_multiplication_by_literal(const vyre_view *view, uint32_t row, uint64_t *out)
{
  uint32_t op = view->op[row];
  vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(op));
  return VYRE_ROW_OP(op) == VYRE_OP_mul && (kind == VYRE_I32 || kind == VYRE_U32) && vyre_row_literal(view, row, 1, out);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *view = host->view(module);
  uint64_t most = host->param(ctx, "max");
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < view->rows; row++) {
    uint64_t literal;
    if (!is_multiplication_by_literal(view, row, &literal))
      continue;
    uint32_t k = log2_of((uint32_t)literal);
    if (k > most || k == 32)
      continue;
    uint32_t op = view->op[row];
    host->rewrite(module, row, VYRE_ROW(VYRE_OP_shl, VYRE_ROW_TYPE(op), VYRE_ROW_FLAGS(op) | VYRE_ROW_IMM), k, 0, view->a[row], 0, 0);
    host->count(ctx, "multiplications", 1);
    *out = VYRE_CHANGED;
  }
  return VYRE_OK;
}

static const vyre_param params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "max", "the largest shift count", 0, 31, 31, NULL},
};

static const vyre_pass mul_to_shl = {
    .struct_size = sizeof(vyre_pass),
    .name = "acme.mul-to-shl",
    .summary = "turn multiplications by powers of two into shifts",
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .preserves = VYRE_ANALYSES,
    .run = run,
};

VYRE_PLUGIN("acme", "1.0", &mul_to_shl)
