/* The clock of durations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds since some moment.  The clock is not set while programs run. */
static inline uint64_t
clock_now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
