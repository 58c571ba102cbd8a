/* Measures the cost of a submission to the first Vulkan device: of nothing, copies, and kernels that do almost nothing.
 *
 *   bench-submit [-rounds=N] [-min=BYTES] [-max=BYTES] [-only=CASE]
 *
 * Cases take turns, and medians are of wall time.  `recording`, `submitting` and `waiting` are the host's shares of a
 * submission.  `device` is the device's own time.  A copy of the same bytes by the host shows the cost of memory.  The rest is
 * the driver's and the target's, and the further cost of a sequence of passes (bench-sequences) is its kernels'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-submit";

enum { MANY = 1000, FLIGHT = 4 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;

static const char copy_text[] = "program @copy workgroup(64, 1, 1) {\n"
                                "  buffer %x : u32[] storage set(0) binding(0)\n"
                                "  buffer %y : u32[] storage rw set(0) binding(1)\n"
                                "  %g = gid\n"
                                "  store %y[%g.x], load(%x[%g.x])\n"
                                "}\n";

typedef struct setup {
  vyre_target *target;
  vyre_kernel kernel;
  vyre_device_buffer from, to;
  vyre_range ranges[2];
  vyre_step copy, *steps; /* `copy` copies all bytes; `steps` are MANY of one workgroup */
  unsigned char *up, *down;
  uint32_t bytes;
} setup;

/* ---- the cases: each fills `timing` if it has one
 * --------------------------------------------------------------------------- */

static void
submit(const setup *s, bool up, uint32_t steps, bool down, vyre_timing *timing)
{
  const vyre_upload upload = {s->ranges[0], s->up};
  const vyre_read read = {s->ranges[1], s->down};
  const vyre_sequence sequence = {.uploads = &upload,
                                  .upload_count = up,
                                  .steps = up ? &s->copy : s->steps,
                                  .step_count = steps,
                                  .reads = &read,
                                  .read_count = down};
  bench_check(ops->submit(s->target, &sequence, timing));
}

static void
nothing(const setup *s, vyre_timing *timing)
{
  submit(s, false, 0, false, timing);
}

static void
one_kernel(const setup *s, vyre_timing *timing)
{
  submit(s, false, 1, false, timing);
}

static void
many_kernels(const setup *s, vyre_timing *timing)
{
  submit(s, false, MANY, false, timing);
}

static void
up(const setup *s, vyre_timing *timing)
{
  submit(s, true, 0, false, timing);
}

static void
down(const setup *s, vyre_timing *timing)
{
  submit(s, false, 0, true, timing);
}

static void
up_copy_down(const setup *s, vyre_timing *timing)
{
  submit(s, true, 1, true, timing);
}

/* Begins several submissions before waiting for the first.  The timing is that of one submission. */
static void
in_flight(const setup *s, vyre_timing *timing)
{
  const vyre_upload upload = {s->ranges[0], s->up};
  const vyre_read read = {s->ranges[1], s->down};
  const vyre_sequence sequence = {
      .uploads = &upload, .upload_count = 1, .steps = &s->copy, .step_count = 1, .reads = &read, .read_count = 1};
  vyre_ticket tickets[FLIGHT];
  for (uint32_t i = 0; i < FLIGHT; i++)
    bench_check(ops->begin(s->target, &sequence, &tickets[i]));
  for (uint32_t i = 0; i < FLIGHT; i++)
    bench_check(ops->wait(s->target, tickets[i], timing));
}

static void
host_copy(const setup *s, vyre_timing *timing)
{
  (void)timing;
  memcpy(s->down, s->up, s->bytes);
  memcpy(s->up, s->down, s->bytes);
}

static const struct {
  const char *name;
  void (*run)(const setup *s, vyre_timing *timing);
  uint32_t times; /* submissions of a run */
} cases[] = {
    {"nothing", nothing, 1},
    {"A/A: nothing", nothing, 1},
    {"a kernel of a workgroup", one_kernel, 1},
    {"1,000 of them, one after the other", many_kernels, 1},
    {"up", up, 1},
    {"down", down, 1},
    {"up, a kernel that copies, down", up_copy_down, 1},
    {"the same, one of 4 in flight", in_flight, FLIGHT},
    {"the host copies as much, twice", host_copy, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static void
make_buffers(setup *s, uint32_t bytes)
{
  s->bytes = bytes;
  s->up = bench_allocate(bytes, 1);
  s->down = bench_allocate(bytes, 1);
  s->steps = bench_allocate(MANY, sizeof *s->steps);
  memset(s->up, 1, bytes);
  memset(s->down, 2, bytes);
  bench_check(ops->allocate(s->target, bytes, &s->from));
  bench_check(ops->allocate(s->target, bytes, &s->to));
  s->ranges[0] = (vyre_range){.buffer = s->from};
  s->ranges[1] = (vyre_range){.buffer = s->to};
  for (uint32_t i = 0; i < MANY; i++)
    s->steps[i] = (vyre_step){.kernel = s->kernel, .buffers = s->ranges, .buffer_count = 2, .groups = {1, 1, 1}};
  s->copy = s->steps[0];
  s->copy.groups[0] = (bytes / 4 + 63) / 64;
}

static void
free_buffers(setup *s)
{
  bench_check(ops->free(s->target, s->from));
  bench_check(ops->free(s->target, s->to));
  free(s->up);
  free(s->down);
  free(s->steps);
}

/* Times of all rounds, and the host's and the device's shares of the last round. */
typedef struct measured {
  uint64_t times[BENCH_MOST_ROUNDS];
  vyre_timing last;
} measured;

static void
measure(const setup *s, const bench_options *options)
{
  static measured all[CASES];
  const uint32_t rounds = options->rounds;
  for (uint32_t i = 0; i < CASES; i++) /* warms up: later rounds reuse memory and recordings */
    cases[i].run(s, &all[i].last);
  for (uint32_t round = 0; round < rounds; round++)
    for (uint32_t i = 0; i < CASES; i++) {
      const uint64_t start = clock_now();
      all[i].last = (vyre_timing){0};
      cases[i].run(s, &all[i].last);
      all[i].times[round] = (clock_now() - start) / cases[i].times;
    }
  for (uint32_t i = 0; i < CASES; i++) {
    const vyre_timing *t = &all[i].last;
    if (options->only && !strstr(cases[i].name, options->only))
      continue;
    printf("| %s | %" PRIu32 " | %.1f | %.1f | %.1f | %.1f | %.1f | %" PRIu32 " | %" PRIu32 " | %" PRIu32 " |\n", cases[i].name,
           s->bytes, (double)bench_median(all[i].times, rounds) / 1e3, (double)t->record_ns / 1e3, (double)t->submit_ns / 1e3,
           (double)t->wait_ns / 1e3, (double)t->device_ns / 1e3, t->batches, t->waits, t->allocations);
  }
  fflush(stdout);
}

int
main(int count, char **arguments)
{
  bench_options options = {
      .about = "Measures submissions to the first Vulkan device.\n", .rounds = 21, .min = 1000, .max = 10000000, .unit = "bytes"};
  setup s = {0};
  vyre_device_info info;
  bench_parse(count, arguments, &options);
  bench_check(ops->open(NULL, NULL, &s.target));
  ops->describe(s.target, &info);
  printf("%s, %s%s\n\n", info.name, info.driver, info.capabilities & VYRE_TARGET_SHARED ? ", its memory is the host's" : "");
  s.kernel = bench_compile_copy(ops, s.target, copy_text, 64);
  printf("| a submission of | bytes | us | recording | submitting | waiting | device | batches | waits | allocations |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (uint32_t bytes = options.min; bytes <= options.max; bytes *= 10) {
    make_buffers(&s, bytes - bytes % 4);
    measure(&s, &options);
    free_buffers(&s);
  }
  bench_check(ops->close(s.target));
  return 0;
}
