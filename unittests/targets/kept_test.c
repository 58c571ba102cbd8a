/* Kept data: sets with equal keys, budgets, and failures.  The conformance suite tests the behavior of each target.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../messages.h"
#include "fake.h"

static vyre_target *
open_with_budget(uint64_t kept)
{
  vyre_target *target = fake_open(true, NULL);
  target_base *base = target_base_of(target);
  base->has_budgets = true;
  base->kept_budget = kept;
  return target;
}

static bool
keep(vyre_target *target, uint64_t domain, const void *data, uint64_t size, vyre_device_buffer *out)
{
  bool found;
  assert_ok(target_keep(target, domain, &(vyre_static){data, size}, 1, out, &found));
  return found;
}

TEST(sets_with_equal_keys_are_distinct)
{
  static const vyre_static abc[] = {{"abc", 3}}, abd[] = {{"abd", 3}}, ab_c[] = {{"ab", 2}, {"c", 1}},
                           a_bc[] = {{"a", 1}, {"bc", 2}};
  static const struct {
    uint64_t domain;
    const vyre_static *parts;
    uint32_t count;
  } cases[] = {{0, abc, 1}, {1, abc, 1}, {0, abd, 1}, {0, ab_c, 2}, {0, a_bc, 2}};
  vyre_target *target = open_with_budget(10000);
  vyre_device_buffer sets[10][2];
  target_base_of(target)->kept_key_mask = 0;
  for (uint32_t i = 0; i < 10; i++) {
    bool found;
    assert_ok(target_keep(target, cases[i % 5].domain, cases[i % 5].parts, cases[i % 5].count, sets[i], &found));
    assert_int_equal(found, i >= 5);
    for (uint32_t k = 0; k < i; k++)
      assert_int_equal(sets[k][0].id == sets[i][0].id, k == i % 5);
  }
  assert_ok(fake_close(target));
}

TEST(held_sets_are_not_evicted)
{
  vyre_target *target = open_with_budget(20);
  const target_base *base = target_base_of(target);
  unsigned char data[64] = {0};
  vyre_device_buffer held, small, middle, old, large;
  keep(target, 0, data, 64, &held); /* beyond the budget */
  keep(target, 0, data, 4, &small);
  keep(target, 0, data, 10, &old);
  keep(target, 1, data, 10, &middle);
  assert_ok(target_drop(target, &small, 1));
  assert_ok(target_drop(target, &old, 1));
  assert_int_equal(base->bytes_idle, 14);
  assert_ok(target_drop(target, &middle, 1)); /* 24 bytes: evicts the least recently held of the largest sets */
  assert_int_equal(base->bytes_idle, 14);
  assert_null(target_buffer_get(target, old));
  assert_non_null(target_buffer_get(target, middle));
  assert_non_null(target_buffer_get(target, small));
  assert_non_null(target_buffer_get(target, held));
  keep(target, 0, data, 19, &large);
  assert_ok(target_drop(target, &large, 1)); /* the dropped set is the largest */
  assert_null(target_buffer_get(target, large));
  assert_true(keep(target, 1, data, 10, &middle));
  assert_int_equal(base->bytes_idle, 4);
  assert_true(keep(target, 0, data, 64, &held));
  assert_ok(target_drop(target, &held, 1)); /* the first keep still holds the set */
  assert_non_null(target_buffer_get(target, held));
  assert_ok(target_drop(target, &held, 1));
  assert_null(target_buffer_get(target, held));
  assert_int_equal(base->counters.kept_evictions, 3);
  assert_int_equal(base->counters.bytes_kept, 14);
  assert_int_equal(base->counters.sets_kept, 2);
  assert_ok(fake_close(target));
}

TEST(sequences_in_flight_hold_sets)
{
  vyre_target *target = open_with_budget(0);
  vyre_device_buffer kept;
  unsigned char got[3];
  keep(target, 0, "abc", 3, &kept);
  const vyre_read read = {{kept, 0, 0}, got};
  vyre_ticket ticket;
  assert_ok(target_begin(target, &(vyre_sequence){.reads = &read, .read_count = 1}, &ticket));
  assert_ok(target_drop(target, &kept, 1));
  assert_non_null(target_buffer_get(target, kept));
  assert_ok(target_wait(target, ticket, NULL));
  assert_memory_equal(got, "abc", 3);
  assert_null(target_buffer_get(target, kept));
  assert_int_equal(target_base_of(target)->bytes_idle, 0);
  assert_ok(fake_close(target));
}

TEST(a_failed_set_leaves_nothing)
{
  vyre_target *target = open_with_budget(1000);
  const vyre_static parts[] = {{"ab", 2}, {"c", 1}};
  vyre_device_buffer set[2];
  fake_of(target)->create_fails_after = 1;
  assert_fails(target_keep(target, 0, parts, 2, set, NULL), VYRE_CODE_DEVICE, "no memory", "buffer 1 of 2");
  assert_int_equal(set[0].id, 0);
  fake_of(target)->create_fails_after = UINT32_MAX;
  fake_of(target)->run_fails = true;
  assert_fails(target_keep(target, 0, parts, 2, set, NULL), VYRE_CODE_DEVICE, "nothing runs", "");
  fake_of(target)->run_fails = false;
  assert_int_equal(target_base_of(target)->counters.buffers_live, 0);
  assert_int_equal(target_base_of(target)->counters.sets_kept, 0);
  assert_ok(target_keep(target, 0, parts, 2, set, NULL));
  assert_ok(fake_close(target));
}
