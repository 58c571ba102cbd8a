/* Data that is kept: found by what it holds, held by counts, within a budget.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "asserts.h"
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

TEST(what_is_there_is_not_uploaded_again)
{
  vyre_target *target = open_with_budget(10000);
  const target_counters *counters = &target_base_of(target)->counters;
  unsigned char data[256], more[512], got[512];
  memset(data, 1, sizeof data);
  memset(more, 2, sizeof more);
  const vyre_static parts[] = {{data, 256}, {more, 512}};
  vyre_device_buffer first[2], second[2];
  bool found = true;
  assert_ok(target_keep(target, 5, parts, 2, first, &found));
  assert_false(found);
  assert_int_equal(counters->bytes_up, 768);
  assert_int_equal(counters->submits, 1);
  assert_int_equal(counters->bytes_kept, 768);
  assert_int_equal(counters->bytes_live, 768);
  assert_ok(target_keep(target, 5, parts, 2, second, &found));
  assert_true(found);
  assert_memory_equal(first, second, sizeof first);
  assert_int_equal(counters->bytes_up, 768);
  assert_int_equal(counters->submits, 1);
  const vyre_read read = {{first[1], 0, 0}, got};
  assert_ok(target_submit(target, &(vyre_sequence){.reads = &read, .read_count = 1}, NULL));
  assert_memory_equal(got, more, sizeof more);
  assert_ok(target_drop(target, first, 2));
  assert_ok(target_drop(target, second, 2));
  assert_fails(target_drop(target, first, 2), VYRE_CODE_INPUT, "no set that is held", "");
  assert_ok(target_keep(target, 5, parts, 2, second, &found)); /* nobody held it, and it stayed */
  assert_true(found);
  assert_int_equal(counters->kept_hits, 2);
  assert_int_equal(counters->kept_misses, 1);
  assert_int_equal(counters->sets_kept, 1);
  assert_ok(fake_close(target));
}

TEST(another_domain_or_division_or_byte_is_another_set)
{
  for (uint32_t round = 0; round < 2; round++) { /* the second time all have one key */
    vyre_target *target = open_with_budget(10000);
    if (round)
      target_base_of(target)->kept_key_mask = 0;
    vyre_device_buffer sets[6][2];
    bool found = false;
    const vyre_static abc[] = {{"abc", 3}}, abd[] = {{"abd", 3}}, ab_c[] = {{"ab", 2}, {"c", 1}}, a_bc[] = {{"a", 1}, {"bc", 2}};
    const struct {
      uint64_t domain;
      const vyre_static *parts;
      uint32_t count;
    } cases[] = {{0, abc, 1}, {1, abc, 1}, {0, abd, 1}, {0, ab_c, 2}, {0, a_bc, 2}};
    for (uint32_t i = 0; i < 5; i++) {
      assert_ok(target_keep(target, cases[i].domain, cases[i].parts, cases[i].count, sets[i], &found));
      assert_false(found);
      for (uint32_t k = 0; k < i; k++)
        assert_int_not_equal(sets[k][0].id, sets[i][0].id);
    }
    for (uint32_t i = 0; i < 5; i++) {
      assert_ok(target_keep(target, cases[i].domain, cases[i].parts, cases[i].count, sets[5], &found));
      assert_true(found);
      assert_int_equal(sets[5][0].id, sets[i][0].id);
    }
    assert_ok(fake_close(target));
  }
}

TEST(what_somebody_holds_stays)
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
  assert_ok(target_drop(target, &middle, 1)); /* 24: of the largest the one that nobody held for longest */
  assert_int_equal(base->bytes_idle, 14);
  assert_null(target_buffer_get(target, old));
  assert_non_null(target_buffer_get(target, middle));
  assert_non_null(target_buffer_get(target, small));
  assert_non_null(target_buffer_get(target, held));
  keep(target, 0, data, 19, &large);
  assert_ok(target_drop(target, &large, 1)); /* itself the largest */
  assert_null(target_buffer_get(target, large));
  assert_true(keep(target, 1, data, 10, &middle));
  assert_int_equal(base->bytes_idle, 4);
  assert_true(keep(target, 0, data, 64, &held));
  assert_ok(target_drop(target, &held, 1)); /* the other one holds it still */
  assert_non_null(target_buffer_get(target, held));
  assert_ok(target_drop(target, &held, 1));
  assert_null(target_buffer_get(target, held));
  assert_int_equal(base->counters.kept_evictions, 3);
  assert_int_equal(base->counters.bytes_kept, 14);
  assert_int_equal(base->counters.sets_kept, 2);
  assert_ok(fake_close(target));
}

TEST(what_was_begun_holds_a_set_too)
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

TEST(misuse_is_refused)
{
  vyre_target *target = open_with_budget(1000);
  const vyre_static parts[] = {{"ab", 2}, {"c", 1}}, bad[] = {{"ab", 2}, {"c", 0}}, none[] = {{NULL, 2}}, large[] = {{"a", 4097}};
  vyre_device_buffer set[2], own;
  assert_fails(target_keep(target, 0, parts, 0, set, NULL), VYRE_CODE_INPUT, "no parts", "");
  assert_fails(target_keep(target, 0, bad, 2, set, NULL), VYRE_CODE_INPUT, "part 1 of 2", "0 bytes");
  assert_fails(target_keep(target, 0, none, 1, set, NULL), VYRE_CODE_INPUT, "part 0 of 1", "");
  assert_fails(target_keep(target, 0, large, 1, set, NULL), VYRE_CODE_INPUT, "4097 bytes", "at most 4096");
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
  assert_ok(target_allocate(target, 2, &own));
  assert_fails(target_free(target, set[1]), VYRE_CODE_INPUT, "kept set", "drop");
  assert_fails(target_drop(target, set, 1), VYRE_CODE_INPUT, "no set", "");
  assert_fails(target_drop(target, set + 1, 1), VYRE_CODE_INPUT, "no set", "");
  assert_fails(target_drop(target, (vyre_device_buffer[]){set[1], set[0]}, 2), VYRE_CODE_INPUT, "no set", "all in their order");
  assert_fails(target_drop(target, &own, 1), VYRE_CODE_INPUT, "no set", "");
  assert_fails(target_drop(target, NULL, 0), VYRE_CODE_INPUT, "no set", "");
  const vyre_fill fill = {{set[0], 0, 0}, 0};
  assert_fails(target_submit(target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL), VYRE_CODE_INPUT, "fill 0", "kept");
  const vyre_upload upload = {{set[1], 0, 0}, "x"};
  assert_fails(target_submit(target, &(vyre_sequence){.uploads = &upload, .upload_count = 1}, NULL), VYRE_CODE_INPUT, "upload 0",
               "kept");
  assert_ok(target_drop(target, set, 2));
  assert_ok(fake_close(target));
}
