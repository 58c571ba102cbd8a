/* The tests of a program, which their constructors add.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

enum { MOST_TESTS = 128 };

static struct CMUnitTest tests[MOST_TESTS];
static size_t test_count;
int (*test_runner)(const char *, const struct CMUnitTest *, size_t, CMFixtureFunction, CMFixtureFunction) = _cmocka_run_group_tests;

void
test_add(struct CMUnitTest test)
{
  if (test_count == MOST_TESTS)
    abort();
  tests[test_count++] = test;
}

const struct CMUnitTest *
test_all(size_t *count)
{
  *count = test_count;
  return tests;
}

int
test_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
  if (test_count == 0) {
    fprintf(stderr, "this program has no tests\n");
    return 1;
  }
  return test_runner("tests", tests, test_count, setup, teardown);
}
