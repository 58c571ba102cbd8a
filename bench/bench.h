/* The parts that all benchmarks share: command lines, runs of cases in turns, medians and noise.
 *
 * Every case runs once a round, in turn, so that disturbances of the machine affect all cases alike.  The first case runs
 * twice a round, at its start and in its middle (A/A).  The difference of these two times is noise.  Differences between cases
 * that are not larger are noise, too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_H
#define VYRE_BENCH_H

#include "cli/options/option_table.h"
#include "vyre/passmgr.h"
#include "vyre/target.h"

enum { BENCH_MOST_ROUNDS = 101 };

/* The benchmark's name for messages.  Each benchmark defines it. */
extern const char bench_name[];

/* A benchmark case.  `run` prepares, measures the case at `size`, and cleans up.  It returns the measured nanoseconds. */
typedef struct bench_case {
  const char *name;
  uint64_t (*run)(void *user, uint32_t size);
} bench_case;

typedef struct bench_options {
  const char *about; /* the purpose, a line of -help */
  uint32_t rounds;   /* at most; large sizes have fewer, at least 3 */
  uint32_t min, max; /* sizes: powers of ten in this range */
  const char *only;  /* part of the names of the cases to run, or NULL for all */
  const char *unit;  /* unit of sizes: "rows" */
  uint32_t program;  /* rows of each program, by -program=N; 0 if there is no such option */
  bool takes_files;  /* the command line may end with files */
  name_list files;
  double most_slope; /* limit of the slope from the least size to the greatest, or 0 */
} bench_options;

/* Returns the processor time of this thread in nanoseconds, so that other programs disturb little. */
uint64_t bench_now(void);
/* Sorts times in ascending order. */
void bench_sort(uint64_t *times, size_t count);
/* Sorts times and returns their median. */
uint64_t bench_median(uint64_t *times, size_t count);
/* Prints an error and exits with its code.  Does nothing if the status is OK. */
void bench_check(vyre_status status);
/* Returns zeroed memory.  Exits if an allocation fails. */
void *bench_allocate(size_t count, size_t size);
/* Returns the target of that name.  Exits with 2 after a message if there is none. */
const vyre_target_ops *bench_target(const char *name);

/* ---- command lines --------------------------------------------------------------------------------------------------------- */

/* The first member of the fields of a benchmark's options. */
typedef struct bench_line {
  const char *help;
  name_list files;
  option_texts texts;
} bench_line;

#define BENCH_HELP_ROWS OPTION_HELP_ROWS(offsetof(bench_line, help))

typedef struct bench_usage {
  const char *about; /* the purpose, a line of -help */
  const char *files; /* "[FILE.spv...]"; NULL if there are none */
  bool needs_files;
  const option_row *rows;
  size_t count;
} bench_usage;

/* Parses the command line into `fields`, which begin with a bench_line and hold the defaults.  Prints the help and exits with 0 for
 * -help.  Exits with 2 after a message if the command line is wrong. */
void bench_parse_rows(const bench_usage *usage, int count, char **arguments, void *fields);
/* Parses the options of benchmarks with sizes: -rounds=N -min=N -max=N -only=NAME, and -program=N if options->program is set. */
void bench_parse(int count, char **arguments, bench_options *options);

/* ---- runs ------------------------------------------------------------------------------------------------------------------ */

/* Runs the cases and prints a table.  Each size and case has the median, the spread (from the first to the third quartile,
 * divided by the median) and units a second.  `x base` is the time divided by that of the case `baseline`.  The slope is the
 * power of the size by which the time grew since the previous size (1 is linear).  If the slope has a limit, a second table
 * compares the least size with the greatest.  Returns false if a case exceeds the limit. */
bool bench_run(const bench_case *cases, uint32_t count, const char *baseline, void *user, const bench_options *options);

/* ---- for benchmarks of passes and targets -------------------------------------------------------------------------------- */

/* Clears the module, fills it with programs of `each` rows, `rows` of them in all, and seals it. */
void bench_fill(vyre_module *module, uint32_t rows, uint32_t each);
/* A case that copies `rows` rows of 44 bytes by memcpy, to show the cost of memory traffic alone. */
uint64_t bench_run_copy(void *user, uint32_t rows);
#define BENCH_COPY "copy 44 bytes a row"
/* Return an empty module, and a registry with all passes.  The caller frees them. */
vyre_module *bench_module(void);
vyre_registry *bench_registry(void);
/* Runs the pipeline over the module.  Returns its nanoseconds by the clock `now`. */
uint64_t bench_run_pipeline(const vyre_registry *registry, vyre_module *module, const char *text, const vyre_pipeline_options *how,
                            uint64_t (*now)(void));
/* Compiles the text of a program that copies binding 0 to binding 1, to a kernel "copy" of workgroups of `invocations`. */
vyre_kernel bench_compile_copy(const vyre_target_ops *ops, vyre_target *target, const char *text, uint32_t invocations);

#endif
