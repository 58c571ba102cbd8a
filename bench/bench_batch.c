/* Compares many shaders in one module with one at a time: the same pipeline over the same programs, on a target.
 *
 *   bench-batch [-passes=PIPELINE] [-target=NAME] [-rows=N] [-rounds=N] FILE.spv|FILE.comp|FILE.vir ...
 *
 * A round runs the pipeline over each shader by itself, over batches of at most N rows (default: the device's limit), and over
 * each by itself again (A/A).  Reading is not measured.  Putting shaders into a batch and taking them out is measured.  Times
 * are medians: of this thread's processor time as plain C, of wall time on a target.  Files that vyre cannot read are counted
 * and left out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include "base/clock.h"
#include "vyre/batch.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/vir0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-batch";

enum { ONE_BY_ONE, TOGETHER, AGAIN, ADD, TAKE, PARTS };

typedef struct bench {
  vyre_pipeline *pipeline;
  vyre_device *device; /* NULL for plain C */
  vyre_module *module;
  vyre_batch *batch;
  vyre_bytes *files; /* VIR0 */
  uint32_t count, rows, batches;
  uint64_t times[PARTS][BENCH_MOST_ROUNDS];
} bench;

static uint64_t
now(const bench *b)
{
  return b->device ? clock_now() : bench_now();
}

/* Reads a shader and keeps it as VIR0, which is fast to read. */
static bool
read_file(bench *b, const char *path)
{
  vyre_input_kind kind;
  vyre_module_clear(b->module);
  vyre_status status = vyre_input_read(b->module, path, NULL, (vyre_diagnostics){0}, &kind);
  if (!status)
    status = vyre_module_check(b->module, NULL);
  if (!status)
    status = vyre_vir0_write(b->module, NULL, 0, &b->files[b->count]);
  const bool right = !status;
  vyre_status_free(status);
  b->count += right;
  return right;
}

static void
get(const bench *b, uint32_t index)
{
  vyre_module_clear(b->module);
  bench_check(vyre_vir0_read(b->module, b->files[index].data, b->files[index].size, "a file", NULL, 0));
}

static uint64_t
run(const bench *b, vyre_module *module)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .device = b->device};
  const uint64_t start = now(b);
  bench_check(vyre_pipeline_run(b->pipeline, module, &options));
  return now(b) - start;
}

static uint64_t
run_each(const bench *b)
{
  uint64_t time = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    get(b, i);
    time += run(b, b->module);
  }
  return time;
}

static void
run_batch(bench *b, uint32_t round)
{
  b->times[TOGETHER][round] += run(b, vyre_batch_module(b->batch));
  for (uint32_t i = 0; i < vyre_batch_count(b->batch); i++) {
    vyre_module_clear(b->module);
    const uint64_t start = now(b);
    bench_check(vyre_batch_extract(b->batch, i, b->module));
    b->times[TAKE][round] += now(b) - start;
  }
  vyre_batch_clear(b->batch);
  b->batches++;
}

static void
run_together(bench *b, uint32_t round)
{
  b->batches = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    get(b, i);
    const uint32_t rows = vyre_module_view(b->module)->rows, held = vyre_module_view(vyre_batch_module(b->batch))->rows;
    if (vyre_batch_count(b->batch) && (held >= b->rows || rows > b->rows - held)) {
      run_batch(b, round);
      get(b, i);
    }
    const uint64_t start = now(b);
    bench_check(vyre_batch_add(b->batch, b->module));
    b->times[ADD][round] += now(b) - start;
  }
  run_batch(b, round);
}

static void
measure(bench *b, uint32_t rounds)
{
  static const char *const names[PARTS] = {"one by one", "together", "A/A: one by one", "together: put in", "together: take out"};
  double median[PARTS];
  run_each(b); /* warms up, so that a device compiles its kernels */
  for (uint32_t round = 0; round < rounds; round++) {
    b->times[ONE_BY_ONE][round] = run_each(b);
    run_together(b, round);
    b->times[AGAIN][round] = run_each(b);
  }
  for (int part = 0; part < PARTS; part++) {
    median[part] = (double)bench_median(b->times[part], rounds);
    printf("| %s | %.2f | %.3f |\n", names[part], median[part] / 1e6, median[part] / median[ONE_BY_ONE]);
  }
}

static void
open_device(bench *b, const char *name)
{
  const vyre_target_options one_thread = {.struct_size = sizeof one_thread, .threads = 1};
  bench_check(vyre_device_open(bench_target(name), &one_thread, NULL, &b->device));
}

/* ---- the command line -------------------------------------------------------------------------------------------------- */

typedef struct command_line {
  bench_line line;
  const char *passes, *target;
  option_number rows, rounds;
} command_line;

#define AT(field) offsetof(command_line, field)

static const option_row option_rows[] = {
    {.name = "passes", OPTION_TEXT, AT(passes), "PIPELINE", "run this pipeline. Default: default<O2>", OPTION_LAST},
    {.name = "target", OPTION_TEXT, AT(target), "NAME", "run passes on this target. Default: plain C", OPTION_LAST},
    {.name = "rows",
     OPTION_NUMBER,
     AT(rows),
     "N",
     "limit a batch to N rows. Default: the limit of the device",
     OPTION_LAST,
     .least = 1,
     .most = UINT32_MAX},
    {.name = "rounds",
     OPTION_NUMBER,
     AT(rounds),
     "N",
     "measure N rounds. Default: 11",
     OPTION_LAST,
     .least = 1,
     .most = BENCH_MOST_ROUNDS},
    BENCH_HELP_ROWS,
};

static const bench_usage usage = {.about = "Compares many shaders in one module with one at a time.\n",
                                  .files = "FILE.spv|FILE.comp|FILE.vir...",
                                  .needs_files = true,
                                  .rows = option_rows,
                                  .count = sizeof option_rows / sizeof *option_rows};

int
main(int argc, char **argv)
{
  static bench b;
  command_line line = {.passes = "default<O2>", .rows = {.value = UINT32_MAX}, .rounds = {.value = 11}};
  uint32_t left_out = 0;
  bench_parse_rows(&usage, argc, argv, &line);
  const char *passes = line.passes, *target = line.target;
  const uint32_t rounds = (uint32_t)line.rounds.value;
  b.rows = (uint32_t)line.rows.value;
  vyre_registry *registry = bench_registry();
  b.files = bench_allocate(line.line.files.count, sizeof *b.files);
  b.module = bench_module();
  bench_check(vyre_batch_create(NULL, &b.batch));
  for (uint32_t i = 0; i < line.line.files.count; i++)
    left_out += !read_file(&b, line.line.files.names[i]);
  if (b.count == 0)
    bench_check(VYRE_ERROR(VYRE_CODE_INPUT, "vyre can read none of the %u files\nFix: vyre-passmgr -passes=no-op FILE reports why",
                           line.line.files.count));
  bench_check(vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &b.pipeline));
  if (target)
    open_device(&b, target);
  if (b.device && vyre_device_most_rows(b.device) < b.rows)
    b.rows = vyre_device_most_rows(b.device);
  printf("-passes='%s' on %s, %u shaders (%u left out), medians of %u rounds\n| | ms | by one by one |\n| --- | ---: | ---: |\n",
         passes, target ? target : "plain C", b.count, left_out, rounds);
  measure(&b, rounds);
  printf("in %u batches\n", b.batches);
  vyre_pipeline_destroy(b.pipeline);
  vyre_registry_destroy(registry);
  bench_check(vyre_device_close(b.device));
  vyre_batch_destroy(b.batch);
  vyre_module_destroy(b.module);
  for (uint32_t i = 0; i < b.count; i++)
    vyre_bytes_free(&b.files[i]);
  free(b.files);
  return 0;
}
