/* Vulkan targets of several threads at once, one for each thread, and one that all of them use.  The preset tsan
 * checks the tests, without suppressions for the driver and the loader.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "mix.h"

#include <pthread.h>

enum { THREADS = 4, TURNS = 3 };

typedef struct worker {
  vyre_target *target; /* NULL if the thread opens its own */
  uint32_t number;
  vyre_status status; /* owned */
  uint32_t got;
  pthread_t thread;
} worker;

/* Multiplies word `number` by three and adds one, twice, in two submissions.  The second one begins before the first one is done.
 * Only returns statuses, because cmocka's checks work in one thread. */
static vyre_status
work_on(vyre_target *target, worker *w)
{
  const mix_push push = {w->number, 3, 1};
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  vyre_ticket tickets[2];
  VYRE_TRY(ops->compile(target, &mix_kernel, &kernel));
  VYRE_TRY(ops->allocate(target, 4 * MIX_WORDS, &buffer));
  const vyre_range all = {buffer, 0, 0};
  const vyre_fill fill = {all, w->number};
  const vyre_step step = mix_step(kernel, &all, &push);
  const vyre_read read = {{buffer, 4 * (uint64_t)w->number, 4}, &w->got};
  VYRE_TRY(ops->begin(target, &(vyre_sequence){.fills = &fill, .fill_count = 1, .steps = &step, .step_count = 1}, &tickets[0]));
  VYRE_TRY(ops->begin(target, &(vyre_sequence){.steps = &step, .step_count = 1, .reads = &read, .read_count = 1}, &tickets[1]));
  VYRE_TRY(ops->wait(target, tickets[1], NULL));
  VYRE_TRY(ops->wait(target, tickets[0], NULL));
  VYRE_TRY(ops->free(target, buffer));
  return ops->release(target, kernel);
}

static void *
run_worker(void *user)
{
  worker *w = user;
  for (uint32_t turn = 0; turn < TURNS && w->target && !w->status; turn++)
    w->status = work_on(w->target, w);
  for (uint32_t turn = 0; turn < TURNS && !w->target && !w->status; turn++) {
    vyre_target *target;
    w->status = ops->open(NULL, NULL, &target);
    if (w->status)
      break;
    w->status = work_on(target, w);
    w->status = vyre_status_join(w->status, ops->close(target));
  }
  return NULL;
}

static void
start(worker *w)
{
  assert_int_equal(pthread_create(&w->thread, NULL, run_worker, w), 0);
}

static void
check(const worker *w)
{
  assert_int_equal(pthread_join(w->thread, NULL), 0);
  assert_ok(w->status);
  assert_int_equal(w->got, (w->number * 3 + 1) * 3 + 1);
}

TEST(threads_use_their_own_targets)
{
  worker workers[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (worker){.number = i + 1};
    start(&workers[i]);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    check(&workers[i]);
}

TEST(threads_use_one_target)
{
  for (uint32_t round = 0; round < 2; round++) {
    const vyre_target_options options = {.struct_size = sizeof options, .shared = round != 0};
    vyre_target *target;
    worker workers[THREADS];
    assert_ok(ops->open(&options, NULL, &target));
    for (uint32_t i = 0; i < THREADS; i++) {
      workers[i] = (worker){.target = target, .number = 5 + i};
      start(&workers[i]);
    }
    for (uint32_t i = 0; i < THREADS; i++)
      check(&workers[i]);
    assert_ok(ops->close(target));
  }
}
