/* Ends a test program whose test case hangs, instead of ctest's time limit.
 *
 * A case hangs if its process computes for HANG_SECONDS, or for HANG_SECONDS computes nothing while a thread waits.  Processor time
 * does not depend on the load of the machine, and a process that waits for a turn gets one within seconds.  A case that takes
 * longer than a quarter of the limit is too large: VYRE_TEST_VERBOSE=1 prints the processor time of each case.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_HANG_H
#define VYRE_HANG_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef VYRE_SANITIZED /* which makes the cases several times slower */
enum { HANG_SECONDS = 40 };
#else
enum { HANG_SECONDS = 10 };
#endif
enum { HANG_MOST_CASES = 64, HANG_PERIOD_MS = 100, HANG_IDLE_MS = 20 /* of processor time in HANG_SECONDS */ };

static struct {
  const struct CMUnitTest *cases; /* as the program declares them */
  atomic_uint at;                 /* the case that runs is cases[at - 1] */
  atomic_ullong begun_ms;         /* processor time of the process when it began */
} hang;

static inline unsigned long long
hang_processor_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
}

static inline void
hang_end_process(const char *why)
{
  const unsigned at = atomic_load(&hang.at);
  fprintf(stderr, "[  FAILED  ] %s: hangs: %s\n", at ? hang.cases[at - 1].name : "the group's setup", why);
  _exit(1);
}

/* The watching thread.  It lives as long as the process. */
static inline void *
hang_watch(void *unused)
{
  enum { PERIODS = HANG_SECONDS * 1000 / HANG_PERIOD_MS };
  unsigned long long seen_ms = hang_processor_ms();
  unsigned periods = 0, at = 0;
  (void)unused;
  for (;;) {
    nanosleep(&(struct timespec){0, HANG_PERIOD_MS * 1000000L}, NULL);
    const unsigned long long now = hang_processor_ms();
    if (now - atomic_load(&hang.begun_ms) > HANG_SECONDS * 1000ull)
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

/* The setup of each case: the case's own follows. */
static inline int
hang_begin_case(void **state)
{
  static unsigned long long begun;
  const unsigned at = atomic_load(&hang.at);
  const unsigned long long now = hang_processor_ms();
  if (at && getenv("VYRE_TEST_VERBOSE"))
    print_message("  %llu ms of processor time\n", now - begun);
  begun = now;
  atomic_store(&hang.begun_ms, now);
  atomic_store(&hang.at, at + 1);
  const CMFixtureFunction own = hang.cases[at].setup_func;
  return own ? own(state) : 0;
}

static inline int
hang_run(const char *name, const struct CMUnitTest *cases, size_t count, CMFixtureFunction setup, CMFixtureFunction teardown)
{
  struct CMUnitTest watched[HANG_MOST_CASES];
  pthread_t thread;
  if (count > HANG_MOST_CASES || pthread_create(&thread, NULL, hang_watch, NULL) != 0)
    return 1;
  pthread_detach(thread);
  memcpy(watched, cases, count * sizeof *cases);
  for (size_t i = 0; i < count; i++)
    watched[i].setup_func = hang_begin_case;
  hang.cases = cases;
  return _cmocka_run_group_tests(name, watched, count, setup, teardown);
}

/* Runs the cases as cmocka_run_group_tests() does, and watches them. */
#define hang_run_group_tests(cases, setup, teardown) hang_run(#cases, cases, sizeof(cases) / sizeof *(cases), setup, teardown)
#endif
