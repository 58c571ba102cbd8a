/* Measures the host's work around sequences of GPU passes, with a device that neither runs kernels nor copies memory.
 *
 *   bench-host [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=PIPELINE] [-program=ROWS]
 *
 * A module of programs of 1,000 rows, or of -program=ROWS, is optimized by a pipeline on the idle device of targets/null.  Times
 * are medians of the processor time of warm runs, by row.  The idle device removes no rows, so `seal` is measured with the same
 * pipeline as plain C: its time for all seals of a run.  A table of the work of all rounds follows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "vyre/passmgr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char bench_name[] = "bench-host";

extern const vyre_target_ops vyre_target_null;

static bench_options options = {.about = "Measures the host's work around sequences of GPU passes.\n",
                                .rounds = 9,
                                .min = 1000,
                                .max = 1000000,
                                .unit = "rows",
                                .program = 1000};

static const char *const pipelines[] = {"canon,cf,shash,cid", "canon,cf,shash,cid,pm,dce", "simplify"};

/* Returns nanoseconds a row of all seals in a run of the pipeline as plain C. */
static double
seal_time(const vyre_registry *registry, vyre_module *module, const char *text, uint32_t rows)
{
  vyre_report *report;
  bench_check(vyre_report_create(NULL, &report));
  bench_fill(module, rows, options.program);
  bench_run_pipeline(registry, module, text,
                     &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .report = report}, bench_now);
  const double ns = (double)vyre_report_wall_ns(report, "(seal)");
  vyre_report_destroy(report);
  return ns / rows;
}

static void
measure(const vyre_registry *registry, vyre_module *module, vyre_device *device, const char *text, uint32_t rows)
{
  uint64_t times[2][BENCH_MOST_ROUNDS];
  vyre_report *report;
  vyre_bytes table = {0};
  bench_check(vyre_report_create(NULL, &report));
  for (uint32_t round = 0; round <= options.rounds; round++)
    for (uint32_t again = 0; again < 2; again++) {
      bench_fill(module, rows, options.program);
      const vyre_pipeline_options how = {.struct_size = sizeof how, .device = device, .report = round ? report : NULL};
      times[again][round ? round - 1 : 0] = bench_run_pipeline(registry, module, text, &how, bench_now);
    }
  const double time = (double)bench_median(times[0], options.rounds), same = (double)bench_median(times[1], options.rounds);
  printf("| %s | %" PRIu32 " | %.1f | %.2f | %.1f |\n", text, rows, time / rows, same / time,
         seal_time(registry, module, text, rows));
  bench_check(vyre_report_times(report, &table));
  fprintf(stderr, "%s, %" PRIu32 " rows:\n%s\n", text, rows, (const char *)table.data);
  vyre_bytes_free(&table);
  vyre_report_destroy(report);
}

int
main(int count, char **arguments)
{
  vyre_module *module = bench_module();
  vyre_registry *registry = bench_registry();
  vyre_device *device;
  bench_parse(count, arguments, &options);
  const vyre_target_options idle = {.struct_size = sizeof idle, .device = "idle"};
  bench_check(vyre_device_open(&vyre_target_null, &idle, NULL, &device));
  printf("| passes | rows | ns a row | A/A | seal, ns a row |\n| --- | ---: | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
    for (uint32_t rows = options.min; rows <= options.max && (!options.only || strcmp(options.only, pipelines[i]) == 0); rows *= 10)
      measure(registry, module, device, pipelines[i], rows);
  bench_check(vyre_device_close(device));
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return 0;
}
