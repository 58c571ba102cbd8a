/* Measures the cost of sequences of GPU passes on each target, besides the work of their passes.
 *
 *   bench-sequences [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=PIPELINE] [-program=ROWS]
 *
 * A module of programs of 500 rows, or of -program=ROWS, is optimized by a pipeline of neighbouring GPU passes.  The forms are
 * plain C, phases on this machine's processors, and the first Vulkan device, with all passes as one sequence or each as its
 * own.  Forms take turns, and medians are of wall time.  `cold` is the first run on a device, which compiles kernels and
 * allocates memory.  `device` is the mean of the device's own time of the kernels.  The bytes are uploads and readbacks,
 * relative to the least: each column that the passes name once up, each column that they write once down.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "base/clock.h"
#include "vyre/passmgr.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-sequences";

static bench_options options = {.about = "Measures sequences of GPU passes on each target.\n",
                                .rounds = 11,
                                .min = 1000,
                                .max = 10000,
                                .unit = "rows",
                                .program = 500};

typedef struct form {
  const char *name;
  const vyre_target_ops *target; /* NULL for plain C */
  bool alone;
  vyre_device *device;
  uint64_t cold, times[BENCH_MOST_ROUNDS];
  vyre_report *report;
} form;

static form forms[] = {{.name = "plain C"},
                       {.name = "phases, one thread", .target = &vyre_target_cpu},
                       {.name = "Vulkan, fused", .target = &vyre_target_vulkan},
                       {.name = "Vulkan, each alone", .target = &vyre_target_vulkan, .alone = true},
                       {.name = "A/A: plain C"}};
enum { FORMS = sizeof forms / sizeof *forms };

/* Pipelines.  The first one does almost nothing. */
static const char *const pipelines[] = {"limits", "canon", "canon,cf,pm", "shash,cid", "simplify,dce"};

static uint64_t
run(const vyre_registry *registry, vyre_module *module, const char *text, uint32_t rows, form *f)
{
  const vyre_pipeline_options how = {.struct_size = sizeof how, .device = f->device, .no_fuse = f->alone, .report = f->report};
  bench_fill(module, rows, options.program);
  return bench_run_pipeline(registry, module, text, &how, clock_now);
}

/* Returns the number of names that follow `word` in the lines of the schedule. */
static uint64_t
columns_in(const char *schedule, const char *word)
{
  uint64_t columns = 0;
  for (const char *at = schedule; (at = strstr(at, word)); at++)
    for (const char *c = at; *c != '\n'; c++)
      columns += *c == ' ';
  return columns;
}

/* Returns the bytes of columns that the pipeline moves as one sequence.  `word` is the direction in the schedule. */
static uint64_t
least_bytes(const vyre_registry *registry, const char *text, uint32_t rows, const char *word)
{
  const vyre_schedule_options how = {.struct_size = sizeof how, .on_device = true};
  vyre_pipeline *pipeline;
  vyre_bytes schedule = {0};
  bench_check(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  bench_check(vyre_pipeline_print_schedule(pipeline, &how, &schedule));
  const uint64_t columns = strstr(schedule.data, "down: nothing") && word[0] == 'd' ? 0 : columns_in(schedule.data, word);
  vyre_bytes_free(&schedule);
  vyre_pipeline_destroy(pipeline);
  return columns * rows * sizeof(uint32_t);
}

static uint64_t
count_of(const form *f, const char *name, uint32_t runs)
{
  return vyre_report_count(f->report, "(device)", name) / runs;
}

static void
measure(const vyre_registry *registry, vyre_module *module, const char *text, uint32_t rows, uint32_t rounds)
{
  for (uint32_t i = 0; i < FORMS; i++) {
    bench_check(vyre_report_create(NULL, &forms[i].report));
    forms[i].cold = run(registry, module, text, rows, &forms[i]);
  }
  for (uint32_t round = 0; round < rounds; round++)
    for (uint32_t i = 0; i < FORMS; i++)
      forms[i].times[round] = run(registry, module, text, rows, &forms[i]);
  for (uint32_t i = 0; i < FORMS; i++) {
    form *f = &forms[i];
    printf("| %s | %u | %s | %.1f | %.1f |", text, rows, f->name, (double)f->cold / 1e3,
           (double)bench_median(f->times, rounds) / 1e3);
    if (count_of(f, "sequences", rounds + 1))
      printf(" %.1f | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %.2f | %.2f |\n",
             (double)vyre_report_device_ns(f->report) / 1e3 / (rounds + 1), count_of(f, "sequences", rounds + 1),
             count_of(f, "host waits", rounds + 1), count_of(f, "kernels launched", rounds + 1),
             (double)count_of(f, "bytes up", rounds + 1) / (double)least_bytes(registry, text, rows, "up:"),
             least_bytes(registry, text, rows, "down:")
                 ? (double)count_of(f, "bytes down", rounds + 1) / (double)least_bytes(registry, text, rows, "down:")
                 : 0);
    else
      printf(" | | | | | |\n");
    vyre_report_destroy(f->report);
  }
  fflush(stdout);
}

int
main(int count, char **arguments)
{
  vyre_module *module = bench_module();
  vyre_registry *registry = bench_registry();
  bench_parse(count, arguments, &options);
  for (uint32_t i = 0; i < FORMS; i++) {
    const vyre_target_options one_thread = {.struct_size = sizeof one_thread, .threads = 1};
    if (forms[i].target)
      bench_check(vyre_device_open(forms[i].target, &one_thread, NULL, &forms[i].device));
  }
  printf("| passes | rows | form | cold, us | warm, us | device, us | sequences | waits | kernels | up / least | down / least |\n"
         "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
    for (uint32_t rows = options.min; rows <= options.max && (!options.only || strcmp(options.only, pipelines[i]) == 0); rows *= 10)
      measure(registry, module, pipelines[i], rows, options.rounds);
  for (uint32_t i = 0; i < FORMS; i++)
    bench_check(vyre_device_close(forms[i].device));
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return 0;
}
