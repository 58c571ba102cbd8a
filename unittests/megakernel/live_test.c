/* Live kernels: items by ticket, full rings, masks, IO, shutdown, and many items of several threads, each done once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live_items.h"

static world *
start(uint32_t slots, uint32_t observables)
{
  return live_start(VYRE_MEGA_PERSISTENT, slots,
                    (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = observables});
}

TEST(each_target_has_its_kind_of_live_kernel)
{
  for (uint32_t slice = 0; slice < 2; slice++) {
    world *w = live_start(VYRE_MEGA_PERSISTENT, 16,
                          (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .slice = slice});
#ifdef MEGA_CPU
    const vyre_mega_way expected = VYRE_MEGA_SLICED;
#elif defined(MEGA_CUDA)
    const vyre_mega_way expected = slice ? VYRE_MEGA_SLICED : VYRE_MEGA_MAPPED;
#else
    const vyre_mega_way expected = VYRE_MEGA_MIRRORED;
#endif
    assert_int_equal(vyre_mega_live_way(w->live), expected);
    live_run(w, ITEM(.op = 0));
    live_stop(w, NULL, NULL);
  }
}

TEST(items_are_waited_for_by_their_tickets)
{
  world *w = start(16, 100);
  vyre_mega_control control;
  for (uint32_t i = 0; i < 100; i++) {
    const vyre_mega_slot slot = live_run(w, ITEM(.op = 1, .args = {i + 1, 160 + i}));
    assert_int_equal(slot.state, VYRE_MEGA_DONE);
    assert_int_equal(slot.item.args[0], i + 1);
    assert_int_equal(live_word(w, 160 + i), i + 1);
  }
  const vyre_mega_slot fault = live_run(w, ITEM(.op = 6));
  assert_int_equal(fault.state, VYRE_MEGA_FAULT);
  assert_int_equal(fault.reason, VYRE_MEGA_REASON_OP);
  live_stop(w, &control, NULL);
  assert_int_equal(control.done, 100);
  assert_int_equal(control.faults, 1);
  assert_int_equal(control.metrics[1], 100);
}

TEST(tickets_are_valid_once)
{
  world *w = start(16, 0);
  vyre_mega_slot slot;
  bool ended;
  const vyre_mega_ticket ticket = live_publish(w, ITEM(.op = 0));
  live_wait(w, ticket);
  refused(vyre_mega_live_poll(w->live, ticket, &slot, &ended), "is stale");
  for (uint32_t i = 0; i < 16; i++) /* reuses its slot */
    live_publish(w, ITEM(.op = 0));
  refused(vyre_mega_live_poll(w->live, ticket, &slot, &ended), "is stale");
  refused(vyre_mega_live_poll(w->live, (vyre_mega_ticket){16, 1}, &slot, &ended), "is stale");
  live_stop(w, NULL, NULL);
}

TEST(wrong_items_use_no_slot)
{
  world *w = start(16, 0);
  bool published = true;
  for (uint32_t i = 0; i < 40; i++) {
    refused(vyre_mega_live_publish(w->live, &ITEM(.op = 0x80000000), NULL, &published), "reserved");
    refused(vyre_mega_live_publish(w->live, &ITEM(.priority = 5), NULL, &published), "priority 5");
    assert_false(published);
  }
  live_run(w, ITEM(.op = 0));
  live_stop(w, NULL, NULL);
}

TEST(a_full_ring_is_reported_and_masks_delay_items)
{
  world *w = start(16, 0);
  vyre_mega_control control;
  bool published;
  live_set(w, VYRE_MEGA_MASKS + 3, 0);
  for (uint32_t i = 0; i < 16; i++) {
    ok(vyre_mega_live_publish(w->live, &ITEM(.tenant = 3), NULL, &published));
    assert_true(published);
  }
  ok(vyre_mega_live_publish(w->live, &ITEM(.tenant = 4), NULL, &published));
  assert_false(published);
  live_set(w, VYRE_MEGA_MASKS + 3, 1);
  ok(vyre_mega_live_drain(w->live));
  live_run(w, ITEM(.tenant = 4));
  refused(vyre_mega_live_set(w->live, VYRE_MEGA_SHUTDOWN, 1), "cannot be set");
  refused(vyre_mega_live_set(w->live, VYRE_MEGA_PARTITIONS + 5, 1), "cannot be set");
  refused(vyre_mega_live_set(w->live, VYRE_MEGA_SERVED, 1), "cannot be set");
  refused(vyre_mega_live_set(w->live, VYRE_MEGA_DOORBELL, 1), "cannot be set");
  refused(vyre_mega_live_set(w->live, 160, 1), "no word 160");
  live_stop(w, &control, NULL);
  assert_int_equal(control.done, 17);
}

TEST(priorities_have_parts_of_the_ring)
{
  world *w =
      live_start(VYRE_MEGA_PERSISTENT_BY_PRIORITY, 20, (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options)});
  vyre_mega_control control;
  bool published;
  live_set(w, VYRE_MEGA_MASKS + 1, 0);
  for (uint32_t i = 0; i < 5; i++) {
    ok(vyre_mega_live_publish(w->live, &ITEM(.tenant = 1, .priority = 4), NULL, &published));
    assert_int_equal(published, i < 4);
  }
  for (uint32_t i = 0; i < 40; i++) {
    live_do(w, ITEM(.priority = i % 4));
    hang_progress();
  }
  live_set(w, VYRE_MEGA_MASKS + 1, 1);
  ok(vyre_mega_live_drain(w->live));
  live_stop(w, &control, NULL);
  for (uint32_t level = 0; level < 5; level++)
    assert_int_equal(control.priorities[level], level < 4 ? 10 : 4);
}

TEST(an_item_shuts_the_kernel_down)
{
  world *w = start(16, 0);
  vyre_mega_slot slot;
  bool published;
  live_set(w, VYRE_MEGA_MASKS + 1, 0);
  const vyre_mega_ticket never = live_publish(w, ITEM(.tenant = 1));
  live_publish(w, ITEM(.op = VYRE_MEGA_OP_SHUT_DOWN));
  refused(vyre_mega_live_wait(w->live, never, &slot), "shut down");
  refused(vyre_mega_live_publish(w->live, &ITEM(.op = 0), NULL, &published), "shut down");
  refused(vyre_mega_live_drain(w->live), "shut down");
  live_stop(w, NULL, NULL);
}

TEST(a_kernel_without_items_ends)
{
  for (uint32_t i = 0; i < 5; i++) {
    world *w = start(64, 0);
    live_stop(w, NULL, NULL);
  }
}

TEST(quotas_can_be_set_while_the_kernel_is_live)
{
  world *w = start(16, 0);
  live_set(w, VYRE_MEGA_QUOTAS + 2, 1);
  live_do(w, ITEM(.tenant = 2));
  assert_int_equal(live_run(w, ITEM(.tenant = 2)).reason, VYRE_MEGA_REASON_QUOTA);
  live_set(w, VYRE_MEGA_QUOTAS + 2, 1);
  live_do(w, ITEM(.tenant = 2));
  live_stop(w, NULL, NULL);
}

TEST(only_changes_are_transferred)
{
  enum { RING = 512 };
  world *w = start(RING, 0);
  vyre_mega_stats stats;
  const uint64_t images = 640 + RING * 64 + 1028 + 2048;
  bool published;
  /* An item that waits for its tenant is uploaded once, not in each slice. */
  live_set(w, VYRE_MEGA_MASKS + 1, 0);
  ok(vyre_mega_live_publish(w->live, &ITEM(.tenant = 1), NULL, &published));
  for (uint32_t i = 0; i < 10; i++)
    live_run(w, ITEM(.op = 0));
  const bool is_mirrored = live_is_mirrored(w);
  live_stop(w, NULL, &stats);
  assert_int_equal(stats.device_allocation_events, 4);
  assert_int_equal(stats.device_allocation_bytes, images);
  assert_int_equal(stats.input_bytes, is_mirrored ? 640 + 4 + 11 * 64 : 0);
  if (is_mirrored) { /* each slice reads back the control image and slots in flight, not the whole ring */
    assert_true(stats.readback_bytes > stats.kernel_launches * 640);
    assert_true(stats.readback_bytes <= stats.kernel_launches * (640 + 64) + 10 * 64);
  } else {
    assert_int_equal(stats.bytes_moved, 0);
  }
  assert_true(stats.kernel_launches >= 1);
}

TEST(the_host_completes_io_requests)
{
  world *w = start(16, 0);
  bool published, claimed;
  void *queue;
  size_t size;
  if (live_is_mirrored(w)) {
    refused(vyre_mega_live_io(w->live, &queue, &size), "the device's own");
    refused(vyre_mega_live_publish(w->live, &ITEM(.op = VYRE_MEGA_OP_LOAD_MISS), NULL, &published), "the device's own");
    live_stop(w, NULL, NULL);
    return;
  }
  ok(vyre_mega_live_io(w->live, &queue, &size));
  vyre_mega_ticket tickets[8];
  for (uint32_t i = 0; i < 8; i++)
    tickets[i] = live_publish(w, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {i, 0, 0, 0, 0, 0xffffffff}));
  for (uint32_t done = 0; done < 8;) {
    uint32_t slots[VYRE_MEGA_IO_SLOTS], count;
    ok(vyre_mega_io_poll(queue, size, slots, &count));
    for (uint32_t i = count; i-- > 0; done++) { /* in another order than published */
      vyre_mega_io request;
      ok(vyre_mega_io_claim(queue, size, slots[i], &claimed));
      assert_true(claimed);
      ok(vyre_mega_io_read(queue, size, slots[i], &request));
      ok(vyre_mega_io_complete(queue, size, &slots[i], (int64_t[]){request.source % 2 ? -17 : 33}, 1));
    }
    if (count == 0)
      sched_yield();
  }
  for (uint32_t i = 0; i < 8; i++) {
    const vyre_mega_slot slot = live_wait(w, tickets[i]);
    assert_int_equal(slot.state, i % 2 ? VYRE_MEGA_FAULT : VYRE_MEGA_DONE);
    assert_int_equal(slot.reason, i % 2 ? VYRE_MEGA_REASON_IO : 0);
    assert_int_equal(slot.item.args[10], i % 2 ? 17 : 33);
  }
  live_stop(w, NULL, NULL);
}

TEST(kernels_that_cannot_be_live_are_refused)
{
  world *w = world_make(16, 0);
  vyre_mega *mega;
  vyre_mega_live *live;
  ok(vyre_mega_create(ops, w->target, &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .slots = 16}, &mega));
  refused(vyre_mega_live_start(mega, &(vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options)}, &live),
          "a persistent build");
  assert_null(live);
  ok(vyre_mega_destroy(mega));
  ok(vyre_mega_create(ops, w->target,
                      &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options),
                                           .program = {.build = VYRE_MEGA_PERSISTENT_BY_PRIORITY},
                                           .slots = 4},
                      &mega));
  refused(vyre_mega_live_start(mega, &(vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options)}, &live), "4 slots");
  ok(vyre_mega_destroy(mega));
#ifdef MEGA_CPU
  ok(vyre_mega_create(ops, w->target,
                      &(vyre_mega_options){.struct_size = sizeof(vyre_mega_options),
                                           .program = {.build = VYRE_MEGA_PERSISTENT, .has_data = true},
                                           .slots = 16},
                      &mega));
  refused(vyre_mega_live_start(mega, &(vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options)}, &live),
          "vyre-megac");
  ok(vyre_mega_destroy(mega));
#endif
  world_free(w);
}

/* ---- many items ---------------------------------------------------------------------------------------------------------- */

/* Slots of the ring, and numbers of items. */
typedef struct amount {
  uint32_t slots, items, fewer;
} amount;

/* Returns fewer items for simulated devices, which are slow. */
static amount
amounts(void)
{
#ifdef MEGA_CPU
  return (amount){4096, 1000000, 100000};
#elif defined(MEGA_CUDA)
  return device_is_real() ? (amount){4096, 1000000, 100000} : (amount){320, 20000, 2000};
#else
  return device_is_real() ? (amount){4096, 100000, 10000} : (amount){4096, 20000, 10000};
#endif
}

/* Returns an item.  One of a thousand fails. */
static vyre_mega_item
item_of(uint32_t i)
{
  return ITEM(.op = i % 1000 == 7 ? 6 : 2, .tenant = i % 29, .priority = i % 5, .args = {1, 160 + i});
}

static bool
is_awaited(uint32_t i)
{
  return i % 100 == 7;
}

static bool
is_right(const vyre_mega_slot *slot, const vyre_mega_item *item)
{
  return slot->item.args[1] == item->args[1] && slot->state == (item->op == 6 ? VYRE_MEGA_FAULT : VYRE_MEGA_DONE);
}

static void
many(vyre_mega_build build, uint32_t slice, uint32_t items)
{
  world *w =
      live_start(build, amounts().slots,
                 (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = items, .slice = slice});
  vyre_mega_control control;
  live_lift_quotas(w);
  live_publish_all((live_publisher){.w = w, .items = items, .item = item_of, .is_awaited = is_awaited, .is_right = is_right},
                   UINT32_MAX);
  ok(vyre_mega_live_drain(w->live));
  /* The observables are complete before the kernel's counters, which a launch updates at its end. */
  for (uint32_t i = 0; i < items; i++)
    if (live_word(w, 160 + i) != (i % 1000 != 7))
      fail_msg("item %u was done %u times", i, live_word(w, 160 + i));
  live_stop(w, &control, NULL);
  assert_int_equal(control.done, items - items / 1000);
  assert_int_equal(control.faults, items / 1000);
  assert_int_equal(control.metrics[2], items - items / 1000);
  if (build == VYRE_MEGA_PERSISTENT_BY_PRIORITY)
    for (uint32_t level = 0; level < 5; level++)
      assert_int_equal(control.priorities[level], items / 5);
}

TEST(many_items_of_many_threads_are_done_once_each)
{
  many(VYRE_MEGA_PERSISTENT, 0, amounts().items);
}

TEST(many_items_by_priority_are_done_once_each)
{
  many(VYRE_MEGA_PERSISTENT_BY_PRIORITY, 0, amounts().fewer);
}

TEST(many_items_in_short_slices_are_done_once_each)
{
  many(VYRE_MEGA_PERSISTENT, 2, amounts().fewer);
}

TEST_MAIN(NULL, device_end)
