/* A pool of threads. The caller and each thread take the next unclaimed part, so uneven parts end at about the same time. If a
 * thread cannot be started, the pool works without it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"
#include "vyre/environment.h"

#include <pthread.h>
#include <sched.h>

/* Compiled programs have up to 4 MiB of state on the stack (docs/c.md), more under a sanitizer. */
#define STACK_BYTES ((size_t)16 << 20)

struct cpu_pool {
  vyre_allocator allocator;
  uint32_t started; /* threads other than the caller's */
  pthread_t handles[CPU_MOST_THREADS];
  pthread_mutex_t lock; /* of all fields below */
  pthread_cond_t begin, end;
  void (*run)(void *user, uint32_t part);
  void *user;
  uint32_t parts, next, left; /* left: unfinished parts */
  bool closes;
};

/* Runs unclaimed parts. The caller holds the lock, which is released while a part runs. */
static void
run_parts(cpu_pool *pool)
{
  while (pool->next < pool->parts) {
    const uint32_t part = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    pool->run(pool->user, part);
    pthread_mutex_lock(&pool->lock);
    if (--pool->left == 0)
      pthread_cond_signal(&pool->end);
  }
}

static void *
work(void *user)
{
  VYRE_OWN_ENVIRONMENT;
  cpu_pool *pool = user;
  pthread_mutex_lock(&pool->lock);
  while (!pool->closes) {
    if (pool->next < pool->parts)
      run_parts(pool);
    else
      pthread_cond_wait(&pool->begin, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static uint32_t
count_processors(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : (uint32_t)count;
}

static void
start_threads(cpu_pool *pool, uint32_t count)
{
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  while (pool->started < count && pthread_create(&pool->handles[pool->started], &attributes, work, pool) == 0)
    pool->started++;
  pthread_attr_destroy(&attributes);
}

vyre_status
cpu_pool_open(const vyre_allocator *allocator, uint32_t threads, cpu_pool **out)
{
  cpu_pool *pool = vyre_allocate(allocator, sizeof *pool);
  *out = NULL;
  if (!pool)
    return VYRE_OUT_OF_MEMORY("for a pool of threads");
  *pool = (cpu_pool){.allocator = *allocator};
  const uint32_t wanted = threads ? threads : count_processors();
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->begin, NULL);
  pthread_cond_init(&pool->end, NULL);
  start_threads(pool, (wanted < CPU_MOST_THREADS ? wanted : CPU_MOST_THREADS) - 1);
  *out = pool;
  return VYRE_OK;
}

void
cpu_pool_close(cpu_pool *pool)
{
  if (!pool)
    return;
  pthread_mutex_lock(&pool->lock);
  pool->closes = true;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->started; i++)
    pthread_join(pool->handles[i], NULL);
  pthread_cond_destroy(&pool->begin);
  pthread_cond_destroy(&pool->end);
  pthread_mutex_destroy(&pool->lock);
  const vyre_allocator allocator = pool->allocator;
  vyre_release(&allocator, pool, sizeof *pool);
}

uint32_t
cpu_pool_threads(const cpu_pool *pool)
{
  return pool->started + 1;
}

void
cpu_pool_run(cpu_pool *pool, uint32_t parts, void (*run)(void *user, uint32_t part), void *user)
{
  if (parts < 2 || pool->started == 0) {
    for (uint32_t part = 0; part < parts; part++)
      run(user, part);
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->run = run;
  pool->user = user;
  pool->parts = pool->left = parts;
  pool->next = 0;
  pthread_cond_broadcast(&pool->begin);
  run_parts(pool);
  while (pool->left)
    pthread_cond_wait(&pool->end, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
}
