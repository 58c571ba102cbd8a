/* Compiles kernels with AMD's compiler, through radv's null device.  Checks that no kernel spills vector registers or needs scratch
 * memory, and that workgroup memory fits every device.  Prints a table.  Arguments select other card families than the default.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../module.h"
#include "device.h"
#include "kernel.h"
#include "radv.h"

#include <inttypes.h>

enum { MOST_SHARED = 16384, PUSH = 32 };

/* The most scalar registers that a kernel may spill to lanes of vector registers, and the reason. */
static const struct {
  const char *kernel;
  uint32_t most;
} known_spills[] = {
    /* cf's evaluator and pm's walk over the rules have masks of deeply nested control */
    {"fold", 64},
    {"fold by program", 80},
    {"match", 64},
    {"match by program", 160},
    {"simplify", 250},
    {"levels 1 by program", 1100}, /* of simplify: all phases but the last ones */
    {"all steps by program", 1200},
};

static const char *const *families;
static size_t family_count;

static uint32_t
most_spills(const char *kernel)
{
  for (size_t i = 0; i < sizeof known_spills / sizeof *known_spills; i++)
    if (strcmp(known_spills[i].kernel, kernel) == 0)
      return known_spills[i].most;
  return 0;
}

static void
check_kernel(const radv *r, const char *pass, const kernel_device *device, uint32_t kernel)
{
  radv_figures f;
  vyre_bytes code = {0};
  const char *name = vyre_row_name(device->module, (vyre_row){device->kernels[kernel].program});
  assert_ok(kernel_device_write(device, kernel, VYRE_PHASE_SPIRV, &code));
  assert_ok(radv_compile(r, &code, KERNEL_ENTRY, &f));
  vyre_bytes_free(&code);
  print_message("%-8s %-22s %6" PRIu64 " %6" PRIu64 " %5" PRIu64 " %5" PRIu64 " %6" PRIu64 " %7" PRIu64 " %4" PRIu64 " %6" PRIu64
                " %9" PRIu64 "\n",
                pass, name, f.words, f.instructions, f.sgprs, f.vgprs, f.spilled_sgprs + f.spilled_vgprs, f.scratch, f.lds, f.code,
                f.latency);
  assert_int_equal(f.count, RADV_FIGURES);
  assert_int_equal(f.spilled_vgprs, 0);
  assert_in_range(f.spilled_sgprs, 0, most_spills(name));
  assert_int_equal(f.scratch, 0);
  assert_true(f.lds <= MOST_SHARED);
  assert_true(f.instructions > 1); /* the driver did not remove the whole kernel */
}

static void
check_file(const radv *r, const char *pass, const char *path)
{
  vyre_bytes messages = {0};
  kernel_file file;
  kernel_expansion expansion;
  kernel_device device;
  vyre_module *module = new_module();
  vyre_status status = kernel_read(&file, path, (vyre_diagnostics){note_message, &messages});
  if (status)
    fail_msg("%s\n%s", vyre_status_text(status), messages.data);
  assert_ok(kernel_expand(&file, &expansion));
  assert_ok(
      vyre_text_parse_lines(module, expansion.text.data, expansion.text.size, path, (vyre_diagnostics){kernel_emit, &expansion}));
  assert_ok(kernel_check(&expansion, module)); /* finds what phases write */
  kernel_expansion_free(&expansion);
  vyre_module_destroy(module);
  assert_ok(kernel_device_create(&file, NULL, NULL, &device));
  for (uint32_t i = 0; i < device.count; i++)
    check_kernel(r, pass, &device, i);
  kernel_device_free(&device);
  kernel_file_free(&file);
}

TEST(kernels_fit_amd_devices)
{
  static const char *const passes[] = {"limits", "canon", "shash", "cid", "cf", "pm", "dce", "simplify"};
  char path[500];
  for (size_t i = 0; i < family_count; i++) {
    radv *r;
    assert_ok(radv_open(families[i], PUSH, &r));
    print_message("\n%-31s  words instrs sgprs vgprs spills scratch  lds   code   latency\n", families[i]);
    for (size_t k = 0; k < sizeof passes / sizeof *passes; k++) {
      snprintf(path, sizeof path, VYRE_SOURCE "/passes/%s/%s.vir", passes[k], passes[k]);
      check_file(r, passes[k], path);
    }
    check_file(r, "(test)", VYRE_SOURCE "/lit-tests/Plugin/Inputs/everything.vir");
    radv_close(r);
  }
}

int
main(int argc, char **argv)
{
  static const char *const defaults[] = {"navi21", "polaris10"};
  families = argc > 1 ? (const char *const *)(argv + 1) : defaults;
  family_count = argc > 1 ? (size_t)(argc - 1) : sizeof defaults / sizeof *defaults;
  return test_run(NULL, NULL);
}
