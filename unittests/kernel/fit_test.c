/* Compiles the kernels of passes with AMD's compiler, through radv's null device.  Checks the number of their vector registers,
 * that none spills these or needs scratch memory, and that workgroup memory fits every device.  Prints a table.  Arguments select
 * other card families than the default.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../status.h"
#include "bundle.h"
#include "passmgr/resident/phases.h"
#include "radv.h"
#include "vyre/passmgr.h"

#include <inttypes.h>

/* A SIMD of polaris10 has room for two waves with 128 registers. */
enum { MOST_SHARED = 16384, MOST_REGISTERS = 128, PUSH = 32 };

/* The most scalar registers that a kernel may spill to lanes of vector registers, and the reason. */
static const struct {
  const char *pass, *kernel;
  uint32_t most;
} known_spills[] = {
    /* cf's evaluator and pm's walk over the rules have masks of deeply nested control */
    {"cf", "fold", 40},
    {"cf", "all steps by program", 90},
    {"pm", "match", 40},
    {"pm", "all steps by program", 90},
    {"simplify", "simplify", 180},
    {"simplify", "step 1 by program", 700}, /* all phases but the last ones */
};

static const char *const *families;
static size_t family_count;

static uint32_t
most_spills(const char *pass, const char *kernel)
{
  for (size_t i = 0; i < sizeof known_spills / sizeof *known_spills; i++)
    if (strcmp(known_spills[i].pass, pass) == 0 && strcmp(known_spills[i].kernel, kernel) == 0)
      return known_spills[i].most;
  return 0;
}

static void
check_kernel(const radv *r, const char *pass, const char *name, const vyre_phase_kernel *kernel)
{
  radv_figures f;
  const vyre_bytes code = {.data = (char *)(uintptr_t)kernel->code, .size = (size_t)kernel->size};
  if (!kernel->code)
    return;
  assert_ok(radv_compile(r, &code, "main", &f));
  print_message("%-8s %-22s %6" PRIu64 " %6" PRIu64 " %5" PRIu64 " %5" PRIu64 " %6" PRIu64 " %7" PRIu64 " %4" PRIu64 " %6" PRIu64
                " %9" PRIu64 "\n",
                pass, name, f.words, f.instructions, f.sgprs, f.vgprs, f.spilled_sgprs + f.spilled_vgprs, f.scratch, f.lds, f.code,
                f.latency);
  assert_int_equal(f.count, RADV_FIGURES);
  assert_in_range(f.vgprs, 0, MOST_REGISTERS);
  assert_int_equal(f.spilled_vgprs, 0);
  assert_in_range(f.spilled_sgprs, 0, most_spills(pass, name));
  assert_int_equal(f.scratch, 0);
  assert_true(f.lds <= MOST_SHARED);
  assert_true(f.instructions > 1); /* the driver did not remove the whole kernel */
}

static void
check_pass(const radv *r, const char *pass, const vyre_phases *phases)
{
  char name[64];
  const vyre_phase_kernels *kernels = vyre_phases_kernels(phases, 1u << VYRE_PHASE_SPIRV);
  if (!kernels)
    fail_msg("%s has no SPIR-V", pass);
  for (uint32_t i = 0; i < phases->phase_count; i++) {
    check_kernel(r, pass, phases->phases[i].name, &kernels->rows[i]);
    snprintf(name, sizeof name, "%s by program", phases->phases[i].name);
    check_kernel(r, pass, name, &kernels->programs[i]);
  }
  for (uint32_t i = 0; i < phases->step_count; i++) {
    snprintf(name, sizeof name, "step %u by program", i);
    check_kernel(r, pass, name, &kernels->levels[i]);
  }
  if (kernels->pass)
    check_kernel(r, pass, "all steps by program", kernels->pass);
}

TEST(kernels_fit_amd_devices)
{
  vyre_registry *registry;
  assert_ok(vyre_registry_create(NULL, &registry));
  assert_ok(vyre_registry_load_folder(registry, test_file("lib/vyre/passes"), VYRE_ORIGIN_CORE));
  assert_ok(vyre_registry_load(registry, test_file("lit-tests/plugins/sweeps.so"), VYRE_ORIGIN_OUTSIDE));
  for (size_t i = 0; i < family_count; i++) {
    radv *r;
    uint32_t checked = 0;
    assert_ok(radv_open(families[i], PUSH, &r));
    print_message("\n%-31s  words instrs sgprs vgprs spills scratch  lds   code   latency\n", families[i]);
    for (uint32_t k = 0; k < vyre_registry_pass_count(registry); k++) {
      const vyre_pass *pass = vyre_registry_pass(registry, k).pass;
      if (pass->phases) {
        check_pass(r, pass->name, pass->phases);
        checked++;
      }
    }
    assert_true(checked >= 8);
    radv_close(r);
  }
  vyre_registry_destroy(registry);
}

int
main(int argc, char **argv)
{
  static const char *const defaults[] = {"navi21", "polaris10"};
  families = argc > 1 ? (const char *const *)(argv + 1) : defaults;
  family_count = argc > 1 ? (size_t)(argc - 1) : sizeof defaults / sizeof *defaults;
  return test_run(NULL, NULL);
}
