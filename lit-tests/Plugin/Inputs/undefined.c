/* A plugin that calls an undefined function.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

extern vyre_status undefined_function(void);

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return undefined_function();
}

static const vyre_pass pass = {.struct_size = sizeof(vyre_pass), .name = "undefined.pass", .summary = "cannot load", .run = run};
VYRE_PLUGIN("undefined", "1", &pass)
