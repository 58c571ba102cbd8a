/* What passes cost on a device, against what the device can do at best.
 *
 *   bench-device [-target=NAME] [-device=NAME] [-rounds=N] [-min=ROWS] [-max=ROWS] [-bytes=N]
 *
 * First, in the same run, what sets the bounds: the floor, a warm sequence of one kernel of one workgroup (what a submission and a
 * wait cost); and the bandwidth, what a kernel that copies -bytes=N reaches, 16 bytes an invocation.  Then
 * for each number of rows, as one program and as programs of 1,000: canon,cf,shash,cid,pm,dce on the device and by phases on all of
 * this machine's processors, and the short sequence canon,cf,shash,cid.  Times are medians of warm runs; `device` and the share of
 * the bandwidth (44 bytes of columns a row, read once and written once, against the copy) are of the kernels alone.  Per pass the
 * last table has the device's time. Lines that begin with "1,000 rows" have the latency of small sequences as so many floors.
 * From 1,000,000 rows on there are at most 3 rounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "base/clock.h"
#include "program.h"
#include "vyre/passmgr.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_ROUNDS = 101,
  ROW_BYTES = 44,
  SMALL = 1000,
  GROUP = 256,
  LANES = 4,
  FEW_ROUNDS = 3,
  MANY_ROWS = 1000000,
  AXIS = 1 << 15
};

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
  double floor_us, bandwidth; /* bytes a second, each read and each written one counted */
  vyre_registry *registry;
  vyre_module *module;
  vyre_device *device, *processors;
} setup;

static void
check(vyre_status status)
{
  bench_check("bench-device", status);
}

static uint64_t
median(uint64_t *times, uint32_t count)
{
  bench_sort(times, count);
  return times[count / 2];
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

static vyre_kernel
compile(const vyre_target_ops *ops, vyre_target *target)
{
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE, .is_read_only = true},
                                           {.binding = 1, .kind = VYRE_SLOT_STORAGE}};
  vyre_device_info info;
  vyre_module *module;
  vyre_bytes code = {0};
  vyre_kernel kernel;
  ops->describe(target, &info);
  const bool is_ptx = info.forms >> VYRE_KERNEL_PTX & 1u;
  check(vyre_module_create(NULL, 1u << 12, &module));
  check(vyre_text_parse(module, copy_text, sizeof copy_text - 1, "copy.vir", (vyre_diagnostics){0}));
  if (is_ptx)
    check(vyre_ptx_write(module, (vyre_row){0}, &(vyre_ptx_options){.name = "copy"}, &code));
  else
    check(vyre_spirv_write(module, 0, NULL, &code));
  const vyre_kernel_desc desc = {.label = "copy",
                                 .form = is_ptx ? VYRE_KERNEL_PTX : VYRE_KERNEL_SPIRV,
                                 .code = code.data,
                                 .size = code.size,
                                 .entry = "copy",
                                 .workgroup = {GROUP, 1, 1},
                                 .slots = slots,
                                 .slot_count = 2};
  check(ops->compile(target, &desc, &kernel));
  vyre_bytes_free(&code);
  vyre_module_destroy(module);
  return kernel;
}

/* Of the device's own time where it tells, else of the wall clock. */
static void
measure_bounds(setup *s)
{
  uint64_t floors[MOST_ROUNDS], copies[MOST_ROUNDS];
  vyre_target *target;
  vyre_device_buffer from, to;
  vyre_device_info info;
  check(s->ops->open(&s->options, NULL, &target));
  s->ops->describe(target, &info);
  while (s->bytes > info.max_storage)
    s->bytes /= 2;
  check(s->ops->allocate(target, s->bytes, &from));
  check(s->ops->allocate(target, s->bytes, &to));
  const vyre_range ranges[] = {{.buffer = from}, {.buffer = to}};
  const vyre_fill fill = {ranges[0], 7};
  check(s->ops->submit(target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL));
  const uint32_t groups = s->bytes / (4 * LANES * GROUP), x = groups < AXIS ? groups : AXIS;
  const vyre_step one = {.kernel = compile(s->ops, target), .buffers = ranges, .buffer_count = 2, .groups = {1, 1, 1}};
  vyre_step all = one;
  all.groups[0] = x;
  all.groups[1] = groups / x;
  for (uint32_t i = 0; i < s->rounds + 3; i++) { /* the first ones are cold */
    vyre_timing timing;
    const uint64_t start = clock_now();
    check(s->ops->submit(target, &(vyre_sequence){.steps = &one, .step_count = 1}, NULL));
    floors[i < 3 ? 0 : i - 3] = clock_now() - start;
    check(s->ops->submit(target, &(vyre_sequence){.steps = &all, .step_count = 1}, &timing));
    copies[i < 3 ? 0 : i - 3] = timing.device_ns ? timing.device_ns : timing.wait_ns ? timing.wait_ns : timing.host_ns;
  }
  s->floor_us = (double)median(floors, s->rounds) / 1e3;
  s->bandwidth = 2.0 * s->bytes * 1e9 / (double)median(copies, s->rounds);
  printf("device: %s%s%s; driver: %s\n", info.name, info.architecture[0] ? ", " : "", info.architecture, info.driver);
  check(s->ops->close(target));
}

/* ---- passes -------------------------------------------------------------------------------------------------------------- */

static uint64_t
run(const setup *s, vyre_device *device, const char *text, uint32_t rows, uint32_t each, vyre_report *report)
{
  const vyre_pipeline_options how = {.device = device, .report = report};
  vyre_pipeline *pipeline;
  vyre_module_clear(s->module);
  while (vyre_module_view(s->module)->rows < rows && !vyre_module_status(s->module))
    bench_grow(s->module, rows < each ? rows : each, BENCH_DEEPEST);
  check(vyre_module_seal(s->module, NULL));
  check(vyre_pipeline_parse(s->registry, text, strlen(text), "-passes", &pipeline));
  const uint64_t start = clock_now();
  check(vyre_pipeline_run(pipeline, s->module, &how));
  const uint64_t time = clock_now() - start;
  vyre_pipeline_destroy(pipeline);
  return time;
}

static uint32_t
rounds_of(const setup *s, uint32_t rows)
{
  return rows >= MANY_ROWS && s->rounds > FEW_ROUNDS ? FEW_ROUNDS : s->rounds;
}

static uint64_t
median_run(const setup *s, vyre_device *device, const char *text, uint32_t rows, uint32_t each, vyre_report *report)
{
  uint64_t times[MOST_ROUNDS];
  run(s, device, text, rows, each, NULL); /* compiles and takes memory */
  for (uint32_t i = 0; i < rounds_of(s, rows); i++)
    times[i] = run(s, device, text, rows, each, report);
  return median(times, rounds_of(s, rows));
}

static void
measure(const setup *s, const char *text, uint32_t rows, uint32_t each, vyre_bytes *small, vyre_bytes *passes)
{
  const uint32_t rounds = rounds_of(s, rows);
  vyre_report *report;
  check(vyre_report_create(NULL, &report));
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
    check(vyre_bytes_printf(small, "1,000 rows of %s, warm: %.1f us, %.2f times the floor\n", text, (double)there / 1e3,
                            (double)there / 1e3 / s->floor_us));
  check(vyre_bytes_printf(passes, "\n%s, %u rows, %s, %u runs:\n\n", text, rows, each < rows ? "programs of 1,000" : "one program",
                          rounds));
  check(vyre_report_times(report, passes));
  vyre_report_destroy(report);
}

static bool
number(const char *argument, const char *name, uint32_t least, uint32_t most, uint32_t *out)
{
  char *end;
  const size_t length = strlen(name);
  if (strncmp(argument, name, length) != 0)
    return false;
  const unsigned long value = strtoul(argument + length, &end, 10);
  *out = (uint32_t)value;
  return end != argument + length && !*end && value >= least && value <= most;
}

static void
parse(int count, char **arguments, setup *s)
{
  for (int i = 1; i < count; i++) {
    const char *a = arguments[i];
    if (strncmp(a, "-target=", 8) == 0)
      s->ops = vyre_target_find(a + 8);
    else if (strncmp(a, "-device=", 8) == 0)
      s->options.device = a + 8;
    else if (!number(a, "-rounds=", 1, MOST_ROUNDS, &s->rounds) && !number(a, "-min=", 10, 100000000, &s->min) &&
             !number(a, "-max=", 10, 100000000, &s->max) && !number(a, "-bytes=", 1 << 12, 1u << 30, &s->bytes))
      s->ops = NULL;
    if (!s->ops) {
      fprintf(stderr, "usage: bench-device [-target=NAME] [-device=NAME] [-rounds=1..%u] [-min=ROWS] [-max=ROWS] [-bytes=N]\n",
              MOST_ROUNDS);
      exit(2);
    }
  }
}

int
main(int count, char **arguments)
{
  setup s = {.ops = &vyre_target_vulkan, .rounds = 11, .min = 1000, .max = 10000000, .bytes = 256 << 20};
  vyre_bytes passes = {0}, small = {0};
  parse(count, arguments, &s);
  uint32_t rounded = GROUP * LANES * 4; /* a power of two, so that it is a whole number of grids */
  while (rounded <= s.bytes / 2)
    rounded *= 2;
  s.bytes = rounded;
  check(vyre_module_create(NULL, 0, &s.module));
  check(vyre_registry_create(NULL, &s.registry));
  check(vyre_registry_load_core(s.registry));
  measure_bounds(&s);
  check(vyre_device_open(s.ops, &s.options, NULL, &s.device));
  check(vyre_device_open(&vyre_target_cpu, NULL, NULL, &s.processors));
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
  check(vyre_device_close(s.processors));
  check(vyre_device_close(s.device));
  vyre_registry_destroy(s.registry);
  vyre_module_destroy(s.module);
  return 0;
}
