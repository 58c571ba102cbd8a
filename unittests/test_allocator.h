/* An allocator that fails on request and counts what is out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEST_ALLOCATOR_H
#define VYRE_TEST_ALLOCATOR_H

#include "vyre/status.h"

typedef struct test_memory {
  const vyre_allocator *base;
  uint64_t calls, fail_at; /* the call that fails, from 1; 0: none */
  bool sticky;             /* all later ones fail too */
  size_t out;              /* bytes */
  size_t reserved;         /* bytes of address space */
  bool space;              /* what failed was address space, and a module may do with less */
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
  return result;
}

static inline void *
test_reserve(void *user, size_t bytes)
{
  test_memory *t = user;
  const bool fails = test_fails(t);
  void *result = fails ? NULL : t->base->reserve(t->base->user, bytes);
  t->space |= fails;
  if (result)
    t->reserved += bytes;
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
  t->reserved -= bytes;
  t->base->release(t->base->user, memory, bytes);
}

static inline vyre_allocator
test_allocator(test_memory *memory, uint64_t fail_at)
{
  *memory = (test_memory){.base = vyre_allocator_default(), .fail_at = fail_at};
  return (vyre_allocator){test_resize, test_reserve, test_commit, test_release, memory};
}

#endif
