/* Programs are evicted and others registered under their numbers while threads publish items, the device is lost and memory runs
 * out.  Each item is done once by the program for which it was published, or is a FAULT.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"

#include "vyre/ir.h"
#include "vyre/megakernel_programs.h"
#include "vyre/text.h"
#include "vyre/view.h"

#include "../hang.h"
#include "programs.h"

#include <pthread.h>

enum { LANES = 4, FLIGHT = 4, TIMES = 40, PROGRAMS = 5, THREADS = 3 };

/* The registered programs.  A program adds a number of its own TIMES times to each word, so that the words show which program has
 * run. */
typedef struct shared {
  vyre_mega_programs *p;
  pthread_mutex_t lock;
  uint32_t programs[PROGRAMS], adds[PROGRAMS]; /* by place: the program's number, and the number that it adds */
  uint32_t next;                               /* the number of the next program */
  uint32_t evictions, items, done, evicted, lost;
  uint32_t goal; /* items of all threads */
  bool stops;
} shared;

/* Registers a program at the place. */
static void
add_program(shared *s, uint32_t place)
{
  char text[256];
  snprintf(text, sizeof text,
           "program @p workgroup(4, 1, 1) {\n  buffer %%out : u32[] storage rw set(0) binding(0)\n"
           "  for %%k = 0u32 to %du32 step 1u32 { atomic_add %%out[gid.x], %uu32 }\n}\n",
           TIMES, s->next);
  vyre_module *module = parse_program(text);
  const vyre_row row = {vyre_module_view(module)->first[0]};
  ok(vyre_mega_programs_register(s->p, module, row, NULL, &s->programs[place]));
  vyre_module_destroy(module);
  s->adds[place] = s->next;
  s->next += 2;
}

typedef struct flight {
  vyre_mega_range range;
  vyre_mega_program_ticket ticket;
  uint32_t adds;
} flight;

static void
publish(shared *s, uint32_t place, flight *f)
{
  bool published = false;
  ok(vyre_mega_programs_allocate(s->p, LANES * 4, &f->range));
  while (!published) {
    pthread_mutex_lock(&s->lock); /* the program must not change before the item is published */
    f->adds = s->adds[place];
    const vyre_mega_program_item item = {
        .program = s->programs[place], .buffers = &f->range, .buffer_count = 1, .groups = {1, 1, 1}};
    ok(vyre_mega_programs_publish(s->p, &item, &f->ticket, &published));
    __atomic_fetch_add(&s->items, published, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&s->lock);
  }
}

/* Waits for an item, and checks the words. */
static void
finish(shared *s, flight *f)
{
  vyre_mega_slot slot;
  uint32_t words[LANES];
  ok(vyre_mega_programs_wait(s->p, f->ticket, &slot));
  ok(vyre_mega_programs_read(s->p, f->range, words));
  ok(vyre_mega_programs_free(s->p, f->range));
  const bool is_done = slot.state == VYRE_MEGA_DONE;
  for (uint32_t k = 0; k < LANES; k++)
    if (words[k] % f->adds || (is_done ? words[k] != TIMES * f->adds : words[k] > TIMES * f->adds))
      fail_msg("%s (%s), but invocation %u has %u, where its program adds %u", vyre_mega_state_text(slot.state),
               vyre_mega_reason_text(slot.reason), k, words[k], f->adds);
  pthread_mutex_lock(&s->lock);
  s->done += is_done;
  s->evicted += !is_done && slot.reason == VYRE_MEGA_REASON_PROGRAM;
  s->lost += !is_done && slot.reason == VYRE_MEGA_REASON_LOST;
  pthread_mutex_unlock(&s->lock);
}

static void *
publish_items(void *argument)
{
  shared *s = argument;
  uint64_t random = (uintptr_t)pthread_self();
  for (uint32_t i = 0; i < s->goal / THREADS; i += FLIGHT) {
    flight flights[FLIGHT];
    for (uint32_t k = 0; k < FLIGHT; k++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      publish(s, (uint32_t)(random >> 33) % PROGRAMS, &flights[k]);
    }
    for (uint32_t k = 0; k < FLIGHT; k++)
      finish(s, &flights[k]);
    hang_progress();
  }
  return NULL;
}

/* Evicts the programs one after the other.  The number of an evicted program is used again when its last item has ended. */
static void *
evict_programs(void *argument)
{
  shared *s = argument;
  for (uint32_t place = 0; !__atomic_load_n(&s->stops, __ATOMIC_ACQUIRE); place = (place + 1) % PROGRAMS) {
    pthread_mutex_lock(&s->lock);
    ok(vyre_mega_programs_remove(s->p, s->programs[place]));
    add_program(s, place);
    s->evictions++;
    const uint32_t seen = s->items;
    pthread_mutex_unlock(&s->lock);
    while (!__atomic_load_n(&s->stops, __ATOMIC_ACQUIRE) && __atomic_load_n(&s->items, __ATOMIC_ACQUIRE) == seen)
      sched_yield();
  }
  return NULL;
}

/* Evicts a program after its item was published and before a launch. */
static void
evict_one(shared *s, frail *f)
{
  flight flights[2];
  __atomic_store_n(&f->is_held, true, __ATOMIC_RELEASE);
  publish(s, 1, &flights[0]);
  while (!__atomic_load_n(&f->waits, __ATOMIC_ACQUIRE))
    sched_yield();
  publish(s, 0, &flights[1]);
  ok(vyre_mega_programs_remove(s->p, s->programs[0]));
  __atomic_store_n(&f->is_held, false, __ATOMIC_RELEASE);
  const uint32_t before = s->evicted;
  finish(s, &flights[1]);
  assert_int_equal(s->evicted, before + 1);
  finish(s, &flights[0]);
}

TEST(each_item_is_done_once_by_its_own_program_or_ends)
{
  vyre_target *target = world_target();
  frail *f = frail_of(target);
  shared s = {.lock = PTHREAD_MUTEX_INITIALIZER, .next = 1001};
  vyre_mega_programs_counts counts;
  vyre_mega_control control;
  pthread_t threads[THREADS], evictor;
#ifdef MEGA_CPU
  s.goal = 1200;
#elif defined(MEGA_CUDA)
  s.goal = 36; /* the simulator is slow */
#else
  s.goal = 96;
#endif
  f->most = 6;
  f->every = 5;
  ok(vyre_mega_programs_start(&frail_ops, target,
                              &(vyre_mega_programs_options){.struct_size = sizeof(vyre_mega_programs_options),
                                                            .memory = 4 << 20,
                                                            .scratch = 16 << 10,
                                                            .programs = 64,
                                                            .groups = 2,
                                                            .slice = 4},
                              &s.p));
  for (uint32_t i = 0; i < PROGRAMS; i++)
    add_program(&s, i);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, publish_items, &s), 0);
  assert_int_equal(pthread_create(&evictor, NULL, evict_programs, &s), 0);
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  __atomic_store_n(&s.stops, true, __ATOMIC_RELEASE);
  pthread_join(evictor, NULL);
  while (frail_recoveries(target) < 2) { /* the number of items in a launch varies */
    flight more;
    publish(&s, 0, &more);
    finish(&s, &more);
  }
  evict_one(&s, f);
  vyre_mega_programs_count(s.p, &counts);
  ok(vyre_mega_programs_stop(s.p, &control, NULL));
  print_message("%u items: %u done, %u evicted, %u lost; %u evictions\n", s.items, s.done, s.evicted, s.lost, s.evictions);
  assert_int_equal(s.done + s.evicted + s.lost, s.items);
  assert_int_equal(control.done, s.done);
  assert_int_equal(control.faults, s.evicted + s.lost);
  assert_int_equal(counts.items, s.done);
  pthread_mutex_destroy(&s.lock);
  world_target_end(target);
}

TEST_MAIN(NULL, device_end)
