/* Calls of the driver: one submit and one wait for a sequence, and no new objects for a sequence that was submitted before.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vulkan.h"

#include "fake_vulkan.h"
#include "mix.h"

static const fake_vulkan *fake;
static mix m;
static vyre_fill fill;

static int
open_mix(void **state)
{
  (void)state;
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(FAKE_VULKAN)};
  fake = fake_vulkan_open(options.library);
  assert_non_null(fake);
  fake->count(NULL);
  mix_open(&m, &options, NULL);
  return 0;
}

static int
close_mix(void **state)
{
  (void)state;
  assert_ok(ops->close(m.target));
  fake->set("", VK_SUCCESS);
  return 0;
}

/* Adds 3 to word 1 until word 0, which counts down, is 0. */
static void
count_down_from(uint32_t times)
{
  m.before[0] = times;
  mix_add_step(&m, (mix_push){1, 1, 3});
  mix_add_step(&m, (mix_push){0, 1, UINT32_MAX});
  mix_add_repeat(&m, 2, 5000, 0);
  fill = (vyre_fill){mix_words_at(&m, 8, MIX_WORDS - 8), 7};
  m.upload.range = mix_words_at(&m, 0, 8);
  m.sequence.fills = &fill;
  m.sequence.fill_count = 1;
}

/* Submits the sequence, whose steps are repeated `times` times, and checks its results and its counts of calls. */
static void
check(uint32_t times)
{
  fake->count(NULL);
  memset(m.after, 0xee, sizeof m.after);
  assert_ok(ops->submit(m.target, &m.sequence, &m.timing));
  assert_int_equal(m.after[0], 0);
  assert_int_equal(m.after[1], m.pushes[0].term * times);
  assert_int_equal(m.after[15], 7);
  assert_int_equal(m.timing.waits, fake->count("vkWaitSemaphores"));
  assert_int_equal(m.timing.batches, fake->count("vkQueueSubmit"));
}

static void
assert_nothing_is_created(void)
{
  static const char *const calls[] = {"vkCreate", "vkAllocate", "vkMapMemory", "vkUpdateDescriptorSets"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (fake->count(calls[i]))
      fail_msg("%s is called", calls[i]);
  assert_int_equal(fake->count("vkBeginCommandBuffer"), 2); /* for the commands before the steps, and after them */
}

TEST_WITH(a_repeated_sequence_is_one_submit_and_one_wait, open_mix, close_mix)
{
  count_down_from(9);
  check(9);
  assert_true(fake->count("vkBeginCommandBuffer") > 2 && fake->count("vkCreate") > 0 && fake->count("vkUpdateDescriptorSets") > 0);
  for (uint32_t round = 0; round < 3; round++) {
    m.before[0] = 5 + round; /* uploaded data are not part of the recording */
    check(5 + round);
    assert_int_equal(fake->count("vkQueueSubmit"), 1);
    assert_int_equal(fake->count("vkWaitSemaphores"), 1);
    assert_int_equal(m.timing.allocations, 0);
    assert_nothing_is_created();
  }
  m.pushes[0].term = 4; /* push constants are part of the recording */
  check(7);
  assert_int_equal(fake->count("vkBeginCommandBuffer"), 3);
  assert_int_equal(fake->count("vkAllocateMemory"), 0);
  m.pushes[0].term = 3;
  check(7);
  assert_nothing_is_created(); /* both recordings are kept */
}

TEST_WITH(an_insufficient_bound_submits_again, open_mix, close_mix)
{
  count_down_from(4);
  m.target->most_iterations = 1;
  for (uint32_t round = 0; round < 2; round++) {
    check(4);
    assert_int_equal(m.timing.batches, 4);
    assert_int_equal(m.timing.waits, 4);
    assert_int_equal(m.ends[0].iterations, 4);
    assert_int_equal(m.timing.launches, 8);
  }
  assert_int_equal(fake->count("vkCreate"), 0);
  m.target->most_iterations = 3; /* the repeat ends in the middle of the second part */
  m.before[0] = 5;
  m.repeats[0].times = 4999; /* a sequence of another shape */
  check(5);
  assert_int_equal(m.timing.batches, 2);
}

TEST_WITH(many_launches_are_several_batches_and_one_wait, open_mix, close_mix)
{
  count_down_from(5000);
  m.repeats[0].until = (vyre_range){{0}, 0, 0};
  check(5000);
  assert_int_equal(m.timing.waits, 1);
  assert_int_equal(m.timing.batches, 3); /* of at most 4096 launches */
  assert_int_equal(m.timing.launches, 10000);
}

/* Copies use a separate queue, if there is one, only while a sequence is in flight.  The driver does not report progress, so only
 * waits show that a sequence is done. */
TEST_WITH(copies_beside_a_sequence_in_flight_have_their_own_queue, open_mix, close_mix)
{
  fake->set("vkGetSemaphoreCounterValue", VK_SUCCESS);
  const bool has_transfer = m.target->choice.has_transfer;
  count_down_from(1);
  m.sequence.repeat_count = m.sequence.fill_count = 0;
  m.read.range = m.upload.range;
  for (uint32_t round = 0; round < 2; round++) {
    vyre_ticket first, second;
    uint32_t later[8] = {0};
    const vyre_read read = {m.read.range, later};
    vyre_sequence next = m.sequence;
    next.reads = &read;
    assert_ok(ops->begin(m.target, &m.sequence, &first));
    assert_ok(ops->begin(m.target, &next, &second));
    assert_ok(ops->wait(m.target, second, &m.timing));
    assert_int_equal(m.timing.batches, has_transfer ? 3 : 1); /* uploads, steps and reads */
    assert_ok(ops->wait(m.target, first, &m.timing));
    assert_int_equal(m.timing.batches, 1);
    assert_int_equal(m.after[1], 3);
    assert_int_equal(later[1], 3);
    assert_ok(ops->submit(m.target, &m.sequence, &m.timing)); /* nothing is in flight */
    assert_int_equal(m.timing.batches, 1);
  }
}
