/* A plugin with passes for the tests of the manager: passes that work, fail, or report false results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* beta exports the same name: each plugin must call its own function. */
VYRE_PLUGIN_EXPORT const char *plugin_motto(void);
const char *
plugin_motto(void)
{
  return "acme was here";
}

/* Returns the first row of `op`, or 0 if there is none. */
static uint32_t
first_of(const vyre_view *v, uint32_t op)
{
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == op)
      return row;
  return 0;
}

static vyre_status
nothing(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

/* Reports its parameters. */
static vyre_status
unroll(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  (void)module;
  *out = VYRE_UNCHANGED;
  host->count(ctx, "factor", host->param(ctx, "factor"));
  host->count(ctx, "quiet", host->param(ctx, "quiet"));
  host->count(ctx, "careful", host->param(ctx, "careful"));
  host->count(ctx, "mode", host->param(ctx, "mode"));
  if (!host->param(ctx, "quiet"))
    host->remark(ctx, 0, "nothing to unroll");
  return VYRE_OK;
}

/* Decrements the literal of the first `add` with a literal over 0, and so changes the module as many times as the literal. */
static vyre_status
step(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_add || !(VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) || v->imm[row] == 0)
      continue;
    ctx->host->rewrite(module, row, v->op[row], v->imm[row] - 1, v->imm_hi[row], v->a[row], 0, 0);
    ctx->host->count(ctx, "steps", 1);
    *out = VYRE_CHANGED;
    return VYRE_OK;
  }
  return VYRE_OK;
}

/* Replaces the value of the first store by `not(not(x))`: the new rows make the manager seal the module. */
static vyre_status
grow(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  uint32_t store = first_of(v, VYRE_OP_store);
  *out = VYRE_UNCHANGED;
  if (!store)
    return VYRE_OK;
  uint32_t op = VYRE_ROW(VYRE_OP_not, VYRE_ROW_TYPE(v->op[v->b[store]]), 0);
  uint32_t once = host->insert_row(module, store, op, 0, 0, v->b[store], 0, 0);
  uint32_t twice = host->insert_row(module, store, op, 0, 0, once, 0, 0);
  host->set_operand(module, store, 1, twice);
  *out = VYRE_CHANGED;
  return VYRE_OK;
}

/* Removes the first store. */
static vyre_status
drop(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  uint32_t store = first_of(ctx->host->view(module), VYRE_OP_store);
  *out = store ? VYRE_CHANGED : VYRE_UNCHANGED;
  if (store)
    ctx->host->kill(module, store);
  return VYRE_OK;
}

static vyre_status
fail(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  *out = VYRE_UNCHANGED;
  return ctx->host->error(ctx, first_of(ctx->host->view(module), VYRE_OP_mul), "multiplication is not supported");
}

static vyre_status
fail_silently(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  *out = VYRE_UNCHANGED;
  return ctx->host->error(ctx, 0, "");
}

/* Returns a status that no host created. */
static vyre_status
fail_wildly(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return (vyre_status)(uintptr_t)16;
}

static vyre_status
run_out(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  *out = VYRE_UNCHANGED;
  return ctx->host->out_of_memory(ctx);
}

static vyre_status
lie(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  vyre_status status = step(ctx, module, out);
  *out = VYRE_UNCHANGED;
  return status;
}

static vyre_status
babble(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = 7;
  return VYRE_OK;
}

/* Sets an operand of the first `add` to a row that does not precede it. */
static vyre_status
spoil(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  uint32_t add = first_of(ctx->host->view(module), VYRE_OP_add);
  *out = add ? VYRE_CHANGED : VYRE_UNCHANGED;
  if (add)
    ctx->host->set_operand(module, add, 0, add);
  return VYRE_OK;
}

/* Fails if loads have no versions, although the pass requires them. */
static vyre_status
need_versions(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  uint64_t loads = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_load)
      continue;
    loads++;
    if (v->version[row] == 0)
      return ctx->host->error(ctx, row, "no version");
  }
  ctx->host->count(ctx, "loads with a version", loads);
  return VYRE_OK;
}

/* Fails unless scratch memory is zero at the start of each run. */
static vyre_status
scratch(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  *out = VYRE_UNCHANGED;
  for (size_t bytes = 1; bytes < 1000000; bytes = bytes * 3 + 1) {
    unsigned char *memory = (unsigned char *)ctx->host->alloc(ctx, bytes);
    if (!memory)
      return ctx->host->out_of_memory(ctx);
    for (size_t i = 0; i < bytes; i++) {
      if (memory[i])
        return ctx->host->error(ctx, 0, "scratch memory is not zero");
      memory[i] = 255;
    }
  }
  return VYRE_OK;
}

static const vyre_param unroll_params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "factor", "copies of the body", 1, 64, 2, 0},
    {sizeof(vyre_param), VYRE_PARAM_FLAG, "quiet", "no remarks", 0, 0, 0, 0},
    {sizeof(vyre_param), VYRE_PARAM_FLAG, "careful", "look twice", 0, 0, 1, 0},
    {sizeof(vyre_param), VYRE_PARAM_WORD, "mode", "optimize for speed or size", 0, 0, 0, "fast|small"},
};

#define PASS(id, text, about, kept)    \
  static const vyre_pass id##_pass = { \
      .struct_size = sizeof(vyre_pass), .name = text, .summary = about, .preserves = (kept), .run = id}

static const vyre_pass unroll_pass = {
    .struct_size = sizeof(vyre_pass),
    .name = "acme.unroll",
    .long_name = "acme.unroll-loops",
    .summary = "report the parameters",
    .help = "It unrolls nothing.",
    .params = unroll_params,
    .param_count = sizeof(unroll_params) / sizeof(unroll_params[0]),
    .run = unroll,
};
static const vyre_pass need_versions_pass = {
    .struct_size = sizeof(vyre_pass),
    .name = "acme.need-versions",
    .summary = "count loads with a version",
    .requires_ = VYRE_VERSIONS,
    .preserves = VYRE_VERSIONS,
    .run = need_versions,
};
PASS(nothing, "acme.nothing", "do nothing", VYRE_VERSIONS);
PASS(step, "acme.step", "decrement a literal", VYRE_VERSIONS);
PASS(grow, "acme.grow", "make rows", 0);
PASS(drop, "acme.drop", "remove a store", 0);
PASS(fail, "acme.fail", "fail at the first mul", 0);
PASS(fail_silently, "acme.fail-silently", "fail with an empty message", 0);
PASS(fail_wildly, "acme.fail-wildly", "return an invalid status", 0);
PASS(run_out, "acme.run-out", "run out of memory", 0);
PASS(lie, "acme.lie", "change the module and report no change", 0);
PASS(babble, "acme.babble", "return an invalid result", 0);
PASS(spoil, "acme.spoil", "break the module", 0);
PASS(scratch, "acme.scratch", "use scratch memory", VYRE_VERSIONS);

VYRE_PLUGIN("acme", "2.1", &unroll_pass, &nothing_pass, &step_pass, &grow_pass, &drop_pass, &fail_pass, &fail_silently_pass,
            &fail_wildly_pass, &run_out_pass, &lie_pass, &babble_pass, &spoil_pass, &need_versions_pass, &scratch_pass)
