/* Measures the cost of passes on a device, relative to the device's limits.
 *
 *   bench-device [-target=NAME] [-device=NAME] [-rounds=N] [-min=ROWS] [-max=ROWS] [-bytes=N]
 *
 * The same run first measures the bounds.  The floor is the time to submit one kernel of one workgroup and to wait for it.  The
 * bandwidth is that of a kernel that copies -bytes=N, 16 bytes an invocation.
 *
 * Each number of rows is measured twice: as one program, and as programs of 1,000 rows each.  The pipelines are
 * canon,cf,shash,cid,pm,dce and the short canon,cf,shash,cid.  Both run on the device.  Their phases also run on all processors
 * of this machine.  Times are medians of warm runs.  `device` and the share of the bandwidth count only the kernels.  The share
 * assumes that each row has 44 bytes of columns, which are read once and written once.  The last table has the device's time for
 * each pass.  Lines that begin with "1,000 rows" give the latency of small sequences as a multiple of the floor.  From 1,000,000
 * rows on there are at most 3 rounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "base/clock.h"
#include "vyre/passmgr.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-device";

enum { ROW_BYTES = 44, SMALL = 1000, GROUP = 256, LANES = 4, FEW_ROUNDS = 3, MANY_ROWS = 1000000, AXIS = 1 << 15 };

static const char copy_text[] = "program @copy workgroup(256, 1, 1) {\n"
                                "  buffer %x : u32x4[] storage set(0) binding(0)\n"
                                "  buffer %y : u32x4[] storage rw set(0) binding(1)\n"
                                "  %g = gid\n"
                                "  %i = add(mul(%g.y, 8388608u32), %g.x)\n"
                                "  store %y[%i], load(%x[%i])\n"
                                "}\n";

static const char whole[] = "canon,cf,shash,cid,pm,dce", brief[] = "canon,cf,shash,cid";

typedef struct setup {
  const vyre_target_ops *ops;
  vyre_target_options options;
  uint32_t rounds, min, max, bytes;
  double floor_us, bandwidth; /* bytes a second, reads plus writes */
  vyre_registry *registry;
  vyre_module *module;
  vyre_device *device, *processors;
} setup;

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* Measures the floor and the bandwidth.  Uses the device's time if it reports one, otherwise wall time. */
static void
measure_bounds(setup *s)
{
  uint64_t floors[BENCH_MOST_ROUNDS], copies[BENCH_MOST_ROUNDS];
  vyre_target *target;
  vyre_device_buffer from, to;
  vyre_device_info info;
  bench_check(s->ops->open(&s->options, NULL, &target));
  s->ops->describe(target, &info);
  while (s->bytes > info.max_storage)
    s->bytes /= 2;
  bench_check(s->ops->allocate(target, s->bytes, &from));
  bench_check(s->ops->allocate(target, s->bytes, &to));
  const vyre_range ranges[] = {{.buffer = from}, {.buffer = to}};
  const vyre_fill fill = {ranges[0], 7};
  bench_check(s->ops->submit(target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL));
  const uint32_t groups = s->bytes / (4 * LANES * GROUP), x = groups < AXIS ? groups : AXIS;
  const vyre_step one = {
      .kernel = bench_compile_copy(s->ops, target, copy_text, GROUP), .buffers = ranges, .buffer_count = 2, .groups = {1, 1, 1}};
  vyre_step all = one;
  all.groups[0] = x;
  all.groups[1] = groups / x;
  for (uint32_t i = 0; i < s->rounds + 3; i++) { /* the first ones are cold */
    vyre_timing timing;
    const uint64_t start = clock_now();
    bench_check(s->ops->submit(target, &(vyre_sequence){.steps = &one, .step_count = 1}, NULL));
    floors[i < 3 ? 0 : i - 3] = clock_now() - start;
    bench_check(s->ops->submit(target, &(vyre_sequence){.steps = &all, .step_count = 1}, &timing));
    copies[i < 3 ? 0 : i - 3] = timing.device_ns ? timing.device_ns : timing.wait_ns ? timing.wait_ns : timing.host_ns;
  }
  s->floor_us = (double)bench_median(floors, s->rounds) / 1e3;
  s->bandwidth = 2.0 * s->bytes * 1e9 / (double)bench_median(copies, s->rounds);
  printf("device: %s%s%s; driver: %s\n", info.name, info.architecture[0] ? ", " : "", info.architecture, info.driver);
  bench_check(s->ops->close(target));
}

/* ---- passes -------------------------------------------------------------------------------------------------------------- */

static uint64_t
run(const setup *s, vyre_device *device, const char *text, uint32_t rows, uint32_t each, vyre_report *report)
{
  const vyre_pipeline_options how = {.struct_size = sizeof how, .device = device, .report = report};
  bench_fill(s->module, rows, each);
  return bench_run_pipeline(s->registry, s->module, text, &how, clock_now);
}

static uint32_t
rounds_of(const setup *s, uint32_t rows)
{
  return rows >= MANY_ROWS && s->rounds > FEW_ROUNDS ? FEW_ROUNDS : s->rounds;
}

static uint64_t
median_run(const setup *s, vyre_device *device, const char *text, uint32_t rows, uint32_t each, vyre_report *report)
{
  uint64_t times[BENCH_MOST_ROUNDS];
  run(s, device, text, rows, each, NULL); /* compiles kernels and allocates memory */
  for (uint32_t i = 0; i < rounds_of(s, rows); i++)
    times[i] = run(s, device, text, rows, each, report);
  return bench_median(times, rounds_of(s, rows));
}

static void
measure(const setup *s, const char *text, uint32_t rows, uint32_t each, vyre_bytes *small, vyre_bytes *passes)
{
  const uint32_t rounds = rounds_of(s, rows);
  vyre_report *report;
  bench_check(vyre_report_create(NULL, &report));
  const uint64_t there = median_run(s, s->device, text, rows, each, report),
                 here = median_run(s, s->processors, text, rows, each, NULL);
  const double device_ns = (double)vyre_report_device_ns(report) / rounds;
  printf("| %s | %u | %s | %.1f | %.1f | %.1f | %.1f | %.4f | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
         " | %.2f | %.2f |\n",
         text, rows, each < rows ? "1,000s" : "one", (double)there / 1e3, device_ns / 1e3, rows * 1e3 / (double)there,
         device_ns > 0 ? rows * 1e3 / device_ns : 0, device_ns > 0 ? 2e9 * ROW_BYTES * rows / device_ns / s->bandwidth : 0,
         vyre_report_count(report, "(device)", "sequences") / rounds, vyre_report_count(report, "(device)", "host waits") / rounds,
         vyre_report_count(report, "(device)", "kernels launched") / rounds,
         vyre_report_count(report, "(device)", "bytes up") / rounds, vyre_report_count(report, "(device)", "bytes down") / rounds,
         (double)there / 1e3 / s->floor_us, (double)there / (double)here);
  fflush(stdout);
  if (rows == SMALL)
    bench_check(vyre_bytes_printf(small, "1,000 rows of %s, warm: %.1f us, %.2f times the floor\n", text, (double)there / 1e3,
                                  (double)there / 1e3 / s->floor_us));
  bench_check(vyre_bytes_printf(passes, "\n%s, %u rows, %s, %u runs:\n\n", text, rows,
                                each < rows ? "programs of 1,000" : "one program", rounds));
  bench_check(vyre_report_times(report, passes));
  vyre_report_destroy(report);
}

typedef struct command_line {
  bench_line line;
  const char *target, *device;
  option_number rounds, min, max, bytes;
} command_line;

#define AT(field) offsetof(command_line, field)

static const option_row option_rows[] = {
    {.name = "target", OPTION_TEXT, AT(target), "NAME", "measure this target. Default: vulkan", OPTION_LAST},
    {.name = "device", OPTION_TEXT, AT(device), "NAME", "measure this device of the target", OPTION_LAST},
    {.name = "rounds",
     OPTION_NUMBER,
     AT(rounds),
     "N",
     "measure N rounds; at most 3 from 1,000,000 rows on. Default: 11",
     OPTION_LAST,
     .least = 1,
     .most = BENCH_MOST_ROUNDS},
    {.name = "min", OPTION_NUMBER, AT(min), "ROWS", "begin with this many rows. Default: 1000", OPTION_LAST, 10, 100000000},
    {.name = "max", OPTION_NUMBER, AT(max), "ROWS", "end with this many rows. Default: 10000000", OPTION_LAST, 10, 100000000},
    {.name = "bytes",
     OPTION_NUMBER,
     AT(bytes),
     "N",
     "copy N bytes to measure the bandwidth. Default: 268435456",
     OPTION_LAST,
     .least = 1 << 12,
     .most = 1u << 30},
    BENCH_HELP_ROWS,
};

static const bench_usage usage = {.about = "Measures the cost of passes on a device, relative to the device's limits.\n",
                                  .rows = option_rows,
                                  .count = sizeof option_rows / sizeof *option_rows};

static void
parse(int count, char **arguments, setup *s)
{
  command_line line = {.target = "vulkan",
                       .rounds = {.value = 11},
                       .min = {.value = 1000},
                       .max = {.value = 10000000},
                       .bytes = {.value = 256 << 20}};
  bench_parse_rows(&usage, count, arguments, &line);
  *s = (setup){.ops = bench_target(line.target),
               .options = {.struct_size = sizeof(vyre_target_options), .device = line.device},
               .rounds = (uint32_t)line.rounds.value,
               .min = (uint32_t)line.min.value,
               .max = (uint32_t)line.max.value,
               .bytes = (uint32_t)line.bytes.value};
}

int
main(int count, char **arguments)
{
  setup s;
  vyre_bytes passes = {0}, small = {0};
  parse(count, arguments, &s);
  uint32_t rounded = GROUP * LANES * 4; /* stays a power of two, so that the workgroups fill a grid of AXIS columns */
  while (rounded <= s.bytes / 2)
    rounded *= 2;
  s.bytes = rounded;
  s.module = bench_module();
  s.registry = bench_registry();
  measure_bounds(&s);
  bench_check(vyre_device_open(s.ops, &s.options, NULL, &s.device));
  bench_check(vyre_device_open(&vyre_target_cpu, NULL, NULL, &s.processors));
  printf("floor: a warm sequence of one kernel of one workgroup: %.1f us\nbandwidth: a kernel that copies %u bytes: %.2f GB/s\n\n",
         s.floor_us, s.bytes, s.bandwidth / 1e9);
  printf("| passes | rows | programs | whole, us | device, us | Mrows/s, whole | Mrows/s, device | of the copy | sequences | waits "
         "| launches "
         "| bytes up | bytes "
         "down | whole / floor | whole / all processors |\n"
         "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (uint32_t rows = s.min; rows <= s.max; rows *= 10) {
    measure(&s, brief, rows, SMALL, &small, &passes);
    measure(&s, whole, rows, SMALL, &small, &passes);
    if (rows > SMALL)
      measure(&s, whole, rows, rows, &small, &passes);
  }
  printf("\n%s%s", small.data ? small.data : "", passes.data ? passes.data : "");
  vyre_bytes_free(&small);
  vyre_bytes_free(&passes);
  bench_check(vyre_device_close(s.processors));
  bench_check(vyre_device_close(s.device));
  vyre_registry_destroy(s.registry);
  vyre_module_destroy(s.module);
  return 0;
}
