/* A unit test program: cmocka, and the headers that it needs or that most tests use.
 *
 * TEST defines a test and adds it to its program.  The tests of a program run in the order of their definitions.  A program
 * without a main of its own runs them by test_main.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEST_H
#define VYRE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Calls `setup` before the test and `teardown` after it. */
#define TEST_WITH(name, setup, teardown)                               \
  static void name(void **state);                                      \
  __attribute__((constructor)) static void add_##name(void)            \
  {                                                                    \
    test_add((struct CMUnitTest){#name, name, setup, teardown, NULL}); \
  }                                                                    \
  static void name(void **state __attribute__((unused)))

/* Adds a test whose `*state` is the address of `object`. */
#define TEST_OF(function, object)                                                          \
  __attribute__((constructor)) static void add_##function##_##object(void)                 \
  {                                                                                        \
    test_add((struct CMUnitTest){#function "_" #object, function, NULL, NULL, &(object)}); \
  }                                                                                        \
  struct CMUnitTest /* takes the semicolon */

/* Defines the main function of a program that has a setup or a teardown. */
#define TEST_MAIN(setup, teardown)    \
  int main(void)                      \
  {                                   \
    return test_run(setup, teardown); \
  }

void test_add(struct CMUnitTest test);

/* Returns the tests of this program. */
const struct CMUnitTest *test_all(size_t *count);

/* Runs the program's tests between its setup and its teardown, which may be NULL.  Returns the number of failed tests, or 1 if
 * there are no tests. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);

/* The function that runs tests: cmocka's, or hang.h's. */
extern int (*test_runner)(const char *group, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                          CMFixtureFunction teardown);

/* Returns a number below `below` that looks random, and changes the state. */
static inline uint32_t
test_random(uint64_t *state, uint32_t below)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33) % below;
}

/* Returns 64 bits that look random, and changes the state. */
static inline uint64_t
test_random_bits(uint64_t *state)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 32 | *state << 32;
}

#endif
