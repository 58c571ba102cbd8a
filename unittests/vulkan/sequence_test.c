/* Sequences of the Vulkan target in which the device decides the steps that run.  Random sequences are compared with a model of
 * the contract.  Some repeats have more iterations than are recorded at once.  All tests use the validation layer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define HANG_LONGEST_CASE 24 /* 140,000 iterations */
#include "../hang.h"
#include "mix.h"

static mix m;
static uint32_t expected[MIX_WORDS], expected_launches;
static vyre_repeat_end expected_ends[MIX_REPEATS];

static int
open_mix(void **state)
{
  (void)state;
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_library(VULKAN_LIBRARY), .validate = test_validates()};
  mix_open(&m, &options, NULL);
  return 0;
}

static int
close_mix(void **state)
{
  (void)state;
  assert_ok(ops->close(m.target));
  return 0;
}

/* ---- the model ----------------------------------------------------------------------------------------------------------- */

static void
model_step(const vyre_step *step)
{
  const mix_push *values = step->push;
  const uint32_t *of = step->indirect.buffer.id ? &expected[step->indirect.offset / 4] : step->groups;
  const uint32_t groups = of[0] * of[1] * of[2];
  for (uint32_t i = 0; i < groups; i++)
    expected[values->at] = expected[values->at] * values->factor + values->term;
  expected_launches += groups != 0;
}

/* Runs the steps in order, according to the contract of vyre_sequence. */
static void
run_model(void)
{
  memcpy(expected, m.before, sizeof expected);
  memset(expected_ends, 0, sizeof expected_ends);
  expected_launches = 0;
  for (uint32_t i = 0, r = 0; i < m.sequence.step_count; i++) {
    if (r == m.sequence.repeat_count || i != m.repeats[r].first) {
      model_step(&m.steps[i]);
      continue;
    }
    const vyre_repeat *repeat = &m.repeats[r];
    vyre_repeat_end *end = &expected_ends[r];
    do {
      for (uint32_t k = 0; k < repeat->count; k++)
        model_step(&m.steps[i + k]);
      end->iterations++;
      end->word = repeat->until.buffer.id ? expected[repeat->until.offset / 4] : 0;
    } while (end->iterations < repeat->times && (!repeat->until.buffer.id || end->word));
    if (end->word)
      return;
    i += repeat->count - 1;
    r++;
  }
}

static void
check_results(uint32_t waits)
{
  assert_memory_equal(m.after, expected, sizeof expected);
  assert_memory_equal(m.ends, expected_ends, m.sequence.repeat_count * sizeof *m.ends);
  assert_int_equal(m.timing.launches, expected_launches);
  assert_int_equal(m.timing.bytes_up, sizeof m.before);
  assert_int_equal(m.timing.bytes_down, sizeof m.after + sizeof *m.ends * m.sequence.repeat_count);
  assert_int_equal(m.timing.waits, waits);
}

/* Submits the sequence, compares its results with the model's, and requires `waits` waits. */
static void
check(uint32_t waits)
{
  run_model();
  memset(m.after, 0xee, sizeof m.after);
  memset(m.ends, 0xee, sizeof m.ends);
  assert_ok(ops->submit(m.target, &m.sequence, &m.timing));
  check_results(waits);
}

/* Appends a random step, and perhaps a repeat of the last steps.  Steps that may overlap only add,
 * so that their order has no effect. */
static void
add_random_step(const uint32_t draw[4], uint32_t *in_repeat)
{
  const bool adds = draw[0] % 3 != 0;
  const uint32_t i = m.sequence.step_count, repeats = m.sequence.repeat_count, counter = 8 + repeats;
  vyre_step *step = mix_add_step(&m, (mix_push){draw[1] % 8, adds ? 1 : 3, 1 + draw[0] % 5});
  step->groups[0] = adds ? draw[2] % 4 : 1;
  if (adds && draw[3] % 4 == 0) {
    step->groups[0] = step->groups[1] = step->groups[2] = 2;
    step->indirect = mix_words_at(&m, 16 + draw[3] / 4 % 14, 3);
  }
  step->beside = adds && i && m.pushes[i - 1].factor == 1 && draw[2] % 8 >= 4;
  ++*in_repeat;
  if (repeats == MIX_REPEATS || draw[1] / 8 % 3 != 0)
    return;
  const bool has_until = draw[1] / 32 % 2;
  if (has_until) { /* the step counts its word down */
    m.pushes[i] = (mix_push){counter, 1, UINT32_MAX};
    step->groups[0] = 1;
    step->indirect.buffer.id = 0;
  }
  mix_add_repeat(&m, 1 + draw[2] / 8 % *in_repeat, 1 + draw[3] / 64 % 8, has_until ? counter : MIX_WORDS);
  m.before[counter] = 1 + draw[0] / 16 % 9;
  *in_repeat = 0;
}

TEST_WITH(random_sequences_follow_the_contract, open_mix, close_mix)
{
  uint32_t random = 4711, stopped = 0;
  for (uint32_t round = 0; round < 150; round++) {
    uint32_t draw[MIX_STEPS * 4], in_repeat = 0;
    for (uint32_t i = 0; i < MIX_STEPS * 4; i++) {
      random = random * 1664525u + 1013904223u;
      draw[i] = random >> 12;
    }
    mix_begin(&m);
    for (uint32_t i = 0; i < MIX_WORDS; i++)
      m.before[i] = i >= 16 && i < 32 ? draw[i] % 3 : draw[i % 40] % 7;
    for (uint32_t i = 0; i < MIX_STEPS; i++)
      add_random_step(&draw[i * 4], &in_repeat);
    check(1);
    for (uint32_t i = 0; i < m.sequence.repeat_count; i++)
      stopped += m.ends[i].word != 0;
  }
  assert_true(stopped > 10 && stopped < 140);
}

/* ---- many iterations ----------------------------------------------------------------------------------------------------- */

TEST_WITH(repeats_of_more_iterations_than_are_recorded_take_more_waits, open_mix, close_mix)
{
  static const struct {
    uint32_t left, times, waits;
  } cases[] = {{2500, 1u << 31, 3}, /* 1024, 1024 and 452 */
               {7, 1u << 31, 1},
               {2500, 2400, 3},  /* ends before the word is 0 */
               {2048, 2400, 2}}; /* two full parts */
  m.before[5] = m.before[6] = m.before[7] = 1;
  mix_add_step(&m, (mix_push){0, 1, 1});
  mix_add_step(&m, (mix_push){1, 3, 2});
  mix_add_step(&m, (mix_push){3, 1, UINT32_MAX});
  vyre_step *step = mix_add_step(&m, (mix_push){2, 1, 1});
  step->groups[0] = 4;
  step->indirect = mix_words_at(&m, 5, 3);
  mix_add_repeat(&m, 3, 0, 3);
  mix_add_step(&m, (mix_push){1, 5, 7});
  mix_add_step(&m, (mix_push){4, 1, 1});
  mix_add_repeat(&m, 1, 10, MIX_WORDS);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    m.before[3] = cases[i].left;
    m.repeats[0].times = cases[i].times;
    check(cases[i].waits);
  }
}

TEST_WITH(a_fixed_number_of_iterations_has_no_limit, open_mix, close_mix)
{
  m.before[3] = 2;
  mix_add_step(&m, (mix_push){3, 1, UINT32_MAX});
  mix_add_repeat(&m, 1, 2, 3);
  mix_add_step(&m, (mix_push){1, 3, 2});
  mix_add_repeat(&m, 1, 70000, MIX_WORDS);
  mix_add_step(&m, (mix_push){1, 5, 7});
  check(2);
  m.before[3] = 3; /* the first repeat reaches its limit: later steps do not run, but reads do */
  m.repeats[1].times = 1u << 31;
  check(2);
  assert_int_equal(m.timing.launches, 2);
}

/* Objects that a submission keeps for the next one must grow: descriptor sets, words of its steps, and staging, which begins with
 * one page. */
TEST_WITH(a_larger_sequence_follows_a_smaller_one, open_mix, close_mix)
{
  enum { STEPS = 700, BYTES = 4096 };
  m.before[3] = 5;
  mix_add_step(&m, (mix_push){3, 1, UINT32_MAX});
  mix_add_repeat(&m, 1, 9, 3);
  check(1);
  vyre_device_buffer buffer;
  vyre_step steps[STEPS];
  static uint32_t got[BYTES / 4];
  assert_ok(ops->allocate(m.target, BYTES, &buffer));
  const vyre_range range = {buffer, 0, 0};
  const mix_push values = {BYTES / 4 - 1, 1, 3};
  for (uint32_t i = 0; i < STEPS; i++)
    steps[i] = mix_step(m.kernel, &range, &values);
  const vyre_fill fill = {range, 0};
  const vyre_read read = {range, got};
  vyre_repeat_end end;
  const vyre_repeat repeat = {0, 1, 2, {buffer, 0, 4}};
  const vyre_sequence sequence = {&fill, 1, NULL, 0, steps, STEPS, &read, 1, &repeat, 1, &end, NULL};
  assert_ok(ops->submit(m.target, &sequence, &m.timing));
  assert_int_equal(got[BYTES / 4 - 1], STEPS * 3);
  assert_int_equal(m.timing.launches, STEPS);
  check(1);
  assert_int_equal(m.timing.allocations, 0);
}

/* ---- begun sequences ----------------------------------------------------------------------------------------------------- */

static void
poll_until_done(vyre_ticket ticket)
{
  bool done = false;
  while (!done)
    assert_ok(ops->poll(m.target, ticket, &done));
}

/* The wait submits the second part of the iterations, after the arrays were overwritten. */
TEST_WITH(a_wait_continues_a_repeat_without_the_arrays_of_its_sequence, open_mix, close_mix)
{
  m.before[3] = 1500;
  mix_add_step(&m, (mix_push){1, 3, 2});
  mix_add_step(&m, (mix_push){3, 1, UINT32_MAX});
  mix_add_repeat(&m, 2, 4000, 3);
  mix_add_step(&m, (mix_push){2, 1, 9});
  run_model();
  vyre_ticket ticket;
  assert_ok(ops->begin(m.target, &m.sequence, &ticket));
  memset(m.steps, 0xee, sizeof m.steps);
  memset(m.pushes, 0xee, sizeof m.pushes);
  memset(m.repeats, 0xee, sizeof m.repeats);
  m.upload.data = NULL;
  assert_ok(ops->wait(m.target, ticket, &m.timing));
  check_results(2);
}

TEST_WITH(polling_continues_a_repeat, open_mix, close_mix)
{
  m.before[3] = 2500;
  mix_add_step(&m, (mix_push){3, 1, UINT32_MAX});
  mix_add_repeat(&m, 1, 4000, 3);
  run_model();
  vyre_ticket ticket;
  assert_ok(ops->begin(m.target, &m.sequence, &ticket));
  poll_until_done(ticket);
  assert_ok(ops->wait(m.target, ticket, &m.timing));
  check_results(3);
}

/* Polling does not report an error, but the wait does. */
TEST_WITH(a_wait_reports_an_error_of_a_begun_sequence, open_mix, close_mix)
{
  vyre_ticket ticket, left;
  m.before[9] = m.before[10] = m.before[11] = 5;
  mix_add_step(&m, (mix_push){0, 1, 1})->indirect = mix_words_at(&m, 9, 3);
  assert_ok(ops->begin(m.target, &m.sequence, &ticket));
  assert_ok(ops->begin(m.target, &m.sequence, &left)); /* closing the target waits for it */
  poll_until_done(ticket);
  assert_fails(ops->wait(m.target, ticket, NULL), VYRE_CODE_INPUT, "more than 1 x 1 x 1", "in step 0");
  assert_fails(ops->submit(m.target, &m.sequence, &m.timing), VYRE_CODE_INPUT, "more than 1 x 1 x 1", "in step 0");
  assert_int_equal(m.timing.waits, 0);
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------- */

static void
keep_allocations(void *user, const char *name, uint64_t value)
{
  if (strcmp(name, "allocations") == 0)
    *(uint64_t *)user = value;
}

/* The target allocates memory for buffers and, if memory is not shared, for staging in both directions. */
TEST_WITH(allocations_are_counted, open_mix, close_mix)
{
  vyre_device_info info;
  uint64_t allocations = 0;
  char got[4];
  vyre_device_buffer kept;
  ops->describe(m.target, &info);
  assert_ok(ops->keep(m.target, 1, &(vyre_static){"abcd", 4}, 1, &kept, NULL));
  assert_ok(vyre_target_read(ops, m.target, kept, 0, 4, got));
  assert_memory_equal(got, "abcd", 4);
  ops->metrics(m.target, keep_allocations, &allocations);
  assert_int_equal(allocations, info.capabilities & VYRE_TARGET_SHARED ? 2 : 4);
}
