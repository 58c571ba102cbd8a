/* Pipelines in tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PIPELINE_H
#define VYRE_UNITTESTS_PIPELINE_H

#include "module.h"

#include "vyre/passmgr.h"
#include "vyre/vir0.h"

/* Returns a registry with the passes of one plugin. */
static inline vyre_registry *
registry_with(vyre_plugin_query query, const char *path, vyre_origin origin)
{
  vyre_registry *registry;
  assert_ok(vyre_registry_create(NULL, &registry));
  assert_ok(vyre_registry_add(registry, query, path, origin));
  return registry;
}

/* Runs the passes of a pipeline's text over the module. */
static inline vyre_status
run_passes(const vyre_registry *registry, const char *text, vyre_module *module, const vyre_pipeline_options *options)
{
  vyre_pipeline *pipeline;
  VYRE_TRY(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, options);
  vyre_pipeline_destroy(pipeline);
  return status;
}

/* Returns the module in its binary form, owned by the caller. */
static inline vyre_bytes
binary_of(const vyre_module *module)
{
  vyre_bytes bytes = {0};
  assert_ok(vyre_vir0_write(module, NULL, 0, &bytes));
  return bytes;
}

#endif
