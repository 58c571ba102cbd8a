/* Helpers for tests of live kernels: start and stop them, publish items, and wait for their results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_LIVE_ITEMS_H
#define VYRE_UNITTESTS_LIVE_ITEMS_H

#include "../hang.h"
#include "mega.h"

#include <pthread.h>
#include <sched.h>

/* Creates a megakernel for live items.  On a simulated device it has few lanes, because each lane costs time. */
static inline world *
live_make(vyre_mega_options options)
{
#ifdef MEGA_CUDA
  if (!device_is_real()) {
    options.workgroup = options.workgroup ? options.workgroup : 32;
    options.groups = options.groups ? options.groups : options.slots > 64 ? 2 : 1;
  }
#endif
  return world_with(options, 0);
}

static inline void
live_go(world *w, vyre_mega_live_options options)
{
  ok(vyre_mega_live_start(w->mega, &options, &w->live));
}

static inline world *
live_start(vyre_mega_build build, uint32_t slots, vyre_mega_live_options options)
{
  world *w = live_make((vyre_mega_options){.struct_size = sizeof(vyre_mega_options), .program = {.build = build}, .slots = slots});
  live_go(w, options);
  return w;
}

/* Stops the kernel and frees everything. */
static inline void
live_stop(world *w, vyre_mega_control *control, vyre_mega_stats *stats)
{
  ok(vyre_mega_live_stop(w->live, control, stats));
  world_free(w);
}

static inline bool
live_is_mirrored(const world *w)
{
  return vyre_mega_live_way(w->live) == VYRE_MEGA_MIRRORED;
}

/* Publishes an item as soon as the ring has a free slot. */
static inline vyre_mega_ticket
live_publish(world *w, vyre_mega_item item)
{
  vyre_mega_ticket ticket;
  bool published = false;
  while (!published)
    ok(vyre_mega_live_publish(w->live, &item, &ticket, &published));
  return ticket;
}

static inline vyre_mega_slot
live_wait(world *w, vyre_mega_ticket ticket)
{
  vyre_mega_slot slot;
  ok(vyre_mega_live_wait(w->live, ticket, &slot));
  return slot;
}

static inline vyre_mega_slot
live_run(world *w, vyre_mega_item item)
{
  return live_wait(w, live_publish(w, item));
}

/* Runs an item, and asserts that it is DONE. */
static inline void
live_do(world *w, vyre_mega_item item)
{
  assert_int_equal(live_run(w, item).state, VYRE_MEGA_DONE);
}

static inline uint32_t
live_word(world *w, uint32_t word)
{
  uint32_t value;
  ok(vyre_mega_live_word(w->live, word, &value));
  return value;
}

static inline void
live_set(world *w, uint32_t word, uint32_t value)
{
  ok(vyre_mega_live_set(w->live, word, value));
}

/* ---- many items of many threads ------------------------------------------------------------------------------------------ */

enum { LIVE_THREADS = 4 };

/* A thread that publishes every LIVE_THREADS-th item from `first` on. */
typedef struct live_publisher {
  world *w;
  uint32_t first, items;
  uint32_t most;                           /* items after which the thread stops */
  vyre_mega_item (*item)(uint32_t number); /* returns an item that adds 1 to its observable, or fails */
  bool (*is_awaited)(uint32_t number);
  bool (*is_right)(const vyre_mega_slot *slot, const vyre_mega_item *item);
  uint32_t published; /* result: number of published items */
  char text[512];     /* result: an error, empty if there is none */
} live_publisher;

static inline void *
live_publish_many(void *user)
{
  live_publisher *p = user;
  for (uint32_t i = p->first; i < p->items && p->published < p->most && !p->text[0]; i += LIVE_THREADS) {
    const vyre_mega_item item = p->item(i);
    const bool is_awaited = p->is_awaited(i);
    vyre_mega_ticket ticket;
    vyre_mega_slot slot = {0};
    vyre_status status = VYRE_OK;
    for (bool published = false; !published && !status; p->published += published) {
      status = vyre_mega_live_publish(p->w->live, &item, is_awaited ? &ticket : NULL, &published);
      if (!published)
        sched_yield();
    }
    if (is_awaited && !status)
      status = vyre_mega_live_wait(p->w->live, ticket, &slot);
    if (status || (is_awaited && !p->is_right(&slot, &item)))
      snprintf(p->text, sizeof p->text, "item %u: %s, reason 0x%x", i, vyre_status_text(status), slot.reason);
    vyre_status_free(status);
    hang_progress();
  }
  return NULL;
}

/* Runs a publisher in each thread.  The first one stops after `most` items.  Returns the number of published items. */
static inline uint32_t
live_publish_all(live_publisher how, uint32_t most)
{
  live_publisher publishers[LIVE_THREADS];
  pthread_t threads[LIVE_THREADS];
  uint32_t published = 0;
  for (uint32_t i = 0; i < LIVE_THREADS; i++) {
    publishers[i] = how;
    publishers[i].first = i;
    publishers[i].most = i ? UINT32_MAX : most;
    assert_int_equal(pthread_create(&threads[i], NULL, live_publish_many, &publishers[i]), 0);
  }
  for (uint32_t i = 0; i < LIVE_THREADS; i++)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < LIVE_THREADS; i++) {
    if (publishers[i].text[0])
      fail_msg("a publisher: %s", publishers[i].text);
    published += publishers[i].published;
  }
  if (most != UINT32_MAX)
    assert_int_equal(publishers[0].published, most);
  return published;
}

/* Removes the tenants' limits on the number of items. */
static inline void
live_lift_quotas(world *w)
{
  for (uint32_t t = 0; t < VYRE_MEGA_TENANTS; t++)
    live_set(w, VYRE_MEGA_QUOTAS + t, 0xffffffff);
}

#endif
