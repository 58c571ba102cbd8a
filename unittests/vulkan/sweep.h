/* Tests that open many targets.
 *
 * A sweep fails one place after the other, and opens a device for each place.  A driver of a GPU opens one device in the time in
 * which lavapipe opens a hundred, and a sweep tests the target, not the driver.  So a sweep on a GPU only tries some places,
 * spread over all of them.
 *
 * NVIDIA's driver 580 creates no more instances after about thirty in one process, even if they are destroyed.  So each test has
 * its own process, which runs a new program, because no driver needs to work in a forked process that has used the driver.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_SWEEP_H
#define VYRE_UNITTESTS_SWEEP_H

#include "../budget.h"
#include "../hang.h"
#include "../messages.h"
#include "vyre/target.h"

#include <sys/wait.h>
#include <unistd.h>

enum { SWEEP_FEW = 8 };

/* Returns whether the device is a GPU. */
static inline bool
sweep_is_sparse(void)
{
  static vyre_device_info info;
  if (info.name[0] == '\0') {
    vyre_target *target;
    assert_ok(vyre_target_vulkan.open(NULL, NULL, &target));
    vyre_target_vulkan.describe(target, &info);
    assert_ok(vyre_target_vulkan.close(target));
  }
  return info.kind != VYRE_DEVICE_CPU;
}

/* Returns the distance between two of the places that are tried. */
static inline uint32_t
sweep_stride(uint32_t places)
{
  if (places <= SWEEP_FEW || !sweep_is_sparse())
    return budget_step();
  const uint32_t stride = (places + SWEEP_FEW - 1) / SWEEP_FEW;
  print_message("  one of every %u places\n", stride);
  return stride;
}

/* Runs each test in its own process, or, if the program has an argument, only the test of that name, in this process.  Returns
 * the exit status of the program. */
static inline int
run_alone(int argc, char **argv, CMFixtureFunction prepare)
{
  size_t count;
  const struct CMUnitTest *tests = test_all(&count);
  int failed = 0;
  for (size_t i = 0; i < count; i++) {
    int result = 0;
    if (argc > 1 && strcmp(tests[i].name, argv[1]) == 0)
      return hang_run(argv[1], &tests[i], 1, prepare, NULL);
    if (argc > 1)
      continue;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], tests[i].name, (char *)NULL);
      _exit(2);
    }
    if (child < 0 || waitpid(child, &result, 0) != child || result != 0) {
      fprintf(stderr, "%s failed\n", tests[i].name);
      failed++;
    }
  }
  return argc > 1 ? 2 : failed ? 1 : 0;
}

#endif
