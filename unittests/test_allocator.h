/* An allocator that fails on request and counts the memory that is in use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEST_ALLOCATOR_H
#define VYRE_TEST_ALLOCATOR_H

#include "test.h"

#include "vyre/status.h"

typedef struct test_memory {
  const vyre_allocator *base;
  uint64_t calls, fail_at;    /* the number of the call that fails, from 1; 0 if none fails */
  bool sticky;                /* all later calls fail too */
  size_t out;                 /* bytes in use */
  size_t peak;                /* the most bytes that were in use */
  size_t reserved;            /* bytes of address space in use */
  size_t most;                /* bytes of address space that may be in use */
  uint32_t reservations;      /* in use */
  uint32_t most_reservations; /* that may be in use */
  uint32_t refused;           /* reservations that failed */
} test_memory;

static inline bool
test_fails(test_memory *t)
{
  t->calls++;
  return t->fail_at && (t->calls == t->fail_at || (t->sticky && t->calls > t->fail_at));
}

static inline void *
test_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  test_memory *t = user;
  if (new_size > old_size && test_fails(t))
    return NULL;
  void *result = t->base->resize(t->base->user, memory, old_size, new_size);
  if (result || new_size == 0)
    t->out += new_size - old_size;
  if (t->out > t->peak)
    t->peak = t->out;
  return result;
}

static inline void *
test_reserve(void *user, size_t bytes)
{
  test_memory *t = user;
  const bool fails = test_fails(t) || bytes > t->most - t->reserved || t->reservations == t->most_reservations;
  void *result = fails ? NULL : t->base->reserve(t->base->user, bytes);
  t->refused += fails;
  t->reservations += result != NULL;
  t->reserved += result ? bytes : 0;
  return result;
}

static inline bool
test_commit(void *user, void *memory, size_t old_bytes, size_t bytes)
{
  test_memory *t = user;
  return !test_fails(t) && t->base->commit(t->base->user, memory, old_bytes, bytes);
}

static inline void
test_release(void *user, void *memory, size_t bytes)
{
  test_memory *t = user;
  assert_non_null(memory);
  t->reservations--;
  t->reserved -= bytes;
  t->base->release(t->base->user, memory, bytes);
}

static inline vyre_allocator
test_allocator(test_memory *memory, uint64_t fail_at)
{
  *memory = (test_memory){.base = vyre_allocator_default(), .fail_at = fail_at, .most = SIZE_MAX, .most_reservations = UINT32_MAX};
  return (vyre_allocator){test_resize, test_reserve, test_commit, test_release, memory};
}

/* Calls `work` with an allocator whose first call fails, then with one whose call 1 + step fails, and so on, until none fails.
 * With `sticky`, all later calls fail too.  Asserts that each failure is an error, unless a module reserves less address space
 * instead, and that no memory stays in use.  Returns the number of failures. */
static inline uint64_t
test_each_failure(vyre_status (*work)(const vyre_allocator *allocator, void *user), void *user, bool sticky, uint64_t step)
{
  for (uint64_t at = 1;; at += step) {
    test_memory memory;
    const vyre_allocator allocator = test_allocator(&memory, at);
    memory.sticky = sticky;
    vyre_status status = work(&allocator, user);
    const bool fails = memory.calls >= at;
    if (status ? !fails || !strstr(vyre_status_text(status), "out of memory") : fails && (sticky || !memory.refused))
      fail_msg("call %llu fails: %s", (unsigned long long)at, vyre_status_text(status));
    vyre_status_free(status);
    assert_int_equal(memory.out, 0);
    assert_int_equal(memory.reserved, 0);
    if (!fails)
      return at / step;
  }
}

#endif
