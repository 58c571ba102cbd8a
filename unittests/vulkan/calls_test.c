/* What the driver is called for: one submit and one wait a sequence, and for one that was there before nothing is made.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "bundle.h"
#include "vulkan.h"

#include "fake_vulkan.h"

#include <dlfcn.h>

#include "messages.h"
#include "mix.h"

enum { WORDS = 16 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static fake_vulkan_count_function count;
static fake_vulkan_set_function set_failure;

typedef struct fixture {
  vyre_target *target;
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  vyre_range all;
  uint32_t before[WORDS], after[WORDS];
  mix_push pushes[2];
  vyre_fill fill;
  vyre_upload upload;
  vyre_step steps[2];
  vyre_repeat repeat;
  vyre_repeat_end end;
  vyre_read read;
  vyre_sequence sequence;
  vyre_timing timing;
} fixture;

/* Word 1 goes up until word 0 is 0, which is so after `times` iterations. */
static void
open_fixture(fixture *f, uint32_t times)
{
  const vyre_target_options options = {.library = test_file(FAKE_VULKAN)};
  memset(f, 0, sizeof *f);
  count(NULL);
  assert_ok(ops->open(&options, NULL, &f->target));
  assert_ok(ops->compile(f->target, &mix_kernel, &f->kernel));
  assert_ok(ops->allocate(f->target, sizeof f->before, &f->buffer));
  f->all = (vyre_range){f->buffer, 0, 0};
  f->before[0] = times;
  f->pushes[0] = (mix_push){1, 1, 3};
  f->pushes[1] = (mix_push){0, 1, UINT32_MAX};
  for (uint32_t i = 0; i < 2; i++)
    f->steps[i] = mix_step(f->kernel, &f->all, &f->pushes[i]);
  f->fill = (vyre_fill){{f->buffer, 32, 32}, 7};
  f->upload = (vyre_upload){{f->buffer, 0, 32}, f->before};
  f->read = (vyre_read){f->all, f->after};
  f->repeat = (vyre_repeat){0, 2, 5000, {f->buffer, 0, 4}};
  f->sequence = (vyre_sequence){&f->fill, 1, &f->upload, 1, f->steps, 2, &f->read, 1, &f->repeat, 1, &f->end, NULL};
}

static void
check(fixture *f, uint32_t times)
{
  count(NULL);
  memset(f->after, 0xee, sizeof f->after);
  assert_ok(ops->submit(f->target, &f->sequence, &f->timing));
  assert_int_equal(f->after[0], 0);
  assert_int_equal(f->after[1], 3 * times);
  assert_int_equal(f->after[15], 7);
  assert_int_equal(f->timing.waits, count("vkWaitSemaphores"));
  assert_int_equal(f->timing.batches, count("vkQueueSubmit"));
}

static void
assert_nothing_is_made(void)
{
  assert_int_equal(count("vkCreate"), 0);
  assert_int_equal(count("vkAllocate"), 0);
  assert_int_equal(count("vkMapMemory"), 0);
  assert_int_equal(count("vkUpdateDescriptorSets"), 0);
  assert_int_equal(count("vkBeginCommandBuffer"), 2); /* of what is before its steps, and after them */
}

TEST(a_sequence_that_comes_again_is_one_submit_and_one_wait)
{
  fixture f;
  open_fixture(&f, 9);
  check(&f, 9);
  assert_true(count("vkBeginCommandBuffer") > 2 && count("vkCreate") > 0 && count("vkUpdateDescriptorSets") > 0);
  for (uint32_t round = 0; round < 3; round++) {
    f.before[0] = 5 + round; /* what goes up is no part of what is recorded */
    check(&f, 5 + round);
    assert_int_equal(count("vkQueueSubmit"), 1);
    assert_int_equal(count("vkWaitSemaphores"), 1);
    assert_int_equal(f.timing.allocations, 0);
    assert_nothing_is_made();
  }
  f.pushes[0].term = 4; /* but this is */
  count(NULL);
  assert_ok(ops->submit(f.target, &f.sequence, NULL));
  assert_int_equal(f.after[1], 4 * 7);
  assert_int_equal(count("vkBeginCommandBuffer"), 3);
  assert_int_equal(count("vkAllocateMemory"), 0);
  f.pushes[0].term = 3;
  check(&f, 7);
  assert_nothing_is_made(); /* both are kept */
  assert_ok(ops->close(f.target));
}

TEST(a_bound_that_was_not_enough_submits_again)
{
  fixture f;
  open_fixture(&f, 4);
  f.target->most_iterations = 1;
  for (uint32_t round = 0; round < 2; round++) {
    check(&f, 4);
    assert_int_equal(count("vkQueueSubmit"), 4);
    assert_int_equal(count("vkWaitSemaphores"), 4);
    assert_int_equal(f.end.iterations, 4);
    assert_int_equal(f.timing.launches, 8);
  }
  assert_int_equal(count("vkCreate"), 0);
  f.target->most_iterations = 3; /* tells of a repeat that ends in the second one's middle */
  f.before[0] = 5;
  f.repeat.times = 4999; /* another shape */
  check(&f, 5);
  assert_int_equal(count("vkQueueSubmit"), 2);
  assert_ok(ops->close(f.target));
}

TEST(many_launches_are_several_batches_and_one_wait)
{
  fixture f;
  open_fixture(&f, 5000);
  f.repeat.until = (vyre_range){{0}, 0, 0};
  check(&f, 5000);
  assert_int_equal(count("vkWaitSemaphores"), 1);
  assert_int_equal(count("vkQueueSubmit"), 3); /* of 4096 launches at most */
  assert_int_equal(f.timing.launches, 10000);
  assert_ok(ops->close(f.target));
}

/* Copies go by a queue of their own, if there is one, where something is in flight, and there alone.  The driver does not tell how
 * far it has come, so that only waits do. */
TEST(copies_have_a_queue_of_their_own_beside_what_runs)
{
  fixture f;
  set_failure("vkGetSemaphoreCounterValue", VK_NOT_READY);
  open_fixture(&f, 1);
  set_failure("", VK_SUCCESS);
  const bool has_transfer = f.target->choice.has_transfer;
  f.sequence.repeat_count = f.sequence.fill_count = 0;
  f.upload.range.size = f.read.range.size = 32;
  for (uint32_t round = 0; round < 2; round++) {
    vyre_ticket first, second;
    uint32_t later[8] = {0};
    const vyre_read read = {f.read.range, later};
    vyre_sequence next = f.sequence;
    next.reads = &read;
    assert_ok(ops->begin(f.target, &f.sequence, &first));
    assert_ok(ops->begin(f.target, &next, &second));
    assert_ok(ops->wait(f.target, second, &f.timing));
    assert_int_equal(f.timing.batches, has_transfer ? 3 : 1); /* up, steps, down */
    assert_ok(ops->wait(f.target, first, &f.timing));
    assert_int_equal(f.timing.batches, 1);
    assert_int_equal(f.after[1], 3);
    assert_int_equal(later[1], 3);
    assert_ok(ops->submit(f.target, &f.sequence, &f.timing)); /* all is done after it */
    assert_int_equal(f.timing.batches, 1);
  }
  assert_ok(ops->close(f.target));
}

static int
prepare(void **state)
{
  (void)state;
  void *library = dlopen(test_file(FAKE_VULKAN), RTLD_NOW | RTLD_LOCAL),
       *symbol = library ? dlsym(library, "fake_vulkan_count") : NULL;
  memcpy(&count, &symbol, sizeof symbol);
  symbol = library ? dlsym(library, "fake_vulkan_set") : NULL;
  memcpy(&set_failure, &symbol, sizeof symbol);
  return symbol ? 0 : -1;
}

TEST_MAIN(prepare, NULL)
