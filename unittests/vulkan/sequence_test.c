/* Sequences of the Vulkan target that decide on the device what runs: repeats, groups from a buffer; and what is begun and waited
 * for.  All under the validation layer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../test.h"
#include "bundle.h"
#include "messages.h"
#include "vyre/target.h"

#include "mix.h"

enum { WORDS = 64, MOST_STEPS = 12, MOST_REPEATS = 3 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;

/* A target with one buffer of words, and a sequence that uploads it, runs steps on it and reads it. */
typedef struct fixture {
  vyre_target *target;
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  vyre_range all;
  uint32_t before[WORDS], after[WORDS], expected[WORDS];
  mix_push pushes[MOST_STEPS];
  vyre_step steps[MOST_STEPS];
  vyre_repeat repeats[MOST_REPEATS];
  vyre_repeat_end ends[MOST_REPEATS], expected_ends[MOST_REPEATS];
  vyre_upload upload;
  vyre_read read;
  vyre_sequence sequence;
  vyre_timing timing;
  uint32_t launches; /* expected */
} fixture;

static void
assert_fails(vyre_status status, vyre_code code, const char *word1, const char *word2)
{
  const char *text = vyre_status_text(status);
  if (vyre_status_code(status) != code || !strstr(text, word1) || !strstr(text, word2) || !has_fix(text))
    fail_msg("code %d: %s", (int)vyre_status_code(status), text);
  vyre_status_free(status);
}

static void
begin_sequence(fixture *f)
{
  f->upload = (vyre_upload){f->all, f->before};
  f->read = (vyre_read){f->all, f->after};
  f->sequence = (vyre_sequence){.uploads = &f->upload,
                                .upload_count = 1,
                                .steps = f->steps,
                                .reads = &f->read,
                                .read_count = 1,
                                .repeats = f->repeats,
                                .ends = f->ends};
}

static void
open_fixture(fixture *f)
{
  const vyre_target_options options = {.library = test_library(VULKAN_LIBRARY), .validate = test_validates()};
  memset(f, 0, sizeof *f);
  assert_ok(ops->open(&options, NULL, &f->target));
  assert_ok(ops->supports(f->target, &mix_kernel));
  assert_ok(ops->compile(f->target, &mix_kernel, &f->kernel));
  assert_ok(ops->allocate(f->target, sizeof f->before, &f->buffer));
  f->all = (vyre_range){f->buffer, 0, 0};
  begin_sequence(f);
}

static vyre_range
words_at(const fixture *f, uint32_t at, uint32_t count)
{
  return (vyre_range){f->buffer, 4 * (uint64_t)at, 4 * (uint64_t)count};
}

static vyre_step *
add_step(fixture *f, mix_push values, uint32_t groups)
{
  const uint32_t i = f->sequence.step_count++;
  f->pushes[i] = values;
  f->steps[i] = mix_step(f->kernel, &f->all, &f->pushes[i]);
  f->steps[i].groups[0] = groups;
  return &f->steps[i];
}

/* Of the last `count` steps; `until` WORDS: no word. */
static void
add_repeat(fixture *f, uint32_t count, uint32_t times, uint32_t until)
{
  f->repeats[f->sequence.repeat_count++] =
      (vyre_repeat){f->sequence.step_count - count, count, times, until == WORDS ? (vyre_range){{0}, 0, 0} : words_at(f, until, 1)};
}

/* ---- the model ----------------------------------------------------------------------------------------------------------- */

static void
model_step(fixture *f, const vyre_step *step)
{
  const mix_push *values = step->push;
  uint32_t groups = step->groups[0] * step->groups[1] * step->groups[2];
  if (step->indirect.buffer.id) {
    const uint32_t *from = &f->expected[step->indirect.offset / 4];
    groups = from[0] * from[1] * from[2];
  }
  for (uint32_t i = 0; i < groups; i++)
    f->expected[values->at] = f->expected[values->at] * values->factor + values->term;
  f->launches += groups != 0;
}

/* The contract's words, a step after the other. */
static void
run_model(fixture *f)
{
  const vyre_sequence *sequence = &f->sequence;
  memcpy(f->expected, f->before, sizeof f->before);
  memset(f->expected_ends, 0, sizeof f->expected_ends);
  f->launches = 0;
  for (uint32_t i = 0, r = 0; i < sequence->step_count; i++) {
    if (r == sequence->repeat_count || i != f->repeats[r].first) {
      model_step(f, &f->steps[i]);
      continue;
    }
    const vyre_repeat *repeat = &f->repeats[r];
    vyre_repeat_end *end = &f->expected_ends[r];
    do {
      for (uint32_t k = 0; k < repeat->count; k++)
        model_step(f, &f->steps[i + k]);
      end->iterations++;
      end->word = repeat->until.buffer.id ? f->expected[repeat->until.offset / 4] : 0;
    } while (end->iterations < repeat->times && (!repeat->until.buffer.id || end->word));
    if (end->word)
      return;
    i += repeat->count - 1;
    r++;
  }
}

static void
check_results(const fixture *f)
{
  assert_memory_equal(f->after, f->expected, sizeof f->after);
  for (uint32_t i = 0; i < f->sequence.repeat_count; i++) {
    assert_int_equal(f->ends[i].iterations, f->expected_ends[i].iterations);
    assert_int_equal(f->ends[i].word, f->expected_ends[i].word);
  }
  assert_int_equal(f->timing.launches, f->launches);
  assert_int_equal(f->timing.bytes_up, sizeof f->before);
  assert_int_equal(f->timing.bytes_down, sizeof f->after + sizeof f->ends[0] * f->sequence.repeat_count);
}

static void
check(fixture *f)
{
  run_model(f);
  memset(f->after, 0xee, sizeof f->after);
  memset(f->ends, 0xee, sizeof f->ends);
  assert_ok(ops->submit(f->target, &f->sequence, &f->timing));
  check_results(f);
}

/* ---- repeats ------------------------------------------------------------------------------------------------------------- */

TEST(a_repeat_runs_its_steps_so_many_times)
{
  fixture f;
  open_fixture(&f);
  add_step(&f, (mix_push){0, 3, 1}, 1);
  add_step(&f, (mix_push){1, 3, 2}, 1);
  add_step(&f, (mix_push){1, 5, 7}, 1);
  add_repeat(&f, 2, 9, WORDS);
  add_step(&f, (mix_push){1, 2, 0}, 1);
  add_repeat(&f, 1, 1, WORDS);
  add_step(&f, (mix_push){1, 7, 3}, 1);
  check(&f);
  assert_int_equal(f.timing.waits, 1);
  assert_int_equal(f.timing.launches, 1 + 18 + 1 + 1);
  assert_ok(ops->close(f.target));
}

TEST(a_repeat_ends_when_its_word_is_0)
{
  fixture f;
  open_fixture(&f);
  f.before[3] = 5;
  add_step(&f, (mix_push){1, 3, 2}, 1);
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_repeat(&f, 2, 200, 3);
  add_step(&f, (mix_push){1, 5, 7}, 1);
  for (uint32_t round = 0; round < 2; round++) {
    check(&f);
    assert_int_equal(f.timing.waits, 1);
    assert_int_equal(f.ends[0].iterations, 5);
    assert_int_equal(f.timing.launches, 11);
  }
  assert_int_equal(f.timing.allocations, 0);
  f.repeats[0].times = 5; /* just enough */
  check(&f);
  assert_int_equal(f.ends[0].word, 0);
  assert_ok(ops->close(f.target));
}

TEST(after_a_repeat_that_was_not_enough_nothing_runs_but_reads)
{
  fixture f;
  open_fixture(&f);
  f.before[3] = 5;
  f.before[4] = 2;
  add_step(&f, (mix_push){1, 3, 2}, 1);
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_repeat(&f, 1, 4, 3);
  add_step(&f, (mix_push){1, 5, 7}, 1);
  add_step(&f, (mix_push){4, 1, UINT32_MAX}, 1);
  add_repeat(&f, 1, 9, 4);
  add_step(&f, (mix_push){5, 1, 1}, 1);
  add_repeat(&f, 1, 9, WORDS);
  check(&f);
  assert_int_equal(f.timing.waits, 1);
  assert_int_equal(f.ends[0].word, 1);
  assert_int_equal(f.ends[1].iterations, 0);
  assert_int_equal(f.ends[2].iterations, 0);
  assert_ok(ops->close(f.target));
}

TEST(many_iterations_take_more_waits_and_few_of_many_do_not)
{
  fixture f;
  open_fixture(&f);
  f.before[3] = 2500;
  f.before[5] = 1;
  add_step(&f, (mix_push){0, 1, 1}, 1);
  add_step(&f, (mix_push){1, 3, 2}, 1);
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_step(&f, (mix_push){2, 1, 1}, 4)->indirect = words_at(&f, 5, 3);
  f.before[6] = f.before[7] = 1;
  add_repeat(&f, 3, 1u << 31, 3);
  add_step(&f, (mix_push){1, 5, 7}, 1);
  add_step(&f, (mix_push){4, 1, 1}, 1);
  add_repeat(&f, 1, 10, WORDS);
  check(&f);
  assert_int_equal(f.timing.waits, 3); /* 1024, 1024, 452 */
  assert_int_equal(f.ends[0].iterations, 2500);
  f.before[3] = 7;
  check(&f);
  assert_int_equal(f.timing.waits, 1);
  f.before[3] = 2500;
  f.repeats[0].times = 2400; /* not enough */
  check(&f);
  assert_int_equal(f.timing.waits, 3);
  assert_int_equal(f.ends[0].word, 100);
  f.before[3] = 2048; /* what is there is just enough */
  check(&f);
  assert_int_equal(f.timing.waits, 2);
  assert_ok(ops->close(f.target));
}

TEST(a_fixed_number_of_iterations_may_be_any)
{
  fixture f;
  open_fixture(&f);
  f.before[3] = 2;
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_repeat(&f, 1, 2, 3);
  add_step(&f, (mix_push){1, 3, 2}, 1);
  add_repeat(&f, 1, 70000, WORDS);
  add_step(&f, (mix_push){1, 5, 7}, 1);
  check(&f);
  assert_int_equal(f.timing.waits, 2);
  f.before[3] = 3; /* nothing of them runs, and the reads do */
  f.repeats[1].times = 1u << 31;
  check(&f);
  assert_int_equal(f.timing.launches, 2);
  assert_int_equal(f.timing.waits, 2);
  assert_ok(ops->close(f.target));
}

/* What a submission keeps for the next one grows: sets, the words of its steps, and staging, which begins with a page. */
TEST(a_larger_sequence_comes_after_a_smaller_one)
{
  enum { STEPS = 700, BYTES = 4096 };
  fixture f;
  open_fixture(&f);
  f.before[3] = 5;
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_repeat(&f, 1, 9, 3);
  check(&f);
  vyre_device_buffer buffer;
  vyre_step steps[STEPS];
  static uint32_t got[BYTES / 4];
  assert_ok(ops->allocate(f.target, BYTES, &buffer));
  const vyre_range range = {buffer, 0, 0};
  const mix_push values = {BYTES / 4 - 1, 1, 3};
  for (uint32_t i = 0; i < STEPS; i++)
    steps[i] = mix_step(f.kernel, &range, &values);
  const vyre_fill fill = {range, 0};
  const vyre_read read = {range, got};
  vyre_repeat_end end;
  const vyre_repeat repeat = {0, 1, 2, {buffer, 0, 4}};
  const vyre_sequence sequence = {.fills = &fill,
                                  .fill_count = 1,
                                  .steps = steps,
                                  .step_count = STEPS,
                                  .reads = &read,
                                  .read_count = 1,
                                  .repeats = &repeat,
                                  .repeat_count = 1,
                                  .ends = &end};
  assert_ok(ops->submit(f.target, &sequence, &f.timing));
  assert_int_equal(got[BYTES / 4 - 1], STEPS * 3);
  assert_int_equal(f.timing.launches, STEPS);
  check(&f);
  assert_int_equal(f.timing.allocations, 0);
  assert_ok(ops->close(f.target));
}

/* ---- groups from a buffer ------------------------------------------------------------------------------------------------ */

TEST(a_step_takes_its_groups_when_it_begins)
{
  fixture f;
  open_fixture(&f);
  f.before[9] = 1; /* offset 36: not where a device can bind */
  f.before[10] = 2;
  f.before[11] = 1;
  add_step(&f, (mix_push){9, 1, 1}, 3); /* 4 groups in x */
  vyre_step *step = add_step(&f, (mix_push){0, 1, 1}, 4);
  step->groups[1] = 2;
  step->indirect = words_at(&f, 9, 3);
  check(&f);
  assert_int_equal(f.after[0], 8);
  assert_int_equal(f.timing.waits, 1);
  assert_int_equal(f.timing.launches, 2);
  f.before[11] = 0;
  check(&f);
  assert_int_equal(f.after[0], 0);
  assert_int_equal(f.timing.launches, 1);
  f.before[11] = 1;
  step->groups[0] = 3; /* one fewer than it says */
  memset(f.after, 0xee, sizeof f.after);
  assert_fails(ops->submit(f.target, &f.sequence, &f.timing), VYRE_CODE_INPUT, "more than 3 x 2 x 1", "in step 1");
  assert_int_equal(f.after[0], 0xeeeeeeee);
  assert_int_equal(f.timing.waits, 0);
  assert_false(ops->is_lost(f.target));
  step->groups[0] = 4;
  check(&f); /* it is whole */
  assert_ok(ops->close(f.target));
}

/* Random sequences of all kinds against the model.  Steps that are beside each other only add. */
TEST(random_sequences_do_what_the_contract_says)
{
  fixture f;
  open_fixture(&f);
  uint32_t random = 4711, stopped = 0;
  for (uint32_t round = 0; round < 150; round++) {
    uint32_t draw[MOST_STEPS * 4];
    for (uint32_t i = 0; i < MOST_STEPS * 4; i++) {
      random = random * 1664525u + 1013904223u;
      draw[i] = random >> 12;
    }
    begin_sequence(&f);
    for (uint32_t i = 0; i < WORDS; i++)
      f.before[i] = i >= 16 && i < 32 ? draw[i] % 3 : draw[i % 40] % 7;
    for (uint32_t i = 0, in_repeat = 0; i < MOST_STEPS; i++) {
      const uint32_t *d = &draw[i * 4];
      const bool adds = d[0] % 3 != 0;
      vyre_step *step = add_step(&f, (mix_push){d[1] % 8, adds ? 1 : 3, 1 + d[0] % 5}, adds ? d[2] % 4 : 1);
      if (adds && d[3] % 4 == 0) {
        step->groups[0] = step->groups[1] = step->groups[2] = 2;
        step->indirect = words_at(&f, 16 + d[3] / 4 % 14, 3);
      }
      step->beside = adds && i && f.pushes[i - 1].factor == 1 && d[2] % 8 >= 4;
      in_repeat++;
      if (f.sequence.repeat_count < MOST_REPEATS && d[1] / 8 % 3 == 0) {
        const bool has_until = d[1] / 32 % 2;
        if (has_until) /* the step counts its word down */
          f.pushes[i] = (mix_push){8 + f.sequence.repeat_count, 1, UINT32_MAX}, step->groups[0] = 1, step->indirect.buffer.id = 0;
        add_repeat(&f, 1 + d[2] / 8 % in_repeat, 1 + d[3] / 64 % 8, has_until ? 8 + f.sequence.repeat_count : WORDS);
        f.before[8 + f.sequence.repeat_count - 1] = 1 + d[0] / 16 % 9;
        in_repeat = 0;
      }
    }
    check(&f);
    assert_int_equal(f.timing.waits, 1);
    for (uint32_t i = 0; i < f.sequence.repeat_count; i++)
      stopped += f.ends[i].word != 0;
  }
  assert_true(stopped > 10 && stopped < 140);
  assert_ok(ops->close(f.target));
}

/* ---- begun --------------------------------------------------------------------------------------------------------------- */

TEST(what_is_begun_needs_no_arrays_and_comes_in_order)
{
  fixture f, second;
  open_fixture(&f);
  f.before[3] = 1500; /* goes on when it is waited for */
  add_step(&f, (mix_push){1, 3, 2}, 1);
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_repeat(&f, 2, 4000, 3);
  second = f;
  add_step(&f, (mix_push){2, 1, 9}, 1);
  run_model(&f);
  vyre_ticket ticket, other;
  assert_ok(ops->begin(f.target, &f.sequence, &ticket));
  memset(f.steps, 0xee, sizeof f.steps);
  memset(f.pushes, 0xee, sizeof f.pushes);
  memset(f.repeats, 0xee, sizeof f.repeats);
  f.upload.data = NULL;
  assert_fails(ops->free(f.target, f.buffer), VYRE_CODE_INPUT, "begun and not waited for", "wait");
  assert_fails(ops->release(f.target, f.kernel), VYRE_CODE_INPUT, "'mix'", "wait");
  assert_ok(ops->wait(f.target, ticket, &f.timing));
  check_results(&f);
  assert_int_equal(f.timing.waits, 2);
  assert_true(f.timing.host_ns > 0);
  f = second;
  begin_sequence(&f);
  f.sequence.step_count = f.sequence.repeat_count = 0;
  add_step(&f, (mix_push){0, 1, 1}, 1);
  f.read.range = words_at(&f, 0, 1);
  assert_ok(ops->begin(f.target, &f.sequence, &ticket));
  f.sequence.upload_count = 0;
  uint32_t later = 0;
  vyre_read read = {words_at(&f, 0, 1), &later};
  f.sequence.reads = &read;
  assert_ok(ops->begin(f.target, &f.sequence, &other));
  read.range.buffer.id = 0;
  bool done = false;
  while (!done)
    assert_ok(ops->poll(f.target, other, &done));
  assert_ok(ops->flush(f.target));
  assert_int_equal(later, f.before[0] + 2);
  assert_ok(ops->wait(f.target, ticket, &f.timing));
  assert_int_equal(f.after[0], f.before[0] + 1);
  assert_ok(ops->wait(f.target, other, NULL));
  assert_ok(ops->free(f.target, f.buffer));
  assert_ok(ops->close(f.target));
}

TEST(polling_goes_on_with_many_iterations)
{
  fixture f;
  open_fixture(&f);
  f.before[3] = 2500;
  add_step(&f, (mix_push){3, 1, UINT32_MAX}, 1);
  add_repeat(&f, 1, 4000, 3);
  run_model(&f);
  vyre_ticket ticket, left;
  assert_ok(ops->begin(f.target, &f.sequence, &ticket));
  bool done = false;
  while (!done)
    assert_ok(ops->poll(f.target, ticket, &done));
  assert_ok(ops->wait(f.target, ticket, &f.timing));
  check_results(&f);
  assert_int_equal(f.timing.waits, 3);
  f.sequence.step_count = f.sequence.repeat_count = 0;
  f.before[9] = f.before[10] = f.before[11] = 5; /* errors are the wait's */
  add_step(&f, (mix_push){0, 1, 1}, 1)->indirect = words_at(&f, 9, 3);
  assert_ok(ops->begin(f.target, &f.sequence, &ticket));
  assert_ok(ops->begin(f.target, &f.sequence, &left)); /* the close waits for it */
  for (done = false; !done;)
    assert_ok(ops->poll(f.target, ticket, &done));
  assert_fails(ops->wait(f.target, ticket, NULL), VYRE_CODE_INPUT, "more than 1 x 1 x 1", "in step 0");
  assert_ok(ops->close(f.target));
}

/* ---- the rest of the table ----------------------------------------------------------------------------------------------- */

static void
take_counter(void *user, const char *name, uint64_t value)
{
  uint64_t *values = user;
  static const char *const names[] = {"allocations", "reuses", "kept_hits", "bytes_live", "in_flight"};
  for (uint32_t i = 0; i < 5; i++)
    if (strcmp(name, names[i]) == 0)
      values[i] = value;
}

TEST(buffers_are_pooled_and_data_is_kept)
{
  fixture f;
  open_fixture(&f);
  vyre_device_info info;
  ops->describe(f.target, &info);
  assert_int_equal(info.forms, 1u << VYRE_KERNEL_SPIRV);
  assert_true((info.capabilities & VYRE_TARGET_INDIRECT) && (info.capabilities & VYRE_TARGET_ASYNC));
  assert_false(info.capabilities & VYRE_TARGET_PARTS);
  const uint64_t sizes[] = {100, 200};
  vyre_device_buffer many[2], kept;
  assert_ok(ops->allocate_many(f.target, sizes, 2, many));
  assert_ok(ops->free_many(f.target, many, 2));
  assert_ok(ops->allocate_many(f.target, sizes, 2, many));
  bool found;
  assert_ok(ops->keep(f.target, 1, &(vyre_static){"abcd", 4}, 1, &kept, &found));
  assert_false(found);
  assert_ok(ops->keep(f.target, 1, &(vyre_static){"abcd", 4}, 1, &kept, &found));
  assert_true(found);
  char got[4];
  assert_ok(vyre_target_read(ops, f.target, kept, 0, 4, got));
  assert_memory_equal(got, "abcd", 4);
  assert_ok(ops->drop(f.target, &kept, 1));
  uint64_t values[5] = {0};
  ops->metrics(f.target, take_counter, values);
  assert_int_equal(values[0], 3 + 1 + (info.capabilities & VYRE_TARGET_SHARED ? 0 : 2)); /* buffers, kept, staging up and down */
  assert_int_equal(values[1], 2);
  assert_int_equal(values[2], 1);
  assert_int_equal(values[3], sizeof f.before + 300 + 4);
  assert_int_equal(values[4], 0);
  vyre_device_buffer imported;
  assert_fails(ops->import(f.target, got, 4, &imported), VYRE_CODE_INPUT, "did not allocate", "upload");
  assert_fails(ops->recover(f.target), VYRE_CODE_INPUT, "was not lost", "");
  assert_ok(ops->close(f.target));
}
