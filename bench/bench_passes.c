/* Measures the passes as the manager runs them: with the analyses and columns that they need, and with sealing.
 *
 *   bench-passes [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=CASE]
 *   bench-passes [-rounds=N] FILE.spv ...
 *
 * Each pipeline runs over one program of all the rows, and over programs of 1,000 rows ("in 1000s").  Exits with 1 if a
 * pipeline does not grow linearly.  The baseline is a copy loop over as many rows of 44 bytes: the cost of memory alone.
 *
 * With files, the default pipelines run over each file in turn, in one module that is cleared.  Times are relative to the
 * imported rows, and the share of each pass is printed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-passes";

enum { SMALL = 1000 };

typedef struct bench {
  vyre_module *module; /* reused, so that its memory is allocated */
  vyre_registry *registry;
} bench;

static uint64_t
run_pipeline(bench *b, uint32_t rows, uint32_t rows_a_program, const char *text)
{
  bench_fill(b->module, rows, rows_a_program);
  return bench_run_pipeline(b->registry, b->module, text, NULL, bench_now);
}

/* Pipelines, each with a name for its functions. */
// clang-format off
#define PIPELINES(P)              \
  P(canon, "canon")               \
  P(cf, "cf")                     \
  P(shash, "shash")               \
  P(cid, "cid")                   \
  P(pm, "pm")                     \
  P(expand, "expand")             \
  P(contract, "contract")         \
  P(relax, "relax")               \
  P(half, "relax,half")           \
  P(number, "canon,cf,shash,cid") \
  P(cse, "cse")                   \
  P(simplify, "simplify")         \
  P(cprop, "cprop")               \
  P(dbe, "dbe")                   \
  P(early, "early")               \
  P(remainder, "remainder")       \
  P(licm, "licm")                 \
  P(dse, "dse")                   \
  P(dce, "dce")                   \
  P(limits, "limits")             \
  P(clean, "canon,cf,dce")        \
  P(o1, "default<O1>")            \
  P(o2, "default<O2>")            \
  P(o3, "default<O3>")
// clang-format on

#define FUNCTIONS(name, text)                                   \
  static uint64_t run_##name(void *user, uint32_t rows)         \
  {                                                             \
    return run_pipeline(user, rows, rows, text);                \
  }                                                             \
  static uint64_t run_##name##_small(void *user, uint32_t rows) \
  {                                                             \
    return run_pipeline(user, rows, SMALL, text);               \
  }
PIPELINES(FUNCTIONS)

#define CASES(name, text) {text, run_##name}, {text " in 1000s", run_##name##_small},

/* ---- real shaders -------------------------------------------------------------------------------------------------------- */

/* Returns the nanoseconds of the pipeline, summed over all files.  Stores the sums of the rows before and after the pipeline. */
static uint64_t
run_files(bench *b, const vyre_bytes *files, const char **names, int count, const vyre_pipeline *pipeline, vyre_report *report,
          uint64_t rows[2])
{
  const vyre_view *view = vyre_module_view(b->module);
  const vyre_pipeline_options options = {.struct_size = sizeof options, .report = report};
  uint64_t time = 0;
  rows[0] = rows[1] = 0;
  for (int i = 0; i < count; i++) {
    vyre_module_clear(b->module);
    bench_check(vyre_spirv_read(b->module, files[i].data, files[i].size, names[i]));
    bench_check(vyre_module_seal(b->module, NULL));
    rows[0] += view->rows - 1;
    uint64_t start = bench_now();
    bench_check(vyre_pipeline_run(pipeline, b->module, &options));
    time += bench_now() - start;
    rows[1] += view->rows - 1;
  }
  return time;
}

/* Prints the share of each pass in the wall time of the pipeline.  The manager's report has no processor time. */
static void
print_shares(bench *b, const vyre_bytes *files, const char **names, int count, const vyre_pipeline *pipeline, uint32_t rounds)
{
  vyre_report *report;
  vyre_bytes shares = {0};
  uint64_t rows[2];
  bench_check(vyre_report_create(NULL, &report));
  for (uint32_t round = 0; round < rounds; round++)
    run_files(b, files, names, count, pipeline, report, rows);
  bench_check(vyre_report_times(report, &shares));
  printf("%.*s\n", (int)shares.size, shares.data);
  vyre_bytes_free(&shares);
  vyre_report_destroy(report);
}

static void
bench_files(bench *b, const char **names, int count, uint32_t rounds)
{
  static const char *const texts[] = {"default<O1>", "default<O2>"};
  uint64_t times[2][BENCH_MOST_ROUNDS], rows[2][2];
  vyre_pipeline *pipelines[2];
  vyre_bytes *files = bench_allocate((size_t)count, sizeof(*files));
  for (int i = 0; i < count; i++)
    bench_check(vyre_file_read(names[i], &files[i]));
  for (int k = 0; k < 2; k++)
    bench_check(vyre_pipeline_parse(b->registry, texts[k], strlen(texts[k]), "-passes", &pipelines[k]));
  for (uint32_t round = 0; round < rounds; round++)
    for (int k = 0; k < 2; k++)
      times[k][round] = run_files(b, files, names, count, pipelines[k], NULL, rows[k]);
  for (int k = 0; k < 2; k++) {
    const double rows_in = (double)rows[k][0], median = (double)bench_median(times[k], rounds);
    printf("%s: %d files, %.0f rows in, %llu out: %.3f ms, %.1f ns a row in (%.1f to %.1f)\n", texts[k], count, rows_in,
           (unsigned long long)rows[k][1], median * 1e-6, median / rows_in, (double)times[k][0] / rows_in,
           (double)times[k][rounds - 1] / rows_in);
    print_shares(b, files, names, count, pipelines[k], rounds);
    vyre_pipeline_destroy(pipelines[k]);
  }
  for (int i = 0; i < count; i++)
    vyre_bytes_free(&files[i]);
  free(files);
}

int
main(int count, char **arguments)
{
  static const bench_case cases[] = {{BENCH_COPY, bench_run_copy}, PIPELINES(CASES)};
  bench_options options = {
      .about =
          "Measures passes with their analyses and sealing.  With files, measures default<O1> and default<O2> over the files.\n",
      .takes_files = true,
      .rounds = 21,
      .min = 10000,
      .max = 10000000,
      .unit = "rows",
      .most_slope = 1.3};
  bench_parse(count, arguments, &options);
  bench b = {.module = bench_module(), .registry = bench_registry()};
  bool good = true;
  if (options.files.count)
    bench_files(&b, options.files.names, (int)options.files.count, options.rounds);
  else
    good = bench_run(cases, sizeof(cases) / sizeof(cases[0]), BENCH_COPY, &b, &options);
  vyre_registry_destroy(b.registry);
  vyre_module_destroy(b.module);
  return good ? 0 : 1;
}
