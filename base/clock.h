/* Clocks that measure durations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the time of the clock in nanoseconds.  Only differences of such times mean something. */
static inline uint64_t
clock_read(clockid_t clock)
{
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the nanoseconds of the monotonic clock.  Changes of the system time do not affect it. */
static inline uint64_t
clock_now(void)
{
  return clock_read(CLOCK_MONOTONIC);
}

#endif
