/* The time of a dispatch on a target: of one program, or of two by turns.
 *
 * A measurement is one submission with enough dispatches for LEAST_NS, of a kernel that has run before.  Buffers are uploaded
 * before each.  A round measures the first program, the second one, and the first again (A/A).  Ratios are within a round, because
 * the machine may be faster in another round, and their median is printed.  On a device that is a CPU the time is the processor
 * time of this process, so that other programs disturb little.  On other devices it is the device's time.  A difference below 1
 * percent, or below the median difference of A/A, is noise.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_NS UINT64_C(50000000)
enum { MOST_STEPS = 4096 };
enum { FIRST, SECOND, AGAIN, KINDS };

typedef struct contender {
  run_results results; /* uploaded before each measurement */
  run_dispatch dispatch;
} contender;

typedef struct bench {
  const vyre_target_ops *ops;
  vyre_target *target;
  bool device_is_cpu;
  uint32_t dispatches, most; /* dispatches of a measurement, and their maximum */
  contender contenders[2];
  vyre_step list[MOST_STEPS];
} bench;

/* Measures b->dispatches dispatches, in nanoseconds. */
static vyre_status
measure(bench *b, const contender *of, uint64_t *out)
{
  const vyre_sequence up = {.uploads = of->dispatch.uploads, .upload_count = of->dispatch.upload_count};
  const uint32_t own = of->dispatch.step_count, count = b->dispatches * own;
  const vyre_sequence work = {.steps = b->list, .step_count = count};
  vyre_timing timing;
  VYRE_TRY(b->ops->submit(b->target, &up, NULL));
  for (uint32_t i = 0; i < count; i++)
    b->list[i] = of->dispatch.steps[i % own];
  const uint64_t start = clock_read(CLOCK_PROCESS_CPUTIME_ID);
  VYRE_TRY(b->ops->submit(b->target, &work, &timing));
  const uint64_t used = clock_read(CLOCK_PROCESS_CPUTIME_ID) - start;
  *out = b->device_is_cpu ? used : timing.device_ns ? timing.device_ns : timing.host_ns;
  return VYRE_OK;
}

/* Runs each kernel once, because drivers compile at the first run.  Then finds the number of dispatches for LEAST_NS. */
static vyre_status
warm_up(bench *b, uint32_t count)
{
  uint64_t ns = 0;
  b->dispatches = 1;
  for (uint32_t i = count; i-- > 0;)
    VYRE_TRY(measure(b, &b->contenders[i], &ns));
  VYRE_TRY(measure(b, &b->contenders[0], &ns));
  while (b->dispatches * 2 <= b->most && ns < LEAST_NS) {
    b->dispatches *= 2;
    VYRE_TRY(measure(b, &b->contenders[0], &ns));
  }
  return VYRE_OK;
}

static int
by_size(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static double
median(double *values, uint64_t count)
{
  qsort(values, count, sizeof *values, by_size);
  return values[count / 2];
}

/* Returns the median time of a dispatch in microseconds. */
static double
median_time(const bench *b, const uint64_t *times, uint64_t rounds)
{
  double values[RUN_MOST_ROUNDS];
  for (uint64_t i = 0; i < rounds; i++)
    values[i] = (double)times[i] / 1e3 / b->dispatches;
  return median(values, rounds);
}

static void
print_times(const bench *b, uint64_t rounds, uint64_t times[KINDS][RUN_MOST_ROUNDS], const run_program *first,
            const run_program *second)
{
  double ratios[RUN_MOST_ROUNDS], same[RUN_MOST_ROUNDS], apart[RUN_MOST_ROUNDS];
  for (uint64_t i = 0; i < rounds; i++) {
    const double before = (double)times[FIRST][i], again = (double)times[AGAIN][i];
    ratios[i] = (double)times[SECOND][i] / ((before + again) / 2);
    same[i] = again / before;
    apart[i] = fabs(same[i] - 1);
  }
  const double ratio = median(ratios, rounds), noise = fmax(0.01, median(apart, rounds));
  printf("%s of a dispatch, the median of %u rounds of %u each:\n", b->device_is_cpu ? "processor time" : "device time",
         (unsigned)rounds, b->dispatches);
  printf("  %14.3f us            %s\n", median_time(b, times[FIRST], rounds), first->path);
  if (second)
    printf("  %14.3f us  %8.3f  %s: %s\n", median_time(b, times[SECOND], rounds), ratio, second->path,
           ratio > 1 + noise   ? "slower"
           : ratio < 1 - noise ? "faster"
                               : "the same");
  printf("  %14.3f us  %8.3f  %s again\n", median_time(b, times[AGAIN], rounds), median(same, rounds), first->path);
}

static vyre_status
run_rounds(bench *b, const run_options *options, const run_program *first, const run_program *second)
{
  uint64_t times[KINDS][RUN_MOST_ROUNDS] = {0};
  VYRE_TRY(warm_up(b, second ? 2 : 1));
  for (uint64_t round = 0; round < options->bench.value; round++) {
    VYRE_TRY(measure(b, &b->contenders[0], &times[FIRST][round]));
    if (second)
      VYRE_TRY(measure(b, &b->contenders[1], &times[SECOND][round]));
    VYRE_TRY(measure(b, &b->contenders[0], &times[AGAIN][round]));
  }
  print_times(b, options->bench.value, times, first, second);
  return VYRE_OK;
}

vyre_status
run_bench(const run_options *options, const run_program *first, const run_program *second, const run_inputs *inputs)
{
  static bench b; /* too large for the stack */
  const run_program *const programs[] = {first, second};
  vyre_device_info info;
  b.ops = options->target;
  b.most = MOST_STEPS;
  VYRE_TRY(run_device_open(options, options->target, &b.target));
  b.ops->describe(b.target, &info);
  b.device_is_cpu = info.kind == VYRE_DEVICE_CPU;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < 2 && programs[i] && !status; i++) {
    contender *c = &b.contenders[i];
    status = run_results_copy(inputs, &c->results);
    if (!status)
      status = run_dispatch_make(options, b.ops, b.target, programs[i], inputs, &c->results, &c->dispatch);
    if (!status && c->dispatch.step_count > MOST_STEPS)
      status = VYRE_ERROR(VYRE_CODE_INPUT, "-bench: the program has %u segments\nFix: measure a program of at most %d",
                          c->dispatch.step_count, MOST_STEPS);
    else if (!status && MOST_STEPS / c->dispatch.step_count < b.most)
      b.most = MOST_STEPS / c->dispatch.step_count;
  }
  if (!status)
    status = run_rounds(&b, options, first, second);
  status = vyre_status_join(status, b.ops->close(b.target));
  for (uint32_t i = 0; i < 2; i++) {
    run_dispatch_free(&b.contenders[i].dispatch);
    run_results_free(&b.contenders[i].results);
  }
  return vyre_status_note(status, "while timing %s", first->path);
}
