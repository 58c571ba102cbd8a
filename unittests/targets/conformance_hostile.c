/* Misuse: invalid ranges, handles and counts.  Also targets in several threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bundle.h"
#include "conformance.h"

#include <pthread.h>

/* Asserts that a sequence is refused as a whole: an added fill before the invalid entry does not run, and no counter changes. */
static void
refuse(const conform *c, vyre_sequence sequence, const char *word)
{
  const uint32_t before = 0x600d600d;
  const vyre_device_buffer buffer = buffer_with(c, &before, 1);
  const vyre_fill own = {whole(buffer), 0xbad0bad0};
  vyre_fill fills[4] = {own};
  vyre_ticket ticket = {7};
  vyre_timing timing;
  uint32_t after;
  for (uint32_t i = 0; i < sequence.fill_count && sequence.fills; i++)
    fills[i + 1] = sequence.fills[i];
  if (sequence.fills || sequence.fill_count == 0) {
    sequence.fills = fills;
    sequence.fill_count++;
  }
  const uint64_t submits = metric(c, "submits"), filled = metric(c, "bytes_filled");
  refused(c, c->ops->submit(c->target, &sequence, &timing), VYRE_CODE_INPUT, word);
  refused(c, c->ops->begin(c->target, &sequence, &ticket), VYRE_CODE_INPUT, word);
  assert_int_equal(ticket.id, 0);
  assert_int_equal(metric(c, "submits"), submits);
  assert_int_equal(metric(c, "bytes_filled"), filled);
  assert_int_equal(metric(c, "in_flight"), 0);
  read_words(c, buffer, &after, 1);
  assert_int_equal(after, before);
  assert_ok(c->ops->free(c->target, buffer));
}

/* Asserts that the range is refused in a fill, an upload and a read. */
static void
refuse_range(const conform *c, vyre_range range, const char *word)
{
  unsigned char bytes[64] = {0};
  const vyre_fill fill = {range, 0};
  const vyre_upload upload = {range, bytes};
  const vyre_read read = {range, bytes};
  refuse(c, (vyre_sequence){FILLS(&fill, 1)}, word);
  refuse(c, (vyre_sequence){UPLOADS(&upload, 1)}, word);
  refuse(c, (vyre_sequence){READS(&read, 1)}, word);
}

CONFORM(ranges_outside_their_buffers_are_refused, 0)
{
  const vyre_device_buffer b = buffer_of(c, 64);
  const vyre_range ranges[] = {
      {b, 0, 68},
      {b, 64, 0},
      {b, 64, 4},
      {b, 60, 8},
      {b, 68, 0},
      {b, 68, 4},
      {b, 4, UINT64_MAX},
      {b, UINT64_MAX, 1},
      {b, UINT64_MAX, 0},
      {b, UINT64_MAX - 3, 4},
      {b, 8, UINT64_MAX - 7},
      {b, UINT64_C(1) << 32, 4},
      {b, 0, (UINT64_C(1) << 32) + 4},
  };
  for (uint32_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    refuse_range(c, ranges[i], "of a buffer of 64 bytes\nFix: use a range inside its buffer");
}

CONFORM(fills_of_partial_words_are_refused, 0)
{
  const vyre_device_buffer b = buffer_of(c, 64);
  const vyre_range ranges[] = {{b, 1, 4}, {b, 2, 0}, {b, 0, 5}, {b, 4, 58}};
  for (uint32_t i = 0; i < 4; i++) {
    const vyre_fill fill = {ranges[i], 0};
    refuse(c, (vyre_sequence){FILLS(&fill, 1)}, "whole words");
  }
}

CONFORM(invalid_handles_are_refused, NEEDS_ITS_OWN)
{
  const vyre_device_buffer freed = buffer_of(c, 64);
  assert_ok(c->ops->free(c->target, freed));
  conform other = *c;
  other.target = open_another(c);
  const vyre_device_buffer foreign = buffer_of(&other, 64), own = buffer_of(c, 64);
  const uint64_t ids[] = {0,          freed.id, foreign.id, UINT64_MAX, own.id ^ 1, own.id ^ (UINT64_C(1) << 32),
                          own.id + 1, 1,        0x100000000};
  assert_true(foreign.id != own.id && foreign.id != freed.id);
  for (uint32_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    const vyre_device_buffer bad = {ids[i]};
    refuse_range(c, (vyre_range){bad, 0, 4}, "not a buffer of this target");
    refused(c, c->ops->free(c->target, bad), VYRE_CODE_INPUT, "not a buffer of this target");
    refused(c, c->ops->free_many(c->target, &bad, 1), VYRE_CODE_INPUT, "not a buffer of this target");
    refused(c, c->ops->drop(c->target, &bad, 1), VYRE_CODE_INPUT, "not a kept set with holders");
    refused(c, c->ops->wait(c->target, (vyre_ticket){ids[i]}, NULL), VYRE_CODE_INPUT, "not a submission in flight");
    refused(c, c->ops->release(c->target, (vyre_kernel){ids[i]}), VYRE_CODE_INPUT, "not a kernel of this target");
  }
  assert_ok(c->ops->free(c->target, own));
  refused(c, c->ops->free(c->target, own), VYRE_CODE_INPUT, "not a buffer of this target");
  assert_ok(other.ops->free(other.target, foreign));
  assert_ok(other.ops->close(other.target));
}

CONFORM(counts_without_arrays_are_refused, 0)
{
  const vyre_range range = whole(buffer_of(c, 64));
  const vyre_upload upload = {range, NULL};
  const vyre_read read = {range, NULL};
  refuse(c, (vyre_sequence){.fill_count = 1}, "their pointer is NULL");
  refuse(c, (vyre_sequence){.upload_count = 1}, "their pointer is NULL");
  refuse(c, (vyre_sequence){.step_count = 1}, "their pointer is NULL");
  refuse(c, (vyre_sequence){.read_count = 1}, "their pointer is NULL");
  refuse(c, (vyre_sequence){UPLOADS(&upload, 1)}, "their pointer is NULL");
  refuse(c, (vyre_sequence){READS(&read, 1)}, "their pointer is NULL");
}

/* A step with the handle of a buffer as its kernel is refused, too. */
CONFORM(mismatched_steps_are_refused, NEEDS_KERNELS)
{
  const uint32_t push[2] = {0, 1};
  const vyre_device_buffer b = buffer_of(c, 1024);
  const vyre_range ranges[] = {whole(b), whole(buffer_of(c, 1024)), whole(b)};
  const vyre_step good = {
      .kernel = kernel_of(c, "add"), .buffers = ranges, .buffer_count = 2, .push = push, .push_size = 8, .groups = {1, 1, 1}};
  vyre_step step = good;
  const vyre_sequence sequence = {STEPS(&step, 1)};
  submit(c, sequence);
  step.buffer_count = 1;
  refuse(c, sequence, "has 2 buffers and 8 bytes of push constants, but its step has 1 and 8");
  step.buffer_count = 3;
  refuse(c, sequence, "but its step has 3 and 8");
  step = good;
  step.buffers = NULL;
  refuse(c, sequence, "but its step has 0 and 8");
  step = good;
  step.push_size = 4;
  refuse(c, sequence, "but its step has 2 and 4");
  step = good;
  step.push = NULL;
  refuse(c, sequence, "but its step has 2 and 0");
  step = good;
  step.kernel.id = b.id;
  refuse(c, sequence, "not a kernel of this target");
  step = good;
  step.groups[1] = c->info.max_groups[1];
  if (step.groups[1] < UINT32_MAX) {
    step.groups[1]++;
    refuse(c, sequence, "workgroups in y");
  }
  vyre_range moved[] = {{b, c->info.storage_align / 2, 0}, ranges[1]};
  step = good;
  step.buffers = moved;
  if (c->info.storage_align > 1)
    refuse(c, sequence, "needs a multiple of");
  moved[0] = (vyre_range){b, 0, 1028};
  refuse(c, sequence, "inside its buffer");
  moved[0] = (vyre_range){{0}, 0, 0};
  refuse(c, sequence, "not a buffer of this target");
}

CONFORM(kernels_of_another_target_are_refused, NEEDS_KERNELS)
{
  conform other = *c;
  other.target = open_another(c);
  const vyre_range range = whole(buffer_of(c, 64));
  const vyre_kernel foreign = kernel_of(&other, "mark"), own = kernel_of(c, "mark");
  const vyre_step step = step_of(foreign, &range, 1);
  assert_int_not_equal(foreign.id, own.id);
  refuse(c, (vyre_sequence){STEPS(&step, 1)}, "not a kernel of this target");
  refused(c, c->ops->release(c->target, foreign), VYRE_CODE_INPUT, "not a kernel of this target");
  assert_ok(other.ops->close(other.target));
}

CONFORM(invalid_repeats_are_refused, NEEDS_KERNELS)
{
  const vyre_device_buffer b = buffer_of(c, 64);
  const vyre_range range = whole(b), none = {{0}, 0, 0};
  const vyre_step one = step_of(kernel_of(c, "mark"), &range, 1), steps[] = {one, one, one};
  const vyre_repeat bad[][2] = {
      {{0, 0, 1, none}, {0, 1, 1, none}},          {{0, 1, 0, none}, {2, 1, 1, none}}, /* no steps; no iterations */
      {{2, 2, 1, none}, {3, 1, 1, none}},          {{3, 1, 1, none}, {3, 1, 1, none}}, /* past the last step */
      {{0, 2, 2, none}, {1, 2, 2, none}},          {{1, 1, 2, none}, {0, 1, 2, none}}, /* overlapping; out of order */
      {{UINT32_MAX, 2, 1, none}, {2, 1, 1, none}}, {{1, UINT32_MAX, 1, none}, {2, 1, 1, none}},
  };
  vyre_repeat_end ends[2] = {{5, 5}, {6, 6}};
  vyre_sequence sequence = {STEPS(steps, 3), .repeat_count = 2, .ends = ends};
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    sequence.repeats = bad[i];
    refuse(c, sequence, "use existing steps after those of earlier repeats, and at least one iteration");
  }
  const vyre_repeat words[] = {{0, 1, 1, {b, 2, 4}}, {0, 1, 1, {b, 60, 2}}};
  for (uint32_t i = 0; i < 2; i++) {
    sequence.repeats = &words[i];
    sequence.repeat_count = 1;
    refuse(c, sequence, "use 1 words");
  }
  const vyre_repeat far = {0, 1, 1, {b, 64, 4}}, good = {0, 1, 1, none};
  sequence.repeats = &far;
  refuse(c, sequence, "inside its buffer");
  sequence.repeats = &good;
  sequence.ends = NULL;
  refuse(c, sequence, "their pointer is NULL");
  assert_int_equal(ends[0].iterations, 5); /* untouched */
  assert_int_equal(ends[1].word, 6);
}

CONFORM(invalid_parts_of_grids_are_refused, NEEDS_KERNELS)
{
  static const uint64_t bad[][2] = {{0, 13}, {12, 1}, {5, 0}, {11, 2}, {UINT64_MAX, 1}, {1, UINT64_MAX}, {UINT64_MAX, 2}};
  const vyre_range range = whole(buffer_of(c, 64));
  vyre_step step = step_of(kernel_of(c, "mark"), &range, 3);
  const bool has_parts = c->info.capabilities & VYRE_TARGET_PARTS;
  step.groups[1] = 4;
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    step.first = bad[i][0];
    step.count = bad[i][1];
    refuse(c, (vyre_sequence){STEPS(&step, 1)}, has_parts ? "use a part of the grid" : "run all");
  }
}

CONFORM(invalid_indirect_grids_are_refused, NEEDS_KERNELS)
{
  const vyre_device_buffer b = buffer_of(c, 64);
  const bool has = c->info.capabilities & VYRE_TARGET_INDIRECT;
  const vyre_range range = whole(buffer_of(c, 64)), bad[] = {{b, 0, 8}, {b, 2, 12}, {b, 56, 0}};
  vyre_step step = step_of(kernel_of(c, "mark"), &range, 3);
  for (uint32_t i = 0; i < 3; i++) {
    step.indirect = bad[i];
    refuse(c, (vyre_sequence){STEPS(&step, 1)}, has ? "use 3 words" : "pass the number of groups");
  }
}

/* ---- threads ------------------------------------------------------------------------------------------------------------- */

typedef struct worker {
  const conform *c;
  pthread_t thread;
  uint32_t seed, wrong;
  vyre_status status;
} worker;

/* Returns errors as a status, because cmocka's assertions work in one thread only. */
static vyre_status
work_on(const vyre_target_ops *ops, vyre_target *target, worker *w)
{
  for (uint32_t turn = 0; turn < 50; turn++) {
    const uint32_t value = w->seed * 1000 + turn;
    uint32_t out[64];
    vyre_device_buffer buffer;
    VYRE_TRY(ops->allocate(target, sizeof out, &buffer));
    const vyre_fill fill = {whole(buffer), value};
    const vyre_upload upload = {words_of(buffer, 7, 1), &w->seed};
    const vyre_read read = {whole(buffer), out};
    VYRE_TRY(ops->submit(target, &(vyre_sequence){FILLS(&fill, 1), UPLOADS(&upload, 1), READS(&read, 1)}, NULL));
    VYRE_TRY(ops->free(target, buffer));
    for (uint32_t i = 0; i < 64; i++)
      w->wrong += out[i] != (i == 7 ? w->seed : value);
  }
  return VYRE_OK;
}

static void *
run_worker(void *user)
{
  worker *w = user;
  const vyre_target_ops *ops = w->c->ops;
  const uint32_t turns =
      w->c->info.kind == VYRE_DEVICE_CPU ? 3 : 1; /* a GPU's driver opens devices slowly, and one after the other */
  for (uint32_t turn = 0; turn < turns; turn++) {
    vyre_target *target = NULL;
    const vyre_target_options options = {.struct_size = sizeof options, .library = test_library(CONFORM_LIBRARY)};
    vyre_status status = ops->open(&options, NULL, &target);
    if (!status)
      status = work_on(ops, target, w);
    status = vyre_status_join(status, ops->close(target));
    w->status = vyre_status_join(w->status, status);
  }
  return NULL;
}

/* All threads end before the test checks their results. */
CONFORM(threads_may_use_separate_targets, 0)
{
  enum { THREADS = 4 };
  worker workers[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (worker){.c = c, .seed = i + 1};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  for (uint32_t i = 0; i < THREADS; i++) {
    assert_ok(workers[i].status);
    assert_int_equal(workers[i].wrong, 0);
  }
}
