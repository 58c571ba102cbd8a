/* plugin.h alone, in C++17.
 *
 * SPDX-License-Identifier: Apache-2.0 */
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

const vyre_pass pass = {sizeof(vyre_pass), 0, "cxx.count", nullptr, "count pure rows", nullptr, nullptr, 0, 0,
                        VYRE_VERSIONS,     0, run};

} // namespace

VYRE_PLUGIN("cxx", "1.0", &pass)
