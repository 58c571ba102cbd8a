/* Optimizes kernels for devices with the passes of vyre.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "optimize.h"
#include "vyre/passmgr.h"

#include <string.h>

static const char passes[] = "default<O2>";

static vyre_registry *registry;

vyre_status
kernelc_optimize_begin(const name_list *plugins)
{
  VYRE_TRY(vyre_registry_create(NULL, &registry));
  if (plugins->count == 0)
    return vyre_registry_load_core_named(registry, passes, strlen(passes));
  for (uint32_t i = 0; i < plugins->count; i++)
    VYRE_TRY(vyre_registry_load(registry, plugins->names[i], VYRE_ORIGIN_CORE));
  return VYRE_OK;
}

vyre_status
kernelc_optimize(vyre_module *module)
{
  vyre_pipeline *pipeline;
  VYRE_TRY(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, NULL);
  vyre_pipeline_destroy(pipeline);
  return status;
}

void
kernelc_optimize_end(void)
{
  vyre_registry_destroy(registry);
}
