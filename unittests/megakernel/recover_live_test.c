/* Live kernels whose device is lost or runs out of memory: items that continue, items that fail, and the end of the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"
#include "live_items.h"

enum { SLOTS = 16 };

static world *
start(void)
{
  return live_make(
      (vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .program = {.build = VYRE_MEGA_PERSISTENT}, .slots = SLOTS});
}

/* Starts the kernel in slices on all targets, because a MAPPED kernel is one launch. */
static frail *
go_live(world *w, uint32_t observables)
{
  live_go(w, (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = observables, .slice = 8});
  return frail_of(w->target);
}

static uint32_t
submissions(const frail *f)
{
  return __atomic_load_n(&f->calls[FRAIL_SUBMIT], __ATOMIC_RELAXED);
}

/* The readback of a running launch does not overwrite a word that is set meanwhile.  Later launches may change it. */
TEST(words_set_during_a_slice_stay)
{
  world *w = start();
  vyre_mega_control control;
  frail *f = go_live(w, 4);
  __atomic_store_n(&f->is_held, true, __ATOMIC_RELEASE);
  const vyre_mega_ticket ticket = live_publish(w, ITEM(.op = 0));
  while (!__atomic_load_n(&f->waits, __ATOMIC_ACQUIRE))
    sched_yield();
  live_set(w, VYRE_MEGA_MASKS + 3, 0);
  live_set(w, VYRE_MEGA_QUOTAS + 5, 77);
  const uint32_t begun = submissions(f);
  __atomic_store_n(&f->is_held, false, __ATOMIC_RELEASE);
  live_wait(w, ticket);
  while (submissions(f) < begun + 2) /* set rings the doorbell, which causes a launch */
    live_set(w, VYRE_MEGA_QUOTAS + 6, 5);
  assert_int_equal(live_word(w, VYRE_MEGA_MASKS + 3), 0);
  assert_int_equal(live_word(w, VYRE_MEGA_QUOTAS + 5), 77);
  live_do(w, ITEM(.op = 0, .tenant = 5));
  ok(vyre_mega_live_stop(w->live, &control, NULL));
  assert_int_equal(control.masks[3], 0);
  assert_int_equal(control.quotas[5], 76);
  world_free(w);
}

TEST(each_item_is_done_once_despite_losses)
{
  enum { ITEMS = 40 };
  world *w = start();
  vyre_mega_control control;
  vyre_mega_stats stats;
  frail_of(w->target)->every = 3;
  frail_of(w->target)->most = 6;
  go_live(w, ITEMS);
  for (uint32_t i = 0; i < ITEMS; i++)
    live_do(w, ITEM(.op = 2, .args = {1, 160 + i}));
  for (uint32_t i = 0; i < ITEMS; i++)
    assert_int_equal(live_word(w, 160 + i), 1);
  while (frail_recoveries(w->target) < 3) /* the number of items in a launch varies */
    live_do(w, ITEM(.op = 0));
  ok(vyre_mega_live_stop(w->live, &control, &stats));
  assert_true(stats.was_recovered);
  assert_int_equal(control.faults, 0);
  world_free(w);
}

/* In a shared ring, a claimed item may be partly done, so it becomes a FAULT.  The ring of a MIRRORED device is lost as a whole, so
 * its items run again.  A running launch may end items before the loss, so several are tried. */
static void
check_loss_of_a_claimed_item(frail_fault fault)
{
  enum { MOST = 10000 };
  world *w = start();
  vyre_mega_control control;
  uint32_t lost = 0;
  frail_of(w->target)->claims = 1;
  frail_of(w->target)->claim_fault = fault;
  const frail *f = go_live(w, MOST + 1);
  const bool is_mirrored = live_is_mirrored(w);
  const uint32_t most = is_mirrored ? 4 : MOST;
  uint32_t i = 0;
  for (; i < most && !lost; i++) {
    const vyre_mega_slot slot = live_run(w, ITEM(.op = 2, .args = {1, 160 + i}));
    lost += slot.state != VYRE_MEGA_DONE;
    assert_int_equal(slot.reason, lost ? VYRE_MEGA_REASON_LOST : 0);
    assert_int_equal(live_word(w, 160 + i), !lost);
  }
  live_do(w, ITEM(.op = 2, .args = {1, 160 + i}));
  ok(vyre_mega_live_stop(w->live, &control, NULL));
  assert_int_equal(lost, !is_mirrored);
  assert_int_equal(f->claimed, lost);
  assert_int_equal(control.faults, lost);
  assert_int_equal(control.done, i + 1 - lost);
  world_free(w);
}

TEST(claimed_items_are_faults_after_a_loss)
{
  check_loss_of_a_claimed_item(FRAIL_LOST);
  check_loss_of_a_claimed_item(FRAIL_NO_MEMORY);
}

/* The recovered device gets the waiting slots and the words that were set. */
TEST(waiting_items_survive_a_loss)
{
  world *w = start();
  frail_plan(w->target, FRAIL_SUBMIT, 6, 1, FRAIL_LOST_AFTER);
  const frail *f = go_live(w, 4);
  live_set(w, VYRE_MEGA_QUOTAS + 1, 2);
  live_set(w, VYRE_MEGA_MASKS + 1, 0);
  const vyre_mega_ticket waiting = live_publish(w, ITEM(.op = 2, .tenant = 1, .args = {1, 160}));
  uint32_t count = 0;
  for (; submissions(f) < 10; count++)
    live_run(w, ITEM(.op = 2, .args = {1, 161}));
  assert_int_equal(live_word(w, 160), 0);
  live_set(w, VYRE_MEGA_MASKS + 1, 1);
  vyre_mega_slot slot;
  ok(vyre_mega_live_wait(w->live, waiting, &slot));
  assert_int_equal(slot.state, VYRE_MEGA_DONE);
  assert_int_equal(live_word(w, 160), 1);
  assert_int_equal(live_word(w, 161), count);
  assert_int_equal(live_word(w, VYRE_MEGA_QUOTAS + 1), 1);
  ok(vyre_mega_live_stop(w->live, NULL, NULL));
  assert_int_equal(f->recoveries, 1);
  world_free(w);
}

TEST(repeated_losses_end_a_live_kernel)
{
  static const frail_fault faults[] = {FRAIL_LOST, FRAIL_NO_MEMORY};
  for (uint32_t i = 0; i < 2; i++) {
    world *w = start();
    vyre_mega_slot slot;
    vyre_mega_ticket ticket;
    bool published;
    frail_plan(w->target, FRAIL_SUBMIT, 2, UINT32_MAX / 2, faults[i]);
    go_live(w, 4);
    const char *text = i ? "no memory is left" : "the device is lost";
    vyre_status status = VYRE_OK;
    while (!status) {
      status = vyre_mega_live_publish(w->live, &ITEM(.op = 0), &ticket, &published);
      if (!status && published)
        status = vyre_mega_live_wait(w->live, ticket, &slot);
    }
    refused(status, text);
    refused(vyre_mega_live_stop(w->live, NULL, NULL), text);
    world_free(w);
  }
}

/* Loses the device twice.  Between the losses launches succeed, although no item ends. */
TEST(an_idle_kernel_may_be_lost_more_than_once)
{
  world *w = start();
  frail_plan(w->target, FRAIL_SUBMIT, 3, 1, FRAIL_LOST);
  frail_plan(w->target, FRAIL_SUBMIT, 7, 1, FRAIL_LOST);
  const frail *f = go_live(w, 4);
  for (uint32_t i = 0; submissions(f) < 12; i++) {
    live_set(w, VYRE_MEGA_SCRATCH, i);
    sched_yield();
  }
  live_do(w, ITEM(.op = 0));
  ok(vyre_mega_live_stop(w->live, NULL, NULL));
  assert_int_equal(f->recoveries, 2);
  world_free(w);
}

TEST(failures_of_recovery_are_reported)
{
  static const frail_call calls[] = {FRAIL_RECOVER, FRAIL_COMPILE, FRAIL_ALLOCATE, FRAIL_IMPORT};
  for (uint32_t i = 0; i < 4; i++) {
    world *w = start();
    frail_plan(w->target, FRAIL_SUBMIT, 1, 1, FRAIL_LOST);
    if (calls[i] == FRAIL_RECOVER || calls[i] == FRAIL_COMPILE)
      frail_plan(w->target, calls[i], 0, 1, FRAIL_FAILED);
    else
      frail_plan(w->target, calls[i], 4 + 2, 1, FRAIL_FAILED);
    go_live(w, 4);
    const bool is_mirrored = live_is_mirrored(w);
    const bool fails = calls[i] != (is_mirrored ? FRAIL_IMPORT : FRAIL_ALLOCATE);
    vyre_status status = VYRE_OK;
    for (uint32_t k = 0; !status && (k < 3 || fails); k++) {
      bool published;
      status = vyre_mega_live_publish(w->live, &ITEM(.op = 0), NULL, &published);
      if (!fails)
        ok(vyre_mega_live_drain(w->live));
      sched_yield();
    }
    vyre_status end = vyre_mega_live_stop(w->live, NULL, NULL);
    if (fails) {
      vyre_status_free(status);
      refused(end, calls[i] == FRAIL_RECOVER ? "the device cannot be opened again" : "the call failed");
    } else {
      ok(status);
      ok(end);
    }
    world_free(w);
  }
}

/* A kernel that may still run can write a shared ring even after the end, so the ring is not freed. */
TEST(a_hanging_kernel_is_not_recovered)
{
  world *w = start();
  uint32_t *images[4] = {0};
  bool published;
  frail_plan(w->target, FRAIL_SUBMIT, 2, 1, FRAIL_LOST);
  frail_of(w->target)->hangs = true;
  go_live(w, 4);
  if (live_is_mirrored(w)) {
    for (uint32_t i = 0; i < 4; i++)
      live_run(w, ITEM(.op = 0));
    ok(vyre_mega_live_stop(w->live, NULL, NULL));
    assert_int_equal(frail_of(w->target)->recoveries, 1);
  } else {
    vyre_status status = VYRE_OK;
    while (!status)
      status = vyre_mega_live_publish(w->live, &ITEM(.op = 0), NULL, &published);
    refused(status, "the device is lost");
    memcpy(images, frail_of(w->target)->imported, sizeof images);
    refused(vyre_mega_live_stop(w->live, NULL, NULL), "the device is lost");
    assert_int_equal(frail_of(w->target)->recoveries, 0);
    for (uint32_t k = 0; k < 4; k++)
      images[k][0]++;
  }
  world_free(w);
  for (uint32_t k = 0; k < 4; k++)
    free(images[k]);
}

TEST_MAIN(NULL, device_end)
