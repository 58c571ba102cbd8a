/* Ends a test program whose test case hangs, instead of ctest's time limit.
 *
 * A case hangs if its process computes for HANG_SECONDS without progress, or uses no processor time for HANG_IDLE_SECONDS.
 * Progress is the beginning of a case, and each call of hang_progress(), which only loops over a known number of items make.
 * Processor time depends little on the machine's load, and a ready process runs within seconds.  VYRE_TEST_VERBOSE=1 prints the
 * longest processor time without progress of each case.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_HANG_H
#define VYRE_HANG_H

#include <pthread.h>
#include "test.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#if defined VYRE_SANITIZED /* sanitizers make cases several times slower */
enum { HANG_SECONDS = 40 };
#elif defined HANG_LONGEST_CASE /* a program defines it: four times the processor seconds of its longest case */
enum { HANG_SECONDS = HANG_LONGEST_CASE };
#elif defined MEGA_CPU          /* no driver, whose compiler takes seconds */
enum { HANG_SECONDS = 3 };
#else
enum { HANG_SECONDS = 10 };
#endif
enum {
  HANG_IDLE_SECONDS = 10,
  HANG_MOST_CASES = 64,
  HANG_PERIOD_MS = 100,
  HANG_IDLE_MS = 20 /* processor time of an idle process in HANG_IDLE_SECONDS, at most */
};

static struct {
  const struct CMUnitTest *cases; /* of the program */
  atomic_uint at;                 /* the running case is cases[at - 1]; 0 before the first */
  atomic_ullong progress_ms;      /* processor time of the process at the last progress */
  atomic_ullong longest_ms;       /* the longest processor time without progress in this case */
  atomic_bool is_running;         /* false between two calls of hang_run(), when the process may wait for work */
} hang;

static inline unsigned long long
hang_processor_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
}

/* Notes that the case made progress.  Any thread may call it. */
static inline void
hang_progress(void)
{
  const unsigned long long now = hang_processor_ms(), before = atomic_exchange(&hang.progress_ms, now);
  if (now > before && now - before > atomic_load(&hang.longest_ms))
    atomic_store(&hang.longest_ms, now - before);
}

static inline void
hang_end_process(const char *why)
{
  const unsigned at = atomic_load(&hang.at);
  fprintf(stderr, "[  FAILED  ] %s: hangs: %s\n", at ? hang.cases[at - 1].name : "the group's setup", why);
  _exit(1);
}

/* Ends the process if the running case hangs.  Runs in its own thread until the process ends. */
static inline void *
hang_watch(void *unused)
{
  enum { PERIODS = HANG_IDLE_SECONDS * 1000 / HANG_PERIOD_MS };
  unsigned long long seen_ms = hang_processor_ms();
  unsigned periods = 0, at = 0;
  (void)unused;
  for (;;) {
    nanosleep(&(struct timespec){0, HANG_PERIOD_MS * 1000000L}, NULL);
    const unsigned long long now = hang_processor_ms();
    const unsigned long long progress = atomic_load(&hang.progress_ms);
    if (!atomic_load(&hang.is_running)) {
      seen_ms = now;
      periods = 0;
      continue;
    }
    if (now > progress && now - progress > HANG_SECONDS * 1000ull)
      hang_end_process("it computes and does not end");
    if (now - seen_ms > HANG_IDLE_MS || at != atomic_load(&hang.at)) {
      seen_ms = now;
      periods = 0;
      at = atomic_load(&hang.at);
    } else if (++periods > PERIODS) {
      hang_end_process("it waits and computes nothing");
    }
  }
  return NULL;
}

/* Begins a case, and calls its own setup. */
static inline int
hang_begin_case(void **state)
{
  const unsigned at = atomic_load(&hang.at);
  hang_progress();
  if (at && getenv("VYRE_TEST_VERBOSE"))
    print_message("  %s: %llu ms of processor time without progress\n", hang.cases[at - 1].name, atomic_load(&hang.longest_ms));
  atomic_store(&hang.longest_ms, 0);
  atomic_store(&hang.at, at + 1);
  const CMFixtureFunction own = hang.cases[at].setup_func;
  return own ? own(state) : 0;
}

static inline int
hang_run(const char *name, const struct CMUnitTest *cases, size_t count, CMFixtureFunction setup, CMFixtureFunction teardown)
{
  struct CMUnitTest watched[HANG_MOST_CASES];
  static bool is_watching;
  pthread_t thread;
  if (count > HANG_MOST_CASES || (!is_watching && pthread_create(&thread, NULL, hang_watch, NULL) != 0))
    return 1;
  if (!is_watching)
    pthread_detach(thread);
  is_watching = true;
  memcpy(watched, cases, count * sizeof *cases);
  for (size_t i = 0; i < count; i++)
    watched[i].setup_func = hang_begin_case;
  atomic_store(&hang.at, 0);
  hang.cases = cases;
  hang_progress();
  atomic_store(&hang.is_running, true);
  const int failed = _cmocka_run_group_tests(name, watched, count, setup, teardown);
  atomic_store(&hang.is_running, false);
  return failed;
}

/* Watches the tests of a program that includes this file. */
__attribute__((constructor)) static void
hang_watch_tests(void)
{
  test_runner = hang_run;
}
#endif
