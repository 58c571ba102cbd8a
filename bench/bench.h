/* What benchmarks share: interleaved runs, medians, noise.
 *
 * Every case runs once a round, in turn, so that whatever disturbs the machine disturbs all alike.  The first case runs twice a
 * round, at its start and in its middle (A/A): what these two differ by is noise, and so is any difference between others that is
 * no larger.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_H
#define VYRE_BENCH_H

#include "vyre/status.h"

/* One thing to measure at one size.  Prepares, measures what counts, tidies up; returns the nanoseconds of what counts. */
typedef struct bench_case {
  const char *name;
  uint64_t (*run)(void *user, uint32_t size);
} bench_case;

typedef struct bench_options {
  uint32_t rounds;   /* at most; fewer for large sizes, at least 3 */
  uint32_t min, max; /* sizes: powers of ten in this range */
  const char *only;  /* cases whose name has this in it; NULL: all */
  const char *unit;  /* what a size counts: "rows" */
  uint32_t program;  /* rows of each program, by -program=N; 0: the benchmark has no such option */
  double most_slope; /* limit of the slope from the least size to the greatest; 0: none */
} bench_options;

/* Nanoseconds that this thread had a processor: what other programs take away from it is not counted. */
uint64_t bench_now(void);
/* Sorts times in ascending order. */
void bench_sort(uint64_t *times, size_t count);
/* Prints the message and exits with its code, unless it is OK. */
void bench_check(const char *program, vyre_status status);
/* -rounds=N -min=N -max=N -only=NAME, and -program=N where there is a number for it; anything else prints the usage and exits
 * with 2. */
void bench_parse(int count, char **arguments, bench_options *options);

/* Runs and prints a table: for each size and case the median, the spread (from the first to the third quartile, by the median),
 * units a second, time by that of the case `baseline`, and the slope: by which power of the size the time grew since the size
 * before (1: linear).  Where there is a limit of the slope, a second table compares the least size with the greatest.  False: a
 * case is over that limit. */
bool bench_run(const bench_case *cases, uint32_t count, const char *baseline, void *user, const bench_options *options);

#endif
