/* Buffers of targets/common: handles, the pool and its counters, many buffers at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "../messages.h"
#include "fake.h"

static vyre_device_buffer
allocate(vyre_target *target, uint64_t size)
{
  vyre_device_buffer buffer;
  assert_ok(target_allocate(target, size, &buffer));
  assert_int_not_equal(buffer.id, 0);
  return buffer;
}

static vyre_target *
open_with_budget(uint64_t pool)
{
  vyre_target *target = fake_open(true, NULL);
  target_base *base = target_base_of(target);
  base->has_budgets = true;
  base->pool_budget = base->kept_budget = pool;
  return target;
}

/* ---- handles ------------------------------------------------------------------------------------------------------------- */

TEST(handles_have_a_place_and_a_number)
{
  vyre_target *target = fake_open(false, NULL);
  const vyre_device_buffer first = allocate(target, 16);
  assert_ok(target_free(target, first));
  const vyre_device_buffer again = allocate(target, 16);
  assert_int_equal((uint32_t)again.id, (uint32_t)first.id); /* the place is the same, the number is not */
  assert_true(again.id != first.id);
  for (uint32_t i = 0; i < 100; i++) /* grows the table */
    assert_int_not_equal(allocate(target, 8).id, again.id);
  assert_ok(target_free(target, again));
  assert_ok(fake_close(target));
}

/* ---- the pool ------------------------------------------------------------------------------------------------------------ */

TEST(freed_buffers_are_pooled_by_size)
{
  vyre_target *target = open_with_budget(64);
  const target_counters *counters = &target_base_of(target)->counters;
  vyre_device_buffer first = allocate(target, 64), second = allocate(target, 64);
  assert_int_equal(counters->bytes_live, 128);
  assert_ok(target_free(target, first));
  assert_int_equal(fake_of(target)->bytes, 128); /* the memory is in the pool */
  assert_int_equal(counters->bytes_pooled, 64);
  assert_int_equal(counters->bytes_live, 64);
  assert_ok(target_free(target, second));
  assert_int_equal(fake_of(target)->bytes, 64); /* the budget is for one of them */
  assert_int_equal(counters->evictions, 1);
  assert_int_equal(counters->bytes_live, 0);
  allocate(target, 63); /* does not reuse the free 64 bytes */
  assert_int_equal(fake_of(target)->made, 3);
  allocate(target, 64);
  assert_int_equal(fake_of(target)->made, 3);
  assert_int_equal(counters->reuses, 1);
  assert_int_equal(counters->bytes_pooled, 0);
  assert_int_equal(counters->buffers_pooled, 0);
  assert_int_equal(counters->allocations, 3);
  vyre_device_buffer large = allocate(target, 65); /* beyond the budget by itself */
  assert_ok(target_free(target, large));
  assert_int_equal(counters->bytes_pooled, 0);
  assert_ok(fake_close(target));
}

TEST(the_pool_evicts_the_newest_buffer_of_the_largest_size)
{
  vyre_target *target = open_with_budget(100);
  fake_target *fake = fake_of(target);
  vyre_device_buffer buffers[] = {allocate(target, 10), allocate(target, 40), allocate(target, 20),
                                  allocate(target, 20), allocate(target, 10), allocate(target, 30)};
  void *old = target_buffer_get(target, buffers[2])->memory;
  assert_ok(target_free_many(target, buffers, 5));
  assert_int_equal(fake->freed, 0);
  assert_int_equal(fake->base.counters.bytes_pooled, 100);
  assert_ok(target_free(target, buffers[5])); /* needs 30 bytes: evicts the buffer of 40 */
  assert_int_equal(fake->freed, 1);
  assert_int_equal(fake->destroyed[0], 40);
  assert_int_equal(fake->base.counters.bytes_pooled, 90);
  vyre_device_buffer more = allocate(target, 50);
  assert_ok(target_free(target, more)); /* evicts the buffer of 30 and the newest of 20 */
  assert_int_equal(fake->freed, 3);
  assert_int_equal(fake->destroyed[1], 30);
  assert_int_equal(fake->destroyed[2], 20);
  assert_ptr_equal(target_buffer_get(target, allocate(target, 20))->memory, old);
  assert_int_equal(fake->base.counters.evictions, 3);
  assert_ok(fake_close(target));
}

enum { MOST_LIVE = 40 };

/* Asserts that the target has exactly the live buffers, and that its counters are their sums. */
static void
check_sums(vyre_target *target, const vyre_device_buffer *live, const uint64_t *sizes, uint32_t count)
{
  const target_counters *counters = &target_base_of(target)->counters;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; i++) {
    target_buffer *buffer = target_buffer_get(target, live[i]);
    assert_non_null(buffer);
    assert_int_equal(buffer->size, sizes[i]);
    bytes += sizes[i];
    for (uint32_t k = 0; k < i; k++)
      assert_ptr_not_equal(target_buffer_get(target, live[k])->memory, buffer->memory);
  }
  assert_int_equal(counters->bytes_live, bytes);
  assert_int_equal(counters->buffers_live, count);
  assert_int_equal(counters->bytes_live + counters->bytes_pooled, fake_of(target)->bytes);
  assert_int_equal(counters->buffers_live + counters->buffers_pooled, fake_of(target)->made - fake_of(target)->freed);
  assert_true(counters->bytes_pooled <= 300);
}

TEST(buffers_never_share_memory)
{
  static const uint64_t classes[] = {8, 16, 24, 64, 100, 301};
  vyre_target *target = open_with_budget(300);
  vyre_device_buffer live[MOST_LIVE];
  uint64_t sizes[MOST_LIVE];
  uint32_t count = 0, random = 12345;
  for (uint32_t round = 0; round < 3000; round++) {
    random = random * 1664525u + 1013904223u;
    const uint32_t draw = random >> 8;
    if (count < MOST_LIVE && (count == 0 || draw % 2)) {
      sizes[count] = classes[draw / 2 % 6];
      live[count] = allocate(target, sizes[count]);
      count++;
    } else {
      const uint32_t which = draw / 2 % count;
      assert_ok(target_free(target, live[which]));
      live[which] = live[--count];
      sizes[which] = sizes[count];
    }
    check_sums(target, live, sizes, count);
  }
  assert_true(target_base_of(target)->counters.reuses > 100);
  assert_ok(fake_close(target));
}

TEST(overflows_of_counters_are_errors)
{
  vyre_target *target = open_with_budget(1000);
  target_counters *counters = &target_base_of(target)->counters;
  vyre_device_buffer buffer = allocate(target, 16);
  counters->bytes_live = 15;
  assert_fails(target_free(target, buffer), VYRE_CODE_INTERNAL, "16 cannot be subtracted from the count", "bytes of live buffers");
  counters->bytes_live = 0;
  counters->bytes_pooled = 15;
  assert_fails(target_allocate(target, 16, &buffer), VYRE_CODE_INTERNAL, "16 cannot be subtracted from the count", "bytes of the pool");
  counters->bytes_pooled = counters->buffers_pooled = 0;
  counters->bytes_live = UINT64_MAX - 15;
  assert_fails(target_allocate(target, 16, &buffer), VYRE_CODE_INTERNAL, "16 cannot be added to", "bytes of live buffers");
  assert_int_equal(buffer.id, 0);
  assert_int_equal(counters->bytes_live, UINT64_MAX - 15);
  counters->bytes_live = 0;
  buffer = allocate(target, 8);
  assert_ok(target_pool_trim(target, 0));
  target_base_of(target)->pool_budget = UINT64_MAX;
  counters->bytes_pooled = UINT64_MAX - 7;
  assert_fails(target_free(target, buffer), VYRE_CODE_INTERNAL, "8 cannot be added to", "bytes of the pool");
  counters->bytes_pooled = 0;
  assert_ok(fake_close(target));
}

TEST(idle_memory_is_freed_when_the_device_has_none)
{
  vyre_target *target = open_with_budget(1000);
  fake_target *fake = fake_of(target);
  assert_ok(target_free(target, allocate(target, 16)));
  const unsigned char data[] = {1, 2, 3};
  vyre_device_buffer kept, buffer;
  assert_ok(target_keep(target, 0, &(vyre_static){data, 3}, 1, &kept, NULL));
  assert_ok(target_drop(target, &kept, 1));
  fake->create_fails_after = 0;
  buffer = allocate(target, 32);
  assert_int_equal(fake->freed, 2);
  assert_int_equal(fake->base.counters.evictions, 2);
  assert_int_equal(fake->base.counters.kept_evictions, 1);
  fake->create_fails_after = 0;
  assert_fails(target_allocate(target, 32, &kept), VYRE_CODE_DEVICE, "no memory", "use less");
  assert_ok(target_free(target, buffer));
  assert_ok(fake_close(target));
}

/* ---- many at once -------------------------------------------------------------------------------------------------------- */

TEST(a_failed_allocate_many_frees_all)
{
  vyre_target *target = open_with_budget(0); /* without a pool, buffers are destroyed at once */
  fake_target *fake = fake_of(target);
  const uint64_t sizes[] = {4, 8, 12};
  vyre_device_buffer buffers[3] = {{1}, {2}, {3}};
  fake->create_fails_after = 2;
  assert_fails(target_allocate_many(target, sizes, 3, buffers), VYRE_CODE_DEVICE, "fake: no memory", "buffer 2 of 3");
  for (uint32_t i = 0; i < 3; i++)
    assert_int_equal(buffers[i].id, 0);
  assert_int_equal(fake->freed, 2); /* in order */
  assert_int_equal(fake->destroyed[0], 4);
  assert_int_equal(fake->destroyed[1], 8);
  assert_int_equal(fake->base.counters.allocations, 3);
  assert_int_equal(fake->base.counters.bytes_live, 0);
  fake->create_fails_after = UINT32_MAX;
  assert_ok(target_allocate_many(target, sizes, 3, buffers));
  assert_int_equal(fake->base.counters.bytes_live, 24);
  const vyre_device_buffer twice[] = {buffers[0], buffers[1], buffers[1], buffers[2]};
  assert_fails(target_free_many(target, twice, 4), VYRE_CODE_INPUT, "not a buffer", "buffer 2 of 4");
  assert_int_equal(fake->base.counters.bytes_live, 0); /* the buffers after the error are freed, too */
  assert_ok(fake_close(target));
}

/* ---- each allocation fails once ------------------------------------------------------------------------------------------ */

static vyre_status
use(vyre_target *target)
{
  vyre_device_buffer buffers[2], kept;
  vyre_kernel kernel;
  vyre_ticket ticket;
  const uint64_t sizes[] = {16, 32};
  const uint32_t data[] = {1, 2};
  const vyre_kernel_slot slot = {.kind = VYRE_SLOT_STORAGE};
  const vyre_kernel_desc desc = {.code = data, .size = 8, .entry = "main", .workgroup = {1, 1, 1}, .slots = &slot, .slot_count = 1};
  VYRE_TRY(target_allocate_many(target, sizes, 2, buffers));
  VYRE_TRY(target_keep(target, 1, &(vyre_static){data, 8}, 1, &kept, NULL));
  VYRE_TRY(target_compile(target, &desc, &kernel));
  const vyre_range range = {buffers[0], 0, 0};
  const vyre_step step = {.kernel = kernel, .buffers = &range, .buffer_count = 1, .groups = {1, 1, 1}};
  VYRE_TRY(target_begin(target, &(vyre_sequence){.steps = &step, .step_count = 1}, &ticket));
  VYRE_TRY(target_wait(target, ticket, NULL));
  VYRE_TRY(target_drop(target, &kept, 1));
  return target_free_many(target, buffers, 2);
}

static vyre_status
open_and_use(const vyre_allocator *allocator, void *user)
{
  vyre_target *target = fake_open(true, allocator);
  (void)user;
  vyre_status status = use(target);
  return vyre_status_join(status, fake_close(target));
}

TEST(running_out_of_host_memory_anywhere_leaves_nothing)
{
  assert_true(test_each_failure(open_and_use, NULL, true, 1) > 10);
}
