/* The default allocator.  `resize` uses the C library's heap, and `reserve` gets address space from mmap.
 *
 * Reserved space has no access rights until it is committed.  So it costs nothing under any overcommit policy.  Small modules do
 * not get huge pages, because the kernel sees a mapping of the committed size.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_FROM ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

/* Hints that the memory gets huge pages: most time of the first access to large memory is page faults.  The hint covers whole
 * huge pages only, so it does not affect neighbouring blocks of the heap. */
static void
hint_huge_pages(void *memory, size_t bytes)
{
  const uintptr_t start = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1),
                  end = ((uintptr_t)memory + bytes) & ~(HUGE_PAGE - 1);
  if (end > start)
    madvise((void *)start, end - start, MADV_HUGEPAGE);
}

static void *
default_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  (void)user;
  (void)old_size;
  if (new_size == 0) {
    free(memory);
    return NULL;
  }
  memory = realloc(memory, new_size);
  if (memory && new_size >= HUGE_FROM)
    hint_huge_pages(memory, new_size);
  return memory;
}

static void *
default_reserve(void *user, size_t bytes)
{
  (void)user;
  void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static bool
default_commit(void *user, void *memory, size_t old_bytes, size_t bytes)
{
  (void)user;
  char *start = (char *)memory + old_bytes;
  if (mprotect(start, bytes - old_bytes, PROT_READ | PROT_WRITE) != 0)
    return false;
  if (bytes >= HUGE_FROM)
    hint_huge_pages(memory, bytes);
  return true;
}

static void
default_release(void *user, void *memory, size_t bytes)
{
  (void)user;
  munmap(memory, bytes);
}

const vyre_allocator *
vyre_allocator_default(void)
{
  static const vyre_allocator allocator = {default_resize, default_reserve, default_commit, default_release, NULL};
  return &allocator;
}
