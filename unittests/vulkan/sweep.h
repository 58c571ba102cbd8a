/* Tests that open many targets.
 *
 * A sweep makes one place after the other fail, and opens a device for each.  A GPU's driver takes as long to open one as lavapipe
 * for a hundred, and a sweep tests the target, not the driver.  So on a GPU a sweep tries some of the places, spread over all of
 * them.
 *
 * After some thirty instances in one process, destroyed one after the other, NVIDIA's driver 580 makes no more.  So such tests have
 * a process each.  It is a new program, because no driver has to work in a copy of a process that has used it.
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

/* Runs each test in a process of its own, or, if the program has an argument, the test of that name here.  Returns what main
 * returns.
 */
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
