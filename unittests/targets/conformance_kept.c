/* Kept data: uploaded once, found by its contents, held and dropped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

enum { DOMAIN_A = 0x5659, DOMAIN_B = 0x564a };

static uint32_t first[64], second[128];

static void
fill_parts(vyre_static parts[2])
{
  for (uint32_t i = 0; i < 64; i++)
    first[i] = i * 5 + 1;
  for (uint32_t i = 0; i < 128; i++)
    second[i] = i * 9 + 2;
  parts[0] = (vyre_static){first, sizeof first};
  parts[1] = (vyre_static){second, sizeof second};
}

CONFORM(a_warm_set_uploads_nothing, NEEDS_ITS_OWN)
{
  vyre_static parts[2];
  vyre_device_buffer cold[2], warm[2];
  uint32_t back[128];
  bool found = true;
  fill_parts(parts);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, cold, &found));
  assert_false(found);
  assert_int_equal(metric(c, "bytes_up"), 768);
  const uint64_t waits = c->info.capabilities & VYRE_TARGET_SHARED ? 0 : 1; /* one for all parts */
  assert_int_equal(metric(c, "waits"), waits);
  assert_int_equal(metric(c, "sets_kept"), 1);
  assert_int_equal(metric(c, "bytes_kept"), 768);
  assert_int_equal(metric(c, "buffers_live"), 2);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, warm, &found));
  assert_true(found);
  assert_int_equal(metric(c, "bytes_up"), 768);
  assert_int_equal(metric(c, "waits"), waits);
  assert_memory_equal(cold, warm, sizeof cold);
  assert_int_equal(metric(c, "kept_hits"), 1);
  assert_int_equal(metric(c, "kept_misses"), 1);
  read_words(c, warm[0], back, 64);
  assert_memory_equal(back, first, sizeof first);
  read_words(c, warm[1], back, 128);
  assert_memory_equal(back, second, sizeof second);
  assert_ok(c->ops->drop(c->target, cold, 2));
  assert_int_equal(metric(c, "sets_held"), 1);
  assert_ok(c->ops->drop(c->target, warm, 2));
  assert_int_equal(metric(c, "sets_held"), 0);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, warm, NULL)); /* the set stays although it is not held */
  assert_int_equal(metric(c, "sets_held"), 1);
  assert_int_equal(metric(c, "bytes_up"), 768);
  assert_int_equal(metric(c, "kept_hits"), 2);
}

/* Each set differs from all sets before it. */
CONFORM(sets_differ_by_domain_parts_and_bytes, NEEDS_ITS_OWN)
{
  const struct {
    uint64_t domain;
    vyre_static parts[2];
    uint32_t count;
  } sets[] = {
      {DOMAIN_A, {{"abcd", 2}, {"cd", 2}}, 2}, {DOMAIN_A, {{"a", 1}, {"bcd", 3}}, 2},   {DOMAIN_A, {{"abcd", 4}, {NULL, 0}}, 1},
      {DOMAIN_B, {{"abcd", 4}, {NULL, 0}}, 1}, {DOMAIN_A, {{"abce", 4}, {NULL, 0}}, 1}, {DOMAIN_A, {{"cd", 2}, {"ab", 2}}, 2},
  };
  for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    vyre_device_buffer out[2];
    bool found = true;
    assert_ok(c->ops->keep(c->target, sets[i].domain, sets[i].parts, sets[i].count, out, &found));
    assert_false(found);
    assert_int_equal(metric(c, "sets_kept"), i + 1);
  }
}

CONFORM(a_set_is_dropped_as_often_as_it_was_kept, NEEDS_ITS_OWN)
{
  vyre_static parts[2];
  vyre_device_buffer set[2];
  const char *word = "not a kept set with holders\nFix: drop all buffers that one keep returned, in order";
  fill_parts(parts);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, set, NULL));
  refused(c, c->ops->drop(c->target, set, 1), VYRE_CODE_INPUT, word);
  const vyre_device_buffer turned[2] = {set[1], set[0]};
  refused(c, c->ops->drop(c->target, turned, 2), VYRE_CODE_INPUT, word);
  refused(c, c->ops->drop(c->target, NULL, 0), VYRE_CODE_INPUT, word);
  assert_ok(c->ops->drop(c->target, set, 2));
  refused(c, c->ops->drop(c->target, set, 2), VYRE_CODE_INPUT, word);
  const vyre_device_buffer own = buffer_of(c, 64);
  refused(c, c->ops->drop(c->target, &own, 1), VYRE_CODE_INPUT, word);
}

CONFORM(kept_data_cannot_be_written_or_freed, 0)
{
  vyre_static parts[2];
  vyre_device_buffer set[2];
  fill_parts(parts);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, set, NULL));
  refused(c, c->ops->free(c->target, set[0]), VYRE_CODE_INPUT, "kept set\nFix: drop the set");
  refused(c, vyre_target_write(c->ops, c->target, set[0], 0, 0, first), VYRE_CODE_INPUT, "upload 0 writes to kept data");
  const vyre_fill fill = {whole(set[1]), 0};
  refused(c, c->ops->submit(c->target, &(vyre_sequence){FILLS(&fill, 1)}, NULL), VYRE_CODE_INPUT, "kept data");
}

CONFORM(a_refused_set_leaves_nothing, NEEDS_ITS_OWN)
{
  vyre_device_buffer out[3] = {{1}, {2}, {3}};
  const vyre_static empty[] = {{"ab", 2}, {"cd", 0}}, none[] = {{NULL, 4}};
  refused(c, c->ops->keep(c->target, DOMAIN_A, empty, 2, out, NULL), VYRE_CODE_INPUT, "part 1 of 2 of kept data has 0 bytes");
  assert_int_equal(out[0].id | out[1].id, 0);
  refused(c, c->ops->keep(c->target, DOMAIN_A, none, 1, out, NULL), VYRE_CODE_INPUT, "part 0 of 1 of kept data has 0 bytes");
  refused(c, c->ops->keep(c->target, DOMAIN_A, empty, 0, out, NULL), VYRE_CODE_INPUT, "no parts");
  assert_int_equal(metric(c, "buffers_live"), 0);
  assert_int_equal(metric(c, "sets_kept"), 0);
  assert_int_equal(metric(c, "kept_misses"), 0);
  assert_int_equal(metric(c, "bytes_up"), 0);
}

CONFORM(kernels_read_kept_data, NEEDS_KERNELS)
{
  vyre_static parts[2];
  vyre_device_buffer set[2];
  const uint32_t push[2] = {0, 7};
  uint32_t back[64];
  fill_parts(parts);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, set, NULL));
  const vyre_range ranges[] = {whole(set[0]), whole(buffer_of(c, sizeof first))};
  const vyre_step step = {kernel_of(c, "add"), ranges, 2, push, sizeof push, {1, 1, 1}, 0, 0, {{0}, 0, 0}, false};
  const vyre_read read = {ranges[1], back};
  const vyre_timing timing = submit(c, (vyre_sequence){STEPS(&step, 1), READS(&read, 1)});
  for (uint32_t i = 0; i < 64; i++)
    assert_int_equal(back[i], first[i] + 7);
  assert_int_equal(timing.bytes_up, 0);
}

CONFORM(kernels_cannot_write_kept_data, NEEDS_KERNELS)
{
  vyre_static parts[2];
  vyre_device_buffer set[2];
  fill_parts(parts);
  assert_ok(c->ops->keep(c->target, DOMAIN_A, parts, 2, set, NULL));
  const vyre_range range = whole(set[0]);
  const vyre_step step = step_of(kernel_of(c, "count"), &range, 1);
  refused(c, c->ops->submit(c->target, &(vyre_sequence){STEPS(&step, 1)}, NULL), VYRE_CODE_INPUT, "kept data");
}
