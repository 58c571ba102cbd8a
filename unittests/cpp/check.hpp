/* Checks of the C++ tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CPP_CHECK_HPP
#define VYRE_CPP_CHECK_HPP

#include <atomic>
#include <cstdio>

static std::atomic<int> failures;

/* Prints and counts a condition that is false. Any thread may use it. */
#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      failures++;                                                                   \
    }                                                                               \
  } while (0)

#endif
