/* Generated programs, for tests of passes on devices.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_KERNEL_GROWN_H
#define VYRE_UNITTESTS_KERNEL_GROWN_H

#include "../pipeline.h"
#include "bundle.h"
#include "passmgr/resident/resident.h"
#include "program.h"

/* Adds programs of `rows_a_program` rows to the module until it has `rows` rows. */
static inline void
grow_to(vyre_module *module, uint32_t rows, uint32_t rows_a_program)
{
  while (vyre_module_view(module)->rows < rows)
    bench_grow(module, rows_a_program, BENCH_DEEPEST);
}

/* Returns the binary form of a grown module after the passes, which must succeed. */
static inline vyre_bytes
run_grown(const vyre_registry *registry, const char *text, uint32_t rows, uint32_t rows_a_program,
          const vyre_pipeline_options *options)
{
  vyre_module *module = new_module();
  grow_to(module, rows, rows_a_program);
  assert_ok(run_passes(registry, text, module, options));
  vyre_bytes bytes = binary_of(module);
  vyre_module_destroy(module);
  return bytes;
}

/* Returns a registry of the passes of the build's folder. */
static inline vyre_registry *
core_registry(void)
{
  vyre_registry *registry;
  assert_ok(vyre_registry_create(NULL, &registry));
  assert_ok(vyre_registry_load_folder(registry, test_file("lib/vyre/passes"), VYRE_ORIGIN_CORE));
  return registry;
}

#endif
