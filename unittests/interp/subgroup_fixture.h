/* Runs texts in subgroups: what the tests of subgroup rows share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBGROUP_FIXTURE_H
#define SUBGROUP_FIXTURE_H

#include "../test.h"
#include "interp_fixture.h"

enum { N = 40 }; /* invocations: with subgroups of 16, the last has 8 */

static uint32_t results[4 * N], values[N];

/* What the text's %x and %y are bound to; %v is x[lindex]. */
static inline launch
prepare(char text[8192], const char *mode, const char *body, uint32_t size)
{
  const int length = snprintf(text, 8192,
                              "program @p %s workgroup(%u, 1, 1) {\n"
                              "  buffer %%x : u32[] storage set(0) binding(0)\n"
                              "  buffer %%y : u32[] storage set(0) binding(1)\n"
                              "  var %%s : u32\n"
                              "  %%i = lindex\n"
                              "  %%v = load %%x[%%i]\n%s}\n",
                              mode, N, body);
  assert_true(length > 0 && length < 8192);
  memset(results, 0xee, sizeof results);
  return (launch){.text = text,
                  .groups = {1, 1, 1},
                  .buffers = {{"x", values, sizeof values}, {"y", results, sizeof results}},
                  .options = {.subgroup = size}};
}

static inline void
run(const char *body, uint32_t size)
{
  char text[8192];
  launch l = prepare(text, "", body, size);
  launch_ok(&l);
}

static inline void
fill_values(uint32_t (*of)(uint32_t i))
{
  for (uint32_t i = 0; i < N; i++)
    values[i] = of(i);
}

static inline uint32_t
scattered(uint32_t i)
{
  return (i * 2654435761u) >> 7;
}

static inline uint32_t
small(uint32_t i)
{
  return i * 7 % 5 + 1;
}

#endif
