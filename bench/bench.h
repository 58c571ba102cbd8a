/* What benchmarks share: interleaved runs, medians, noise.
 *
 * Every case runs once a round, in turn, so that whatever disturbs the machine disturbs all alike.  The first case runs twice a
 * round, at its start and in its middle (A/A): what these two differ by is noise, and so is any difference between others that is
 * no larger.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_H
#define VYRE_BENCH_H

#include "vyre/passmgr.h"
#include "vyre/target.h"

enum { BENCH_MOST_ROUNDS = 101 };

/* Each benchmark defines its name, which stands in its messages. */
extern const char bench_name[];

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
/* Sorts times and returns their median. */
uint64_t bench_median(uint64_t *times, size_t count);
/* Prints the message and exits with its code, unless it is OK. */
void bench_check(vyre_status status);
/* Returns zeroed memory.  Exits if an allocation fails. */
void *bench_take(size_t count, size_t size);
/* Reads an argument "-name=TEXT" or "-name=N", of numbers from `least` to `most`; false: it is another one. */
bool bench_text(const char *argument, const char *name, const char **out);
bool bench_number(const char *argument, const char *name, uint32_t least, uint32_t most, uint32_t *out);
/* -rounds=N -min=N -max=N -only=NAME, and -program=N where there is a number for it; anything else prints the usage and exits
 * with 2. */
void bench_parse(int count, char **arguments, bench_options *options);

/* Runs and prints a table: for each size and case the median, the spread (from the first to the third quartile, by the median),
 * units a second, time by that of the case `baseline`, and the slope: by which power of the size the time grew since the size
 * before (1: linear).  Where there is a limit of the slope, a second table compares the least size with the greatest.  False: a
 * case is over that limit. */
bool bench_run(const bench_case *cases, uint32_t count, const char *baseline, void *user, const bench_options *options);

/* ---- what benchmarks of passes and targets need -------------------------------------------------------------------------- */

/* Clears the module, fills it with programs of `each` rows, `rows` of them in all, and seals it. */
void bench_fill(vyre_module *module, uint32_t rows, uint32_t each);
/* A case: copies as many rows of 44 bytes, the simplest way: what memory alone takes. */
uint64_t bench_run_copy(void *user, uint32_t rows);
#define BENCH_COPY "copy 44 bytes a row"
/* An empty module, and a registry with all passes; the caller's. */
vyre_module *bench_module(void);
vyre_registry *bench_registry(void);
/* Runs the pipeline over the module, and returns the nanoseconds of that by the clock. */
uint64_t bench_run_pipeline(const vyre_registry *registry, vyre_module *module, const char *text, const vyre_pipeline_options *how,
                            uint64_t (*now)(void));
/* A kernel "copy" of a program's text, of that many invocations, from binding 0 to binding 1. */
vyre_kernel bench_compile_copy(const vyre_target_ops *ops, vyre_target *target, const char *text, uint32_t invocations);

#endif
