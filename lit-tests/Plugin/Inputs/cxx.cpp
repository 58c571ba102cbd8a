/* A plugin in C++17 that includes only plugin.h, needs API 1.0, and accepts rows of unknown ops.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define VYRE_PLUGIN_NEEDS  VYRE_ABI(1, 0)
#define VYRE_PLUGIN_OPSETS 0, VYRE_OPSET_ANY
#include "vyre/plugin.h"

namespace
{

vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  *out = VYRE_UNCHANGED;
  const vyre_view *view = ctx->host->view(module);
  uint64_t rows = 0;
  for (uint32_t row = view->first[0]; row != 0; row = vyre_view_after(view, row))
    rows += vyre_row_is_pure(view, row);
  ctx->host->count(ctx, "pure rows", rows);
  return VYRE_OK;
}

/* Returns the descriptor.  Fields are set by name: C++17 has no designated initializers, and later versions append fields. */
constexpr vyre_pass
describe()
{
  vyre_pass pass{};
  pass.struct_size = sizeof(vyre_pass);
  pass.name = "cxx.count";
  pass.summary = "count pure rows";
  pass.preserves = VYRE_VERSIONS;
  pass.run = run;
  return pass;
}

constexpr vyre_pass pass = describe();

} // namespace

VYRE_PLUGIN("cxx", "1.0", &pass)
