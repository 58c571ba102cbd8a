/* Costs of each kind of sequence, and the ways to execute one: by `submit`, or by `begin` and `wait`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include <time.h>

static uint64_t
now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A sequence over two buffers of 16 words: its number of entries of each kind. */
typedef struct kind {
  uint32_t fills, uploads, steps, reads, ranges; /* reads are of whole buffers, ranges are reads of 3 words */
} kind;

/* Submits a sequence, and asserts its waits, launches and bytes. */
static void
check_costs(conform *c, kind k)
{
  uint32_t words[16], out[8][16];
  const uint32_t push[2] = {0, 1};
  const vyre_device_buffer buffers[2] = {buffer_of(c, 64), buffer_of(c, 64)};
  const vyre_range both[2] = {whole(buffers[0]), whole(buffers[1])};
  const vyre_kernel kernel = k.steps ? kernel_of(c, "add") : (vyre_kernel){0};
  vyre_fill fills[4];
  vyre_upload uploads[4];
  vyre_step steps[4];
  vyre_read reads[8];
  for (uint32_t i = 0; i < 16; i++)
    words[i] = i;
  for (uint32_t i = 0; i < k.fills; i++)
    fills[i] = (vyre_fill){both[i % 2], 9};
  for (uint32_t i = 0; i < k.uploads; i++)
    uploads[i] = (vyre_upload){both[i % 2], words};
  for (uint32_t i = 0; i < k.steps; i++)
    steps[i] = (vyre_step){
        .kernel = kernel, .buffers = both, .buffer_count = 2, .push = push, .push_size = sizeof push, .groups = {1, 1, 1}};
  for (uint32_t i = 0; i < k.reads + k.ranges; i++)
    reads[i] = (vyre_read){i < k.reads ? both[i % 2] : words_of(buffers[i % 2], i, 3), out[i]};
  const vyre_sequence sequence = {FILLS(fills, k.fills), UPLOADS(uploads, k.uploads), STEPS(steps, k.steps),
                                  READS(reads, k.reads + k.ranges)};
  const vyre_timing timing = submit(c, sequence);
  const bool is_by_host = (c->info.capabilities & VYRE_TARGET_SHARED) && k.fills + k.steps + k.reads + k.ranges == 0;
  assert_int_equal(timing.waits, is_by_host ? 0 : 1);
  assert_int_equal(timing.batches, timing.waits);
  assert_int_equal(timing.launches, k.steps);
  assert_int_equal(timing.bytes_filled, 64 * k.fills);
  assert_int_equal(timing.bytes_up, 64 * k.uploads);
  assert_int_equal(timing.bytes_down, 64 * k.reads + 12 * k.ranges);
  assert_true(timing.host_ns > 0);
  assert_true(timing.device_ns == 0 || (c->info.capabilities & VYRE_TARGET_DEVICE_TIME));
}

/* A sequence costs one wait, or none if the host can write shared memory itself. */
CONFORM(sequences_without_kernels_cost_what_they_name, 0)
{
  static const kind kinds[] = {
      {0, 1, 0, 0, 0}, /* writes a buffer */
      {0, 3, 0, 0, 0}, /* writes buffers */
      {0, 0, 0, 1, 0}, /* reads a buffer */
      {0, 0, 0, 4, 0}, /* reads buffers */
      {0, 0, 0, 0, 5}, /* reads ranges */
      {2, 0, 0, 0, 0}, /* fills buffers */
      {1, 2, 0, 2, 2},
  };
  for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    check_costs(c, kinds[i]);
}

CONFORM(sequences_with_kernels_cost_what_they_name, NEEDS_KERNELS)
{
  static const kind kinds[] = {
      {0, 0, 1, 0, 0}, /* runs a step on resident data */
      {0, 1, 1, 1, 0}, /* uploads, runs a step, reads */
      {0, 0, 4, 0, 0}, /* runs steps */
      {0, 0, 3, 2, 0}, /* runs steps, reads buffers */
      {0, 0, 3, 0, 3}, /* runs steps, reads ranges */
      {0, 2, 3, 2, 0}, /* uploads, runs steps, reads buffers */
      {0, 2, 3, 0, 4}, /* uploads, runs steps, reads ranges */
      {2, 2, 3, 2, 0}, /* fills first */
      {2, 1, 3, 0, 4},
  };
  for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    check_costs(c, kinds[i]);
}

/* Counters since open are the sums of the submissions' timings. */
CONFORM(counters_are_the_sums_of_timings, NEEDS_ITS_OWN)
{
  const vyre_device_buffer three = buffer_of(c, 3), four = buffer_of(c, 4);
  unsigned char out[4];
  const vyre_upload upload = {whole(three), "abc"};
  const vyre_read read = {whole(four), out};
  const vyre_fill fill = {whole(four), 1};
  const vyre_sequence sequence = {FILLS(&fill, 1), UPLOADS(&upload, 1), READS(&read, 1)};
  vyre_timing sum = {0};
  assert_int_equal(metric(c, "submits"), 0);
  assert_int_equal(metric(c, "waits"), 0);
  for (uint32_t i = 0; i < 3; i++) {
    const vyre_timing timing = submit(c, sequence);
    sum.waits += timing.waits;
    sum.bytes_up += timing.bytes_up;
    sum.bytes_down += timing.bytes_down;
    sum.bytes_filled += timing.bytes_filled;
  }
  assert_int_equal(sum.bytes_up, 9);
  assert_int_equal(sum.bytes_down, 12);
  assert_int_equal(sum.bytes_filled, 12);
  assert_int_equal(metric(c, "submits"), 3);
  assert_int_equal(metric(c, "waits"), sum.waits);
  assert_int_equal(metric(c, "bytes_up"), sum.bytes_up);
  assert_int_equal(metric(c, "bytes_down"), sum.bytes_down);
  assert_int_equal(metric(c, "bytes_filled"), sum.bytes_filled);
  assert_ok(c->ops->submit(c->target, &sequence, NULL)); /* a submission without a timing counts, too */
  assert_int_equal(metric(c, "bytes_up"), 12);
}

CONFORM(a_warm_sequence_allocates_nothing, 0)
{
  const vyre_device_buffer buffer = buffer_of(c, 4096);
  static unsigned char bytes[4096];
  const vyre_upload upload = {whole(buffer), bytes};
  const vyre_read read = {whole(buffer), bytes};
  const vyre_sequence sequence = {UPLOADS(&upload, 1), READS(&read, 1)};
  submit(c, sequence);
  const uint64_t allocations = metric(c, "allocations");
  assert_int_equal(submit(c, sequence).allocations, 0);
  assert_int_equal(metric(c, "allocations"), allocations);
}

/* ---- begin and wait ------------------------------------------------------------------------------------------------------ */

CONFORM(each_ticket_is_waited_for_once, 0)
{
  const vyre_device_buffer buffer = buffer_of(c, 64);
  uint32_t out[16], words[16];
  const vyre_fill fill = {whole(buffer), 3};
  const vyre_read read = {whole(buffer), out};
  const vyre_sequence sequence = {FILLS(&fill, 1), READS(&read, 1)};
  vyre_ticket ticket = {0};
  vyre_timing timing;
  bool done = false;
  assert_ok(c->ops->begin(c->target, &sequence, &ticket));
  assert_int_not_equal(ticket.id, 0);
  assert_int_equal(metric(c, "in_flight"), 1);
  while (!done)
    assert_ok(c->ops->poll(c->target, ticket, &done));
  assert_ok(c->ops->wait(c->target, ticket, &timing));
  for (uint32_t i = 0; i < 16; i++)
    words[i] = 3;
  assert_memory_equal(out, words, sizeof out);
  assert_int_equal(timing.bytes_filled, 64);
  assert_int_equal(timing.bytes_down, 64);
  assert_int_equal(timing.waits, 1);
  assert_int_equal(metric(c, "in_flight"), 0);
  refused(c, c->ops->wait(c->target, ticket, NULL), VYRE_CODE_INPUT, "not a submission in flight");
  refused(c, c->ops->poll(c->target, ticket, &done), VYRE_CODE_INPUT, "not a submission in flight");
  refused(c, c->ops->wait(c->target, (vyre_ticket){0}, NULL), VYRE_CODE_INPUT, "not a submission in flight");
  assert_ok(c->ops->free(c->target, buffer));
}

/* Each sequence sees the writes of all sequences that were begun earlier.  Waits may be in any order. */
CONFORM(several_may_be_in_flight, 0)
{
  enum { TICKETS = 5 };
  const vyre_device_buffer buffer = buffer_of(c, 4 * TICKETS);
  uint32_t out[TICKETS][TICKETS];
  vyre_fill fills[TICKETS];
  vyre_read reads[TICKETS];
  vyre_ticket tickets[TICKETS];
  vyre_timing timing;
  memset(out, 0, sizeof out);
  const vyre_fill none = {whole(buffer), 0};
  submit(c, (vyre_sequence){FILLS(&none, 1)});
  for (uint32_t i = 0; i < TICKETS; i++) {
    fills[i] = (vyre_fill){words_of(buffer, i, 1), i + 1};
    reads[i] = (vyre_read){whole(buffer), out[i]};
    const vyre_sequence sequence = {FILLS(&fills[i], 1), READS(&reads[i], 1)};
    assert_ok(c->ops->begin(c->target, &sequence, &tickets[i]));
  }
  assert_int_equal(metric(c, "in_flight"), TICKETS);
  assert_ok(c->ops->wait(c->target, tickets[3], &timing));
  assert_ok(c->ops->flush(c->target));
  for (uint32_t i = 0; i < TICKETS; i++) {
    bool done = i == 3;
    if (!done)
      assert_ok(c->ops->poll(c->target, tickets[i], &done));
    assert_true(done);
    for (uint32_t k = 0; k < TICKETS; k++)
      assert_int_equal(out[i][k], k <= i ? k + 1 : 0);
    if (i != 3)
      assert_ok(c->ops->wait(c->target, tickets[i], NULL));
  }
  assert_ok(c->ops->flush(c->target));
}

/* The first sequence takes long.  A read that is begun after it, and an upload after the read, wait for its end. */
CONFORM(later_sequences_see_all_results_of_earlier_ones, NEEDS_KERNELS)
{
  enum { TIMES = 3000 };
  const uint32_t times = TIMES;
  const vyre_range left = whole(buffer_with(c, &times, 1));
  const vyre_step step = step_of(kernel_of(c, "down"), &left, 1);
  const vyre_repeat repeat = {0, 1, TIMES + 1, left};
  const uint32_t nine = 9;
  uint32_t seen[2] = {7, 7};
  vyre_repeat_end end;
  vyre_ticket tickets[2];
  const vyre_read reads[2] = {{left, &seen[0]}, {left, &seen[1]}};
  const vyre_upload upload = {left, &nine};
  const vyre_sequence first = {STEPS(&step, 1), REPEATS(&repeat, 1, &end)}, second = {READS(&reads[0], 1)},
                      third = {UPLOADS(&upload, 1), READS(&reads[1], 1)};
  assert_ok(c->ops->begin(c->target, &first, &tickets[0]));
  assert_ok(c->ops->begin(c->target, &second, &tickets[1]));
  assert_ok(c->ops->submit(c->target, &third, NULL));
  assert_ok(c->ops->wait(c->target, tickets[1], NULL));
  assert_ok(c->ops->wait(c->target, tickets[0], NULL));
  assert_int_equal(end.iterations, TIMES);
  assert_int_equal(end.word, 0);
  assert_int_equal(seen[0], 0);
  assert_int_equal(seen[1], 9);
}

CONFORM(objects_in_flight_cannot_be_freed, NEEDS_KERNELS | VYRE_TARGET_ASYNC)
{
  const vyre_range range = whole(buffer_of(c, 64));
  const vyre_kernel kernel = kernel_of(c, "count");
  const vyre_step step = step_of(kernel, &range, 64);
  vyre_ticket ticket;
  assert_ok(c->ops->begin(c->target, &(vyre_sequence){STEPS(&step, 1)}, &ticket));
  refused(c, c->ops->free(c->target, range.buffer), VYRE_CODE_INPUT, "in flight");
  refused(c, c->ops->release(c->target, kernel), VYRE_CODE_INPUT, "in flight");
  assert_ok(c->ops->wait(c->target, ticket, NULL));
  assert_ok(c->ops->free(c->target, range.buffer));
  assert_ok(c->ops->release(c->target, kernel));
}

/* The caller may change the arrays of a sequence and the uploaded bytes after `begin` returns. */
CONFORM(begin_copies_its_arguments, NEEDS_KERNELS)
{
  const vyre_range range = whole(buffer_of(c, 64));
  uint32_t words[16], out[16], push = 5;
  vyre_upload upload = {range, words};
  vyre_step step = {
      .kernel = kernel_of(c, "digit"), .buffers = &range, .buffer_count = 1, .push = &push, .push_size = 4, .groups = {1, 1, 1}};
  vyre_read read = {range, out};
  vyre_sequence sequence = {UPLOADS(&upload, 1), STEPS(&step, 1), READS(&read, 1)};
  vyre_ticket ticket;
  for (uint32_t i = 0; i < 16; i++)
    words[i] = i + 2;
  assert_ok(c->ops->begin(c->target, &sequence, &ticket));
  memset(&upload, 0, sizeof upload);
  memset(&step, 0, sizeof step);
  memset(&read, 0, sizeof read);
  memset(&sequence, 0, sizeof sequence);
  memset(words, 0, sizeof words);
  push = 0;
  assert_ok(c->ops->wait(c->target, ticket, NULL));
  assert_int_equal(out[0], 2 * 3 + 5);
  assert_int_equal(out[15], 17);
}

CONFORM(a_working_device_cannot_be_recovered, 0)
{
  assert_false(c->ops->is_lost(c->target));
  refused(c, c->ops->recover(c->target), VYRE_CODE_INPUT, "not lost");
  assert_int_equal(metric(c, "recoveries"), 0);
}

CONFORM(the_device_reports_its_time, VYRE_TARGET_DEVICE_TIME)
{
  static unsigned char bytes[1 << 20];
  const vyre_device_buffer buffer = buffer_of(c, sizeof bytes);
  const vyre_fill fill = {whole(buffer), 5};
  const vyre_read read = {whole(buffer), bytes};
  const uint64_t start = now();
  const vyre_timing timing = submit(c, (vyre_sequence){FILLS(&fill, 1), READS(&read, 1)});
  assert_true(timing.device_ns > 0);
  assert_true(timing.host_ns >= timing.device_ns);
  assert_true(timing.host_ns >= timing.record_ns + timing.submit_ns + timing.wait_ns);
  assert_true(timing.device_start_ns == 0 || (timing.device_start_ns >= start && timing.device_start_ns <= now()));
}

/* The time of a step is the sum of its iterations.  A failed sequence writes no times. */
CONFORM(times_of_steps_are_reported, NEEDS_KERNELS | VYRE_TARGET_DEVICE_TIME)
{
  enum { STEPS = 3 };
  const vyre_range range = whole(buffer_of(c, 1 << 16));
  const vyre_kernel kernel = kernel_of(c, "count");
  vyre_step steps[STEPS];
  uint64_t times[STEPS] = {7, 7, 7};
  for (uint32_t i = 0; i < STEPS; i++)
    steps[i] = step_of(kernel, &range, 64);
  const vyre_fill fill = {range, 0};
  const vyre_repeat repeat = {1, 1, 40, {{0}, 0, 0}};
  vyre_repeat_end end;
  vyre_sequence sequence = {FILLS(&fill, 1), STEPS(steps, STEPS), REPEATS(&repeat, 1, &end), .step_ns = times};
  steps[2].buffer_count = 0;
  refused(c, c->ops->submit(c->target, &sequence, NULL), VYRE_CODE_INPUT, "");
  assert_int_equal(times[0], 7);
  steps[2].buffer_count = 1;
  for (uint32_t round = 0; round < 2; round++) { /* the second round uses recorded commands */
    const vyre_timing timing = submit(c, sequence);
    assert_true(times[1] > 7);
    assert_true(times[0] + times[1] + times[2] <= timing.device_ns);
    sequence.step_ns = NULL;
    submit(c, sequence); /* the same sequence without times */
    sequence.step_ns = times;
  }
}
