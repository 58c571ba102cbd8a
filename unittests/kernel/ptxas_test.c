/* What ptxas makes of the PTX of passes: it takes all of it, and no kernel spills registers.  Where there is no ptxas, it says so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundle.h"
#include "passmgr/phases.h" /* there is another one beside this file */
#include "sequence_parts.h"
#include "vyre/passmgr.h"

static const uint32_t devices[] = {75, 80, 90, 100};
enum { DEVICES = sizeof devices / sizeof *devices };

static char path[64];

static bool
has_ptxas(void)
{
  return VYRE_PTXAS[0] == '/' && access(VYRE_PTXAS, X_OK) == 0;
}

typedef struct outcome {
  unsigned registers, stores, loads;
} outcome;

static outcome
assemble(const vyre_phase_kernel *kernel, uint32_t sm, const char *what)
{
  char command[256], line[512], said[512] = "nothing";
  outcome found = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(kernel->code, 1, kernel->size, file), kernel->size);
  assert_int_equal(fclose(file), 0);
  snprintf(command, sizeof command, "%s -arch=sm_%u -v -o /dev/null %s 2>&1", VYRE_PTXAS, sm, path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  while (fgets(line, sizeof line, pipe)) {
    const char *used = strstr(line, "Used "), *frame = strstr(line, "stack frame, ");
    if (strstr(line, "error"))
      snprintf(said, sizeof said, "%s", line);
    if (used)
      sscanf(used, "Used %u", &found.registers);
    if (frame)
      sscanf(frame, "stack frame, %u bytes spill stores, %u", &found.stores, &found.loads);
  }
  if (pclose(pipe) != 0)
    fail_msg("%s: ptxas for sm_%u said %s", what, sm, said);
  if (found.registers == UINT32_MAX || found.stores == UINT32_MAX)
    fail_msg("%s: ptxas for sm_%u said nothing of registers", what, sm);
  if (found.stores || found.loads)
    fail_msg("%s: spills for sm_%u, %u bytes of stores and %u of loads", what, sm, found.stores, found.loads);
  return found;
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
    print_message(" %u", assemble(kernel, devices[i], what).registers);
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
}

static void
no_kernel_of_a_pass_spills(void **state)
{
  vyre_registry *registry;
  uint32_t checked = 0;
  (void)state;
  if (!has_ptxas()) {
    print_message("ptxas is missing: nothing is said about what it makes of the kernels\n");
    skip();
  }
  snprintf(path, sizeof path, "/tmp/vyre-kernel-ptxas-%ld.ptx", (long)getpid());
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
  unlink(path);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_kernel_of_a_pass_spills)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
