/* The manager's own passes: no-op, verify, print.  They are descriptors as any plugin's, and reach the manager through their
 * context.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

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
  *out = VYRE_UNCHANGED;
  return vyre_context_own(ctx, vyre_print_module(module, &vyre_context_of(ctx)->options));
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
    .summary = "check every rule of the table, and fail where one is broken",
    .preserves = VYRE_VERSIONS,
    .run = run_verify,
};

static const vyre_pass print = {
    .struct_size = sizeof(vyre_pass),
    .name = "print",
    .summary = "print the module to standard error",
    .preserves = VYRE_VERSIONS,
    .run = run_print,
};

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
