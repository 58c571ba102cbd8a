/* Many items of many threads while devices are lost, memory runs out, slots are damaged and publishers stop: each is done once, or
 * is a FAULT that says why.  And the order that priorities promise.
 *
 *   unit-mega-stress-cpu [-items=N]    of the first test; 1,000,000 is the number that docs/megakernel.md tells of
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"
#include "live_items.h"

#include <pthread.h>

#define ITEM(...) ((vyre_mega_item){__VA_ARGS__})

enum { THREADS = 4, TICKETS = 50 };
#ifdef __has_feature
#if __has_feature(thread_sanitizer) /* it has not the patience */
#define FEWER
#endif
#endif

/* Slots and items, which submissions fail, and after how many recoveries they do no more: a device takes its time for each. */
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
#elif defined(MEGA_CUDA) /* nor has a simulator */
  return device_is_real() ? (amount){4096, 1000000, 6, 10} : (amount){320, 4000, 6, 0};
#else
  return device_is_real() ? (amount){4096, 100000, 16, 10} : (amount){4096, 8000, 16, 0};
#endif
}

static uint32_t items; /* of the first test */

typedef struct living {
  world *w;
  vyre_mega *mega;
  vyre_mega_live *live;
} living;

static living
make(vyre_mega_build build, uint32_t slots, uint32_t workgroup)
{
  living l = {.w = world_make(slots, 0)};
  vyre_mega_options options = {.program = {.build = build}, .slots = slots, .workgroup = workgroup};
  options.groups = options.threads = workgroup ? 1 : 0;
#ifdef MEGA_CUDA
  if (!device_is_real()) { /* each lane takes its time */
    options.workgroup = workgroup ? workgroup : 32;
    options.groups = 1;
  }
#endif
#ifdef MEGA_CPU
  options.workgroup = 0;
#endif
  ok(vyre_mega_create(ops, l.w->target, &options, &l.mega));
  return l;
}

static void
finish(living *l)
{
  ok(vyre_mega_destroy(l->mega));
  world_free(l->w);
}

/* ---- each once ----------------------------------------------------------------------------------------------------------- */

typedef struct publisher {
  const living *l;
  uint32_t first, published; /* of its items the first one; how many it published before it stopped */
  uint32_t stops_after;
  bool is_wrong;
  char text[512];
} publisher;

static bool
is_as_told(const vyre_mega_slot *slot, const vyre_mega_item *item)
{
  const uint32_t reason = slot->reason;
  return slot->item.args[1] == item->args[1] &&
         (slot->state == VYRE_MEGA_DONE || reason == VYRE_MEGA_REASON_LOST || reason == VYRE_MEGA_REASON_OP);
}

/* Item i adds 1 to observable i.  One in fifty is waited for. */
static void *
publish_many(void *user)
{
  publisher *p = user;
  for (uint32_t i = p->first; i < items && p->published < p->stops_after && !p->is_wrong; i += THREADS) {
    const vyre_mega_item item = {.op = 2, .tenant = i % 29, .priority = i % 5, .args = {1, 160 + i}};
    const bool waits = i / THREADS % TICKETS == 7;
    vyre_mega_ticket ticket;
    vyre_mega_slot slot;
    vyre_status status = VYRE_OK;
    for (bool published = false; !published && !status; p->published += published) {
      status = vyre_mega_live_publish(p->l->live, &item, waits ? &ticket : NULL, &published);
      if (!published)
        sched_yield();
    }
    if (waits && !status)
      status = vyre_mega_live_wait(p->l->live, ticket, &slot);
    p->is_wrong = status || (waits && !is_as_told(&slot, &item));
    if (p->is_wrong)
      snprintf(p->text, sizeof p->text, "item %u: %s", i, vyre_status_text(status));
    vyre_status_free(status);
    hang_progress();
  }
  return NULL;
}

static void
run_publishers(living *l, publisher *publishers)
{
  pthread_t threads[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    publishers[i] = (publisher){.l = l, .first = i, .stops_after = i ? UINT32_MAX : items / THREADS / 3};
    assert_int_equal(pthread_create(&threads[i], NULL, publish_many, &publishers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < THREADS; i++)
    if (publishers[i].is_wrong)
      fail_msg("a publisher: %s", publishers[i].text);
}

TEST(every_item_is_done_once_or_a_fault)
{
  const amount a = amounts();
  living l = make(VYRE_MEGA_PERSISTENT_BY_PRIORITY, a.slots, 0);
  frail *f = frail_of(l.w->target);
  publisher publishers[THREADS];
  vyre_mega_control control;
  uint32_t published = 0, done = 0;
  f->every = a.every;
  f->most = a.most;
  f->claims = f->damages = 10;
  ok(vyre_mega_live_start(l.mega, &(vyre_mega_live_options){.observables = items, .slice = 16}, &l.live));
  for (uint32_t t = 0; t < VYRE_MEGA_TENANTS; t++)
    ok(vyre_mega_live_set(l.live, VYRE_MEGA_QUOTAS + t, 0xffffffff));
  run_publishers(&l, publishers);
  ok(vyre_mega_live_drain(l.live));
  for (uint32_t i = 0; i < items; i++) {
    const uint32_t value = live_word(l.live, 160 + i);
    if (value > 1)
      fail_msg("item %u was done %u times", i, value);
    done += value;
  }
  for (uint32_t i = 0; i < THREADS; i++)
    published += publishers[i].published;
  assert_int_equal(publishers[0].published, items / THREADS / 3); /* its host stopped */
  const bool is_shared = vyre_mega_live_way(l.live) != VYRE_MEGA_MIRRORED;
  ok(vyre_mega_live_stop(l.live, &control, NULL));
  assert_int_equal(control.done, done);
  assert_int_equal(control.faults, f->claimed + f->damaged);
  assert_int_equal(done + control.faults, published);
  assert_true(f->recoveries > 1);
  assert_int_equal(f->claimed != 0, is_shared);
  assert_int_equal(f->damaged != 0, is_shared);
  finish(&l);
}

/* ---- priorities ---------------------------------------------------------------------------------------------------------- */

enum { EACH = 8, RING = 320 /* 64 slots of each priority */, LANES = 4 };

static void
publish(const living *l, vyre_mega_item item)
{
  bool published;
  ok(vyre_mega_live_publish(l->live, &item, NULL, &published));
  assert_true(published);
}

/* Nothing is launched until all is there. */
static living
hold(uint32_t observables)
{
  living l = make(VYRE_MEGA_PERSISTENT_BY_PRIORITY, RING, LANES);
  frail_of(l.w->target)->is_held = true;
  ok(vyre_mega_live_start(l.mega, &(vyre_mega_live_options){.observables = observables, .slice = 64}, &l.live));
  return l;
}

static void
let_go(living *l)
{
  __atomic_store_n(&frail_of(l->w->target)->is_held, false, __ATOMIC_RELEASE);
  ok(vyre_mega_live_drain(l->live));
}

/* Each item below CRITICAL looks at how many of the priority above have ended; those of the lowest are published first. */
TEST(upper_priorities_end_first_while_it_is_live)
{
  living l = hold(VYRE_MEGA_LEVELS * EACH);
  for (uint32_t level = VYRE_MEGA_LEVELS; level-- > 0;)
    for (uint32_t i = 0; i < EACH; i++)
      publish(&l, level ? ITEM(.op = 3, .priority = level, .args = {VYRE_MEGA_PRIORITIES + level - 1, level * EACH + i})
                        : ITEM(.op = 0, .priority = 0));
  let_go(&l);
  for (uint32_t i = EACH; i < VYRE_MEGA_LEVELS * EACH; i++)
    if (live_word(l.live, 160 + i) != EACH)
      fail_msg("an item of priority %u was done after %u of %d above it", i / EACH, live_word(l.live, 160 + i), EACH);
  ok(vyre_mega_live_stop(l.live, NULL, NULL));
  finish(&l);
}

/* After 16 items of the upper two others have a turn, though there are more. */
TEST(lower_priorities_are_not_starved_while_it_is_live)
{
  enum { UPPER = 64 };
  living l = hold(4);
  for (uint32_t i = 0; i < UPPER; i++)
    publish(&l, ITEM(.op = 0, .priority = i % 2));
  for (uint32_t i = 0; i < 2; i++)
    publish(&l, ITEM(.op = 3, .priority = VYRE_MEGA_IDLE, .args = {VYRE_MEGA_DONE_COUNT, i}));
  let_go(&l);
  const uint32_t before = live_word(l.live, 160);
  if (before < VYRE_MEGA_STARVED || before > VYRE_MEGA_STARVED + 2 * LANES)
    fail_msg("the lowest had its turn after %u items of the upper two", before);
  ok(vyre_mega_live_stop(l.live, NULL, NULL));
  finish(&l);
}

int
main(int argc, char **argv)
{
  items = amounts().items;
  if (argc == 2 && strncmp(argv[1], "-items=", 7) == 0)
    items = (uint32_t)strtoul(argv[1] + 7, NULL, 10);
  return test_run(NULL, device_end);
}
