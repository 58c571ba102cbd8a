/* Tests that open many targets: each has a process of its own, as after some thirty instances in one, destroyed one after the
 * other, NVIDIA's driver 580 makes no more.  It is a new program, too: no driver has to work in a copy of a process that has used
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_ALONE_H
#define VYRE_UNITTESTS_ALONE_H

#include "../hang.h"
#include "../test.h"

#include <sys/wait.h>
#include <unistd.h>

/* What main returns.  An argument: the name of a test, to run that one here. */
static inline int
run_alone(int argc, char **argv, CMFixtureFunction prepare, CMFixtureFunction finish)
{
  size_t count;
  const struct CMUnitTest *tests = test_all(&count);
  int failed = 0;
  if (argc > 1) {
    for (size_t i = 0; i < count; i++)
      if (strcmp(tests[i].name, argv[1]) == 0)
        return hang_run(argv[1], &tests[i], 1, prepare, finish);
    return 2;
  }
  for (size_t i = 0; i < count; i++) {
    int result = 0;
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
  return failed ? 1 : 0;
}

#endif
