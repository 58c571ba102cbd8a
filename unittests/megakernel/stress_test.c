/* Publishes many items by several threads while devices are lost, memory runs out, slots are damaged and publishers stop.  Each
 * item is done once, or is a FAULT with a reason.  Also tests the order of priorities.
 *
 *   unit-mega-stress-cpu [-items=N]    runs N items in the first test; docs/megakernel.md has results for 1,000,000
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"
#include "live_items.h"

#ifdef __has_feature
#if __has_feature(thread_sanitizer) /* which is too slow for all items */
#define FEWER
#endif
#endif

/* Numbers of slots and items, and `every` and `most` of frail.h. */
typedef struct amount {
  uint32_t slots, items, every, most;
} amount;

static amount
amounts(void)
{
#ifdef MEGA_CPU
#ifdef FEWER
  return (amount){4096, 50000, 6, 0};
#else
  return (amount){4096, 1000000, 6, 0};
#endif
#elif defined(MEGA_CUDA) /* fewer items for the simulator, which is slow */
  return device_is_real() ? (amount){4096, 1000000, 6, 10} : (amount){320, 4000, 6, 0};
#else
  return device_is_real() ? (amount){4096, 100000, 16, 10} : (amount){4096, 8000, 16, 0};
#endif
}

static uint32_t items; /* number of items in the first test */

/* ---- each item once ------------------------------------------------------------------------------------------------------ */

static vyre_mega_item
item_of(uint32_t i)
{
  return ITEM(.op = 2, .tenant = i % 29, .priority = i % 5, .args = {1, 160 + i});
}

static bool
is_awaited(uint32_t i)
{
  return i / LIVE_THREADS % 50 == 7;
}

static bool
is_right(const vyre_mega_slot *slot, const vyre_mega_item *item)
{
  const uint32_t reason = slot->reason;
  return slot->item.args[1] == item->args[1] &&
         (slot->state == VYRE_MEGA_DONE || reason == VYRE_MEGA_REASON_LOST || reason == VYRE_MEGA_REASON_OP);
}

TEST(every_item_is_done_once_or_a_fault)
{
  const amount a = amounts();
  world *w = live_make((vyre_mega_options){
      .struct_size = sizeof(vyre_mega_options), .program = {.build = VYRE_MEGA_PERSISTENT_BY_PRIORITY}, .slots = a.slots});
  frail *f = frail_of(w->target);
  vyre_mega_control control;
  uint32_t done = 0;
  f->every = a.every;
  f->most = a.most;
  f->claims = f->damages = 10;
  live_go(w, (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = items, .slice = 16});
  live_lift_quotas(w);
  const uint32_t published =
      live_publish_all(/* the first thread stops early */
                       (live_publisher){.w = w, .items = items, .item = item_of, .is_awaited = is_awaited, .is_right = is_right},
                       items / LIVE_THREADS / 3);
  ok(vyre_mega_live_drain(w->live));
  for (uint32_t i = 0; i < items; i++) {
    const uint32_t value = live_word(w, 160 + i);
    if (value > 1)
      fail_msg("item %u was done %u times", i, value);
    done += value;
  }
  const bool is_shared = !live_is_mirrored(w);
  ok(vyre_mega_live_stop(w->live, &control, NULL));
  assert_int_equal(control.done, done);
  assert_int_equal(control.faults, f->claimed + f->damaged);
  assert_int_equal(done + control.faults, published);
  assert_true(f->recoveries > 1);
  assert_int_equal(f->claimed != 0, is_shared);
  assert_int_equal(f->damaged != 0, is_shared);
  world_free(w);
}

/* ---- priorities ---------------------------------------------------------------------------------------------------------- */

enum { EACH = 8, RING = 320 /* 64 slots of each priority */, LANES = 4 };

/* Starts a kernel that launches nothing until let_go. */
static world *
hold(uint32_t observables)
{
  vyre_mega_options options = {.struct_size = sizeof options,
                               .program = {.build = VYRE_MEGA_PERSISTENT_BY_PRIORITY},
                               .slots = RING,
                               .groups = 1,
                               .threads = 1};
#ifndef MEGA_CPU
  options.workgroup = LANES;
#endif
  world *w = live_make(options);
  frail_of(w->target)->is_held = true;
  live_go(w, (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = observables, .slice = 64});
  return w;
}

static void
let_go(world *w)
{
  __atomic_store_n(&frail_of(w->target)->is_held, false, __ATOMIC_RELEASE);
  ok(vyre_mega_live_drain(w->live));
}

/* Each item below CRITICAL stores the number of ended items of the next higher priority.  The lowest priority is published
 * first. */
TEST(higher_priorities_end_first_in_a_live_kernel)
{
  world *w = hold(VYRE_MEGA_LEVELS * EACH);
  for (uint32_t level = VYRE_MEGA_LEVELS; level-- > 0;)
    for (uint32_t i = 0; i < EACH; i++)
      live_publish(w, level ? ITEM(.op = 3, .priority = level, .args = {VYRE_MEGA_PRIORITIES + level - 1, level * EACH + i})
                            : ITEM(.op = 0, .priority = 0));
  let_go(w);
  for (uint32_t i = EACH; i < VYRE_MEGA_LEVELS * EACH; i++)
    if (live_word(w, 160 + i) != EACH)
      fail_msg("an item of priority %u ran after %u of %d higher ones", i / EACH, live_word(w, 160 + i), EACH);
  live_stop(w, NULL, NULL);
}

/* After 16 items of the two highest priorities, a lower one runs although more of them wait. */
TEST(lower_priorities_do_not_starve_in_a_live_kernel)
{
  enum { UPPER = 64 };
  world *w = hold(4);
  for (uint32_t i = 0; i < UPPER; i++)
    live_publish(w, ITEM(.op = 0, .priority = i % 2));
  for (uint32_t i = 0; i < 2; i++)
    live_publish(w, ITEM(.op = 3, .priority = VYRE_MEGA_IDLE, .args = {VYRE_MEGA_DONE_COUNT, i}));
  let_go(w);
  const uint32_t before = live_word(w, 160);
  if (before < VYRE_MEGA_STARVED || before > VYRE_MEGA_STARVED + 2 * LANES)
    fail_msg("the lowest priority ran after %u items of the two highest", before);
  live_stop(w, NULL, NULL);
}

int
main(int argc, char **argv)
{
  items = amounts().items;
  if (argc == 2 && strncmp(argv[1], "-items=", 7) == 0)
    items = (uint32_t)strtoul(argv[1] + 7, NULL, 10);
  return test_run(NULL, device_end);
}
