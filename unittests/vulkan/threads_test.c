/* Vulkan targets of several threads at once, each of its own, and one that goes from thread to thread.  The preset tsan watches
 * it; the driver and the loader need no suppression.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "../test.h"
#include "messages.h"
#include "vyre/target.h"

#include <pthread.h>

#include "mix.h"

enum { THREADS = 4, TURNS = 3, WORDS = 64 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;

typedef struct worker {
  vyre_target *target; /* NULL: it opens its own */
  uint32_t number;
  vyre_status status; /* owned */
  uint32_t got;
} worker;

/* Word `number` becomes three times itself and one, by two submissions of which the second is begun before the first is done. */
static vyre_status
work_on(vyre_target *target, worker *w)
{
  const mix_push push = {w->number, 3, 1};
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  VYRE_TRY(ops->compile(target, &mix_kernel, &kernel));
  VYRE_TRY(ops->allocate(target, 4 * WORDS, &buffer));
  const vyre_range all = {buffer, 0, 0};
  const vyre_fill fill = {all, w->number};
  const vyre_step step = mix_step(kernel, &all, &push);
  const vyre_read read = {{buffer, 4 * (uint64_t)w->number, 4}, &w->got};
  const vyre_sequence first = {.fills = &fill, .fill_count = 1, .steps = &step, .step_count = 1},
                      second = {.steps = &step, .step_count = 1, .reads = &read, .read_count = 1};
  vyre_ticket tickets[2];
  VYRE_TRY(ops->begin(target, &first, &tickets[0]));
  VYRE_TRY(ops->begin(target, &second, &tickets[1]));
  VYRE_TRY(ops->wait(target, tickets[1], NULL));
  VYRE_TRY(ops->wait(target, tickets[0], NULL));
  VYRE_TRY(ops->free(target, buffer));
  return ops->release(target, kernel);
}

static void *
run_worker(void *user)
{
  worker *w = user;
  if (w->target) {
    w->status = work_on(w->target, w);
    return NULL;
  }
  for (uint32_t turn = 0; turn < TURNS && !w->status; turn++) {
    vyre_target *target;
    w->status = ops->open(NULL, NULL, &target);
    if (w->status)
      return NULL;
    w->status = work_on(target, w);
    w->status = vyre_status_join(w->status, ops->close(target));
  }
  return NULL;
}

static void
check(const worker *w)
{
  if (w->status)
    fail_msg("%s", vyre_status_text(w->status));
  assert_int_equal(w->got, (w->number * 3 + 1) * 3 + 1);
}

TEST(threads_have_targets_of_their_own)
{
  pthread_t threads[THREADS];
  worker workers[THREADS];
  memset(workers, 0, sizeof workers);
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i].number = i + 1;
    assert_int_equal(pthread_create(&threads[i], NULL, run_worker, &workers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (uint32_t i = 0; i < THREADS; i++)
    check(&workers[i]);
}

TEST(a_target_goes_from_thread_to_thread)
{
  vyre_target *target;
  assert_ok(ops->open(NULL, NULL, &target));
  for (uint32_t i = 0; i < THREADS; i++) {
    pthread_t thread;
    worker w = {.target = target, .number = 5 + i};
    assert_int_equal(pthread_create(&thread, NULL, run_worker, &w), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    check(&w);
  }
  assert_ok(ops->close(target));
}
