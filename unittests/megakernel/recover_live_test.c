/* Live kernels whose device is lost, or has no memory left: items that go on, those that do not, and when it is over.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"
#include "live_items.h"

#include <sched.h>

#define ITEM(...) ((vyre_mega_item){__VA_ARGS__})

enum { SLOTS = 16 };

typedef struct living {
  world *w;
  uint32_t observables;
  vyre_mega *mega;
  vyre_mega_live *live;
} living;

static living
start(vyre_mega_program program, uint32_t observables, vyre_mega_recovery recovery)
{
  living l = {.w = world_make(SLOTS, 0), .observables = observables};
  vyre_mega_options options = {.program = program, .slots = SLOTS, .recovery = recovery};
  options.program.build = VYRE_MEGA_PERSISTENT;
  ok(vyre_mega_create(ops, l.w->target, &options, &l.mega));
  return l;
}

/* Slices everywhere: a mapped kernel is one launch. */
static frail *
go_live(living *l)
{
  ok(vyre_mega_live_start(l->mega, &(vyre_mega_live_options){.observables = l->observables, .slice = 8}, &l->live));
  return frail_of(l->w->target);
}

static uint32_t
recoveries(const living *l)
{
  return __atomic_load_n(&frail_of(l->w->target)->recoveries, __ATOMIC_RELAXED);
}

static void
finish(living *l)
{
  ok(vyre_mega_destroy(l->mega));
  world_free(l->w);
}

static vyre_mega_slot
run_item(const living *l, vyre_mega_item item)
{
  return live_wait(l->live, live_publish(l->live, item));
}

/* A word that is set while a launch is under way is not written over by what that launch brings back.  Later the word is again what
 * the kernel makes of it. */
TEST(what_is_set_during_a_slice_stays)
{
  living l = start((vyre_mega_program){0}, 4, (vyre_mega_recovery){0});
  vyre_mega_control control;
  frail *f = go_live(&l);
  __atomic_store_n(&f->is_held, true, __ATOMIC_RELEASE);
  const vyre_mega_ticket ticket = live_publish(l.live, ITEM(.op = 0));
  while (!__atomic_load_n(&f->waits, __ATOMIC_ACQUIRE))
    sched_yield();
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 3, 0));
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_QUOTAS + 5, 77));
  const uint32_t begun = __atomic_load_n(&f->calls[FRAIL_SUBMIT], __ATOMIC_RELAXED);
  __atomic_store_n(&f->is_held, false, __ATOMIC_RELEASE);
  live_wait(l.live, ticket);
  while (__atomic_load_n(&f->calls[FRAIL_SUBMIT], __ATOMIC_RELAXED) < begun + 2) /* the doorbell asks for one more */
    ok(vyre_mega_live_set(l.live, VYRE_MEGA_QUOTAS + 6, 5));
  assert_int_equal(live_word(l.live, VYRE_MEGA_MASKS + 3), 0);
  assert_int_equal(live_word(l.live, VYRE_MEGA_QUOTAS + 5), 77);
  assert_int_equal(run_item(&l, ITEM(.op = 0, .tenant = 5)).state, VYRE_MEGA_DONE);
  ok(vyre_mega_live_stop(l.live, &control, NULL));
  assert_int_equal(control.masks[3], 0);
  assert_int_equal(control.quotas[5], 76);
  finish(&l);
}

TEST(a_live_kernel_does_each_item_once)
{
  enum { ITEMS = 40 };
  living l = start((vyre_mega_program){0}, ITEMS, (vyre_mega_recovery){0});
  vyre_mega_control control;
  vyre_mega_stats stats;
  frail_of(l.w->target)->every = 3;
  frail_of(l.w->target)->most = 6;
  go_live(&l);
  for (uint32_t i = 0; i < ITEMS; i++)
    assert_int_equal(run_item(&l, ITEM(.op = 2, .args = {1, 160 + i})).state, VYRE_MEGA_DONE);
  for (uint32_t i = 0; i < ITEMS; i++)
    assert_int_equal(live_word(l.live, 160 + i), 1);
  while (recoveries(&l) < 3) /* how many items a launch does is the machine's business */
    assert_int_equal(run_item(&l, ITEM(.op = 0)).state, VYRE_MEGA_DONE);
  ok(vyre_mega_live_stop(l.live, &control, &stats));
  assert_true(stats.was_recovered);
  assert_int_equal(control.faults, 0);
  finish(&l);
}

/* Nobody knows how far what was claimed came where the ring is in common; of a device's own ring nothing is left.  Items may be
 * done by the launch that is under way: some are tried. */
static void
loses_what_was_under_way(frail_fault fault)
{
  enum { MOST = 10000 };
  living l = start((vyre_mega_program){0}, MOST + 1, (vyre_mega_recovery){0});
  vyre_mega_control control;
  uint32_t lost = 0;
  frail_of(l.w->target)->claims = 1;
  frail_of(l.w->target)->claim_fault = fault;
  const frail *f = go_live(&l);
  const bool is_mirrored = vyre_mega_live_way(l.live) == VYRE_MEGA_MIRRORED;
  const uint32_t most = is_mirrored ? 4 : MOST;
  uint32_t i = 0;
  for (; i < most && !lost; i++) {
    const vyre_mega_slot slot = run_item(&l, ITEM(.op = 2, .args = {1, 160 + i}));
    lost += slot.state != VYRE_MEGA_DONE;
    assert_int_equal(slot.reason, lost ? VYRE_MEGA_REASON_LOST : 0);
    assert_int_equal(live_word(l.live, 160 + i), !lost);
  }
  assert_int_equal(run_item(&l, ITEM(.op = 2, .args = {1, 160 + i})).state, VYRE_MEGA_DONE);
  ok(vyre_mega_live_stop(l.live, &control, NULL));
  assert_int_equal(lost, !is_mirrored);
  assert_int_equal(f->claimed, lost);
  assert_int_equal(control.faults, lost);
  assert_int_equal(control.done, i + 1 - lost);
  finish(&l);
}

TEST(what_was_under_way_is_a_fault)
{
  loses_what_was_under_way(FRAIL_LOST);
  loses_what_was_under_way(FRAIL_NO_MEMORY);
}

/* Slots that the device had, with what they remember, and words that were set. */
TEST(what_waits_on_the_device_goes_on_waiting)
{
  living l = start((vyre_mega_program){0}, 4, (vyre_mega_recovery){0});
  frail_plan(l.w->target, FRAIL_SUBMIT, 6, 1, FRAIL_LOST_AFTER);
  const frail *f = go_live(&l);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_QUOTAS + 1, 2));
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 1, 0));
  const vyre_mega_ticket waiting = live_publish(l.live, ITEM(.op = 2, .tenant = 1, .args = {1, 160}));
  uint32_t count = 0;
  for (; __atomic_load_n(&f->calls[FRAIL_SUBMIT], __ATOMIC_RELAXED) < 10; count++)
    run_item(&l, ITEM(.op = 2, .args = {1, 161}));
  assert_int_equal(live_word(l.live, 160), 0);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 1, 1));
  vyre_mega_slot slot;
  ok(vyre_mega_live_wait(l.live, waiting, &slot));
  assert_int_equal(slot.state, VYRE_MEGA_DONE);
  assert_int_equal(live_word(l.live, 160), 1);
  assert_int_equal(live_word(l.live, 161), count);
  assert_int_equal(live_word(l.live, VYRE_MEGA_QUOTAS + 1), 1);
  ok(vyre_mega_live_stop(l.live, NULL, NULL));
  assert_int_equal(f->recoveries, 1);
  finish(&l);
}

TEST(a_live_kernel_that_is_lost_again_and_again_ends)
{
  static const frail_fault faults[] = {FRAIL_LOST, FRAIL_NO_MEMORY};
  for (uint32_t i = 0; i < 2; i++) {
    living l = start((vyre_mega_program){0}, 4, (vyre_mega_recovery){0});
    vyre_mega_slot slot;
    vyre_mega_ticket ticket;
    bool published;
    frail_plan(l.w->target, FRAIL_SUBMIT, 2, UINT32_MAX / 2, faults[i]);
    go_live(&l);
    const char *text = i ? "there is no room" : "it is gone";
    vyre_status status = VYRE_OK;
    while (!status) {
      status = vyre_mega_live_publish(l.live, &ITEM(.op = 0), &ticket, &published);
      if (!status && published)
        status = vyre_mega_live_wait(l.live, ticket, &slot);
    }
    refused(status, text);
    refused(vyre_mega_live_stop(l.live, NULL, NULL), text);
    finish(&l);
  }
}

/* Nothing ends in between, but launches go well. */
TEST(an_idle_kernel_may_be_lost_more_than_once)
{
  living l = start((vyre_mega_program){0}, 4, (vyre_mega_recovery){0});
  frail_plan(l.w->target, FRAIL_SUBMIT, 3, 1, FRAIL_LOST);
  frail_plan(l.w->target, FRAIL_SUBMIT, 7, 1, FRAIL_LOST);
  const frail *f = go_live(&l);
  for (uint32_t i = 0; __atomic_load_n(&f->calls[FRAIL_SUBMIT], __ATOMIC_RELAXED) < 12; i++) {
    ok(vyre_mega_live_set(l.live, VYRE_MEGA_SCRATCH, i));
    sched_yield();
  }
  assert_int_equal(run_item(&l, ITEM(.op = 0)).state, VYRE_MEGA_DONE);
  ok(vyre_mega_live_stop(l.live, NULL, NULL));
  assert_int_equal(f->recoveries, 2);
  finish(&l);
}

TEST(a_live_kernel_says_what_else_went_wrong)
{
  static const frail_call calls[] = {FRAIL_RECOVER, FRAIL_COMPILE, FRAIL_ALLOCATE, FRAIL_IMPORT};
  for (uint32_t i = 0; i < 4; i++) {
    living l = start((vyre_mega_program){0}, 4, (vyre_mega_recovery){0});
    frail_plan(l.w->target, FRAIL_SUBMIT, 1, 1, FRAIL_LOST);
    if (calls[i] == FRAIL_RECOVER || calls[i] == FRAIL_COMPILE)
      frail_plan(l.w->target, calls[i], 0, 1, FRAIL_FAILED);
    else
      frail_plan(l.w->target, calls[i], 4 + 2, 1, FRAIL_FAILED);
    go_live(&l);
    const bool is_mirrored = vyre_mega_live_way(l.live) == VYRE_MEGA_MIRRORED;
    const bool fails = calls[i] != (is_mirrored ? FRAIL_IMPORT : FRAIL_ALLOCATE);
    vyre_status status = VYRE_OK;
    for (uint32_t k = 0; !status && (k < 3 || fails); k++) {
      bool published;
      status = vyre_mega_live_publish(l.live, &ITEM(.op = 0), NULL, &published);
      if (!fails)
        ok(vyre_mega_live_drain(l.live));
      sched_yield();
    }
    vyre_status end = vyre_mega_live_stop(l.live, NULL, NULL);
    if (fails) {
      vyre_status_free(status);
      refused(end, calls[i] == FRAIL_RECOVER ? "there is no new one" : "it failed");
    } else {
      ok(status);
      ok(end);
    }
    finish(&l);
  }
}

/* A kernel that may still run writes a ring in common, after the end, too. */
TEST(what_hangs_is_not_gone_on_with)
{
  living l = start((vyre_mega_program){0}, 4, (vyre_mega_recovery){0});
  uint32_t *images[4] = {0};
  bool published;
  frail_plan(l.w->target, FRAIL_SUBMIT, 2, 1, FRAIL_LOST);
  frail_of(l.w->target)->hangs = true;
  go_live(&l);
  if (vyre_mega_live_way(l.live) == VYRE_MEGA_MIRRORED) {
    for (uint32_t i = 0; i < 4; i++)
      run_item(&l, ITEM(.op = 0));
    ok(vyre_mega_live_stop(l.live, NULL, NULL));
    assert_int_equal(frail_of(l.w->target)->recoveries, 1);
  } else {
    vyre_status status = VYRE_OK;
    while (!status)
      status = vyre_mega_live_publish(l.live, &ITEM(.op = 0), NULL, &published);
    refused(status, "it is gone");
    memcpy(images, frail_of(l.w->target)->imported, sizeof images);
    refused(vyre_mega_live_stop(l.live, NULL, NULL), "it is gone");
    assert_int_equal(frail_of(l.w->target)->recoveries, 0);
    for (uint32_t k = 0; k < 4; k++)
      images[k][0]++;
  }
  finish(&l);
  for (uint32_t k = 0; k < 4; k++)
    free(images[k]);
}

TEST_MAIN(NULL, device_end)
