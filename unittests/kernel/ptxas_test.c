/* Compiles all PTX of passes with ptxas.  Each kernel has at most 96 registers and spills none.  Skipped if ptxas is missing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "bundle.h"
#include "passmgr/resident/phases.h"
#include "ptxas.h"
#include "passmgr/resident/sequence_parts.h"
#include "vyre/passmgr.h"

static const uint32_t devices[] = {75, 80, 90, 100};
enum { DEVICES = sizeof devices / sizeof *devices };
enum { MOST_REGISTERS = 96 };

static uint32_t
assemble(const vyre_phase_kernel *kernel, uint32_t sm, const char *what)
{
  ptxas_result result;
  check_ptxas(kernel->code, kernel->size, sm, "-v", what, &result);
  if (result.spilled || result.most > MOST_REGISTERS)
    fail_msg("%s: %u registers for sm_%u, and %u bytes of spill stores and loads", what, result.most, sm, result.spilled);
  return result.most;
}

static void
check(const vyre_phase_kernel *kernel, const char *pass, const char *kind, uint32_t index)
{
  char what[128];
  if (!kernel->code)
    return;
  snprintf(what, sizeof what, "%s, %s %u", pass, kind, index);
  print_message("%-32s %6u bytes, registers:", what, (unsigned)kernel->size);
  for (uint32_t i = 0; i < DEVICES; i++)
    print_message(" %u", assemble(kernel, devices[i], what));
  print_message("\n");
}

static void
check_all(const vyre_phases *phases, const char *pass)
{
  const vyre_phase_kernels *kernels = vyre_phases_kernels(phases, 1u << VYRE_PHASE_PTX);
  if (!kernels)
    fail_msg("%s has no PTX", pass);
  for (uint32_t i = 0; i < phases->phase_count; i++) {
    check(&kernels->rows[i], pass, "rows of phase", i);
    check(&kernels->programs[i], pass, "programs of phase", i);
  }
  for (uint32_t i = 0; i < phases->step_count; i++)
    check(&kernels->levels[i], pass, "programs of step", i);
  if (VYRE_HAS(vyre_phase_kernels, kernels, pass))
    check(kernels->pass, pass, "programs of all steps", 0);
}

TEST(kernels_of_passes_have_few_registers_and_spill_none)
{
  vyre_registry *registry;
  uint32_t checked = 0;
  if (!needs_ptxas())
    return;
  print_message("for sm_75, 80, 90, 100:\n");
  check_all(&compare_phases, "(compare)");
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_load_folder(registry, test_file("lib/vyre/passes"), VYRE_ORIGIN_CORE));
  for (uint32_t i = 0; i < registry->pass_count; i++)
    if (registry->passes[i]->pass.phases) {
      check_all(registry->passes[i]->pass.phases, registry->passes[i]->pass.name);
      checked++;
    }
  assert_true(checked >= 8);
  vyre_registry_destroy(registry);
}
