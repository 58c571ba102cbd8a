/* A plugin with wrong passes, which vyre-fuzz must find.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* Swaps the operands of a `sub`: x - y is not y - x. */
static vyre_status
exchange(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_sub && v->b[row] && v->a[row] != v->b[row]) {
      ctx->host->rewrite(module, row, v->op[row], v->imm[row], v->imm_hi[row], v->b[row], v->a[row], 0);
      *out = VYRE_CHANGED;
    }
  return VYRE_OK;
}

/* Hoists the load at the start of an arm before the `if`, so that it runs even if the arm does not. */
static vyre_status
speculate(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t control = v->parent[v->parent[row]], path = v->a[row];
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_load || VYRE_ROW_OP(v->op[control]) != VYRE_OP_if || v->prev[row] != path ||
        v->prev[path])
      continue;
    ctx->host->move_before(module, path, control);
    ctx->host->move_before(module, row, control);
    *out = VYRE_CHANGED;
  }
  return VYRE_OK;
}

/* Uses a value outside its scope. */
static vyre_status
escape(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t inside = 0;
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    const bool is_add = v->op[row] == VYRE_ROW(VYRE_OP_add, VYRE_TYPE(VYRE_U32, 1), 0) && v->b[row];
    if (is_add && VYRE_ROW_OP(v->op[v->parent[row]]) != VYRE_OP_program)
      inside = row;
    else if (is_add && inside > v->parent[row]) {
      ctx->host->set_operand(module, row, 1, inside);
      *out = VYRE_CHANGED;
      return VYRE_OK;
    }
  }
  return VYRE_OK;
}

/* Changes the module in every second call only. */
static vyre_status
moody(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  static int calls;
  *out = VYRE_UNCHANGED;
  return calls++ % 2 ? exchange(ctx, module, out) : VYRE_OK;
}

#define PASS(id, text, about) \
  static const vyre_pass id##_pass = {.struct_size = sizeof(vyre_pass), .name = text, .summary = about, .run = id}

PASS(exchange, "fault.exchange", "swap the operands of a sub");
PASS(speculate, "fault.speculate", "hoist a load out of an arm");
PASS(escape, "fault.escape", "use a value outside its scope");
PASS(moody, "fault.moody", "change the module in every second call");

VYRE_PLUGIN("fault", "1.0", &exchange_pass, &speculate_pass, &escape_pass, &moody_pass)
