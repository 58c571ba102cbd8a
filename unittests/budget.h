/* The amount of work of a test that tries many programs, seeds or failures.
 *
 *   VYRE_SHARE=N   a test tries about one Nth of its programs and failures; CMakePresets.json sets it for scripts/test.sh
 *   VYRE_RUNS=N    the exact number of random programs
 *   VYRE_SEED=N    the first seed
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BUDGET_H
#define VYRE_BUDGET_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the number in the environment variable, or `fallback` without the variable. */
static inline uint32_t
budget_number(const char *name, uint32_t fallback)
{
  const char *text = getenv(name);
  if (!text)
    return fallback;
  char *end;
  const unsigned long number = strtoul(text, &end, 0);
  if (end == text || *end || number > UINT32_MAX) {
    fprintf(stderr, "%s is '%s', which is not a number\n", name, text);
    exit(2);
  }
  return (uint32_t)number;
}

/* Returns N of VYRE_SHARE=N, or 1 without the variable. */
static inline uint32_t
budget_share(void)
{
  const uint32_t share = budget_number("VYRE_SHARE", 1);
  return share ? share : 1;
}

/* Returns `all` divided by VYRE_SHARE, at least 1.  Divides numbers of programs, rows or points, and the results that checks
 * expect of them. */
static inline uint32_t
budget_part(uint32_t all)
{
  const uint32_t part = all / budget_share();
  return part ? part : 1;
}

/* Returns the number of random programs to try.  The complete test tries `all`. */
static inline uint32_t
budget_runs(uint32_t all)
{
  return budget_number("VYRE_RUNS", budget_part(all));
}

/* Returns the distance between two places that fail or are damaged.  It is odd, so that the places are not all at the first byte
 * of a word. */
static inline uint32_t
budget_step(void)
{
  return budget_share() | 1u;
}
#endif
