/* A plugin that calls what is nowhere.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

extern vyre_status nobody_has_this(void);

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return nobody_has_this();
}

static const vyre_pass pass = {.struct_size = sizeof(vyre_pass), .name = "undefined.pass", .summary = "cannot load", .run = run};
VYRE_PLUGIN("undefined", "1", &pass)
