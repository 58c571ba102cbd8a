/* The built-in passes: no-op, verify, print.  They have the descriptors of a plugin, and access the manager through their context.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "context.h"
#include "registry.h"

#include "vyre/text.h"

static vyre_status
run_no_op(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static vyre_status
run_verify(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  *out = VYRE_UNCHANGED;
  return vyre_context_own(ctx, vyre_module_check(module, &vyre_context_of(ctx)->options));
}

static vyre_status
run_print(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_context *context = vyre_context_of(ctx);
  const bool analyses = vyre_builtin_requires(context->record, context->values) != 0;
  *out = VYRE_UNCHANGED;
  return vyre_context_own(ctx, vyre_print_module(module, &context->options, analyses));
}

static const vyre_pass no_op = {
    .struct_size = sizeof(vyre_pass),
    .name = "no-op",
    .summary = "do nothing",
    .preserves = VYRE_VERSIONS,
    .run = run_no_op,
};

static const vyre_pass verify = {
    .struct_size = sizeof(vyre_pass),
    .name = "verify",
    .summary = "check all rules of the IR, and fail if the module is invalid",
    .preserves = VYRE_VERSIONS,
    .run = run_verify,
};

#define ANALYSIS(bit, name, what) {sizeof(vyre_param), VYRE_PARAM_FLAG, name, what ", beside each row", 0, 0, 0, NULL},
static const vyre_param print_params[VYRE_ANALYSIS_COUNT] = {VYRE_ANALYSIS_TABLE(ANALYSIS)};

static const vyre_pass print = {
    .struct_size = sizeof(vyre_pass),
    .name = "print",
    .summary = "print the module to standard error",
    .params = print_params,
    .param_count = VYRE_ANALYSIS_COUNT,
    .preserves = VYRE_VERSIONS,
    .run = run_print,
};

uint32_t
vyre_builtin_requires(const vyre_pass_record *record, const uint64_t *values)
{
  uint32_t analyses = 0;
  if (record->pass.run == run_print)
    for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT; i++)
      analyses |= values[i] ? vyre_analyses[i].bit : 0;
  return analyses;
}

const vyre_plugin *
vyre_builtin_query(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&no_op, &verify, &print};
  static const vyre_plugin plugin = {
      .struct_size = sizeof(vyre_plugin),
      .abi = VYRE_PLUGIN_ABI,
      .name = "vyre",
      .version = VYRE_VERSION,
      .opset_min = VYRE_OPSET_VERSION,
      .opset_max = VYRE_OPSET_VERSION,
      .passes = passes,
      .pass_count = sizeof(passes) / sizeof(passes[0]),
  };
  (void)host;
  return &plugin;
}
