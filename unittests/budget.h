/* The amount of work of a test that tries many programs, seeds or failures.
 *
 *   VYRE_SHARE=N   a test tries one Nth of its programs or failures: scripts/test.sh sets it, scripts/test.sh --all does not
 *   VYRE_RUNS=N    the exact number of random programs
 *   VYRE_SEED=N    the first seed
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BUDGET_H
#define VYRE_BUDGET_H

#include <stdint.h>
#include <stdlib.h>

/* Returns the number that the environment variable has, and `fallback` without the variable. */
static inline uint32_t
budget_number(const char *name, uint32_t fallback)
{
  const char *text = getenv(name);
  return text ? (uint32_t)strtoul(text, NULL, 0) : fallback;
}

/* Returns N of VYRE_SHARE=N: a test that fails each allocation in turn fails every Nth. */
static inline uint32_t
budget_step(void)
{
  const uint32_t step = budget_number("VYRE_SHARE", 1);
  return step ? step : 1;
}

/* Returns the number of random programs to try, at least 1, of `runs` that the complete test tries. */
static inline uint32_t
budget_runs(uint32_t runs)
{
  const uint32_t share = runs / budget_step();
  return budget_number("VYRE_RUNS", share ? share : 1);
}
#endif
