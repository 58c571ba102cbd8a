/* Pipelines of all passes, for tests of random programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PASSES_PIPELINES_H
#define VYRE_UNITTESTS_PASSES_PIPELINES_H

#include "random_run.h"

#include "vyre/passmgr.h"

/* Parses `count` texts of pipelines.  Their passes are those of vyre and those of the probe plugin. */
static inline vyre_registry *
parse_pipelines(const char *const *texts, uint32_t count, vyre_pipeline **out)
{
  vyre_registry *registry;
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_load_folder(registry, VYRE_TEST_PASSES, VYRE_ORIGIN_CORE));
  assert_null(vyre_registry_load(registry, VYRE_TEST_PROBE, VYRE_ORIGIN_OUTSIDE));
  for (uint32_t i = 0; i < count; i++)
    assert_ok(vyre_pipeline_parse(registry, texts[i], strlen(texts[i]), "-passes", &out[i]), texts[i], 0);
  return registry;
}

static inline void
free_pipelines(vyre_registry *registry, vyre_pipeline **pipelines, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    vyre_pipeline_destroy(pipelines[i]);
  vyre_registry_destroy(registry);
}

#endif
