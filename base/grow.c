/* Growing arrays over an allocator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "grow.h"

#include <string.h>

static void *
resize(const vyre_allocator *allocator, void *memory, size_t old_bytes, size_t bytes)
{
  const vyre_allocator *from = allocator ? allocator : vyre_allocator_default();
  return from->resize(from->user, memory, old_bytes, bytes);
}

bool
vyre_grow(const vyre_allocator *allocator, void *array, uint32_t *capacity, uint64_t needed, size_t size)
{
  if (needed <= *capacity)
    return true;
  if (needed > UINT32_MAX)
    return false;
  uint32_t wanted = *capacity ? *capacity : 8;
  while (wanted < needed)
    wanted = wanted > UINT32_MAX / 2 ? UINT32_MAX : wanted * 2;
  void *memory;
  memcpy(&memory, array, sizeof(memory)); /* the pointer may have any type */
  memory = resize(allocator, memory, *capacity * size, wanted * size);
  if (!memory)
    return false;
  memcpy(array, &memory, sizeof(memory));
  *capacity = wanted;
  return true;
}

void
vyre_release(const vyre_allocator *allocator, void *memory, size_t bytes)
{
  if (memory)
    resize(allocator, memory, bytes, 0);
}

void *
vyre_allocate(const vyre_allocator *allocator, size_t bytes)
{
  void *memory = resize(allocator, NULL, 0, bytes);
  if (memory)
    memset(memory, 0, bytes);
  return memory;
}

char *
vyre_copy_text(const vyre_allocator *allocator, const char *text)
{
  size_t bytes = strlen(text) + 1;
  char *copy = vyre_allocate(allocator, bytes);
  if (copy)
    memcpy(copy, text, bytes);
  return copy;
}

void
vyre_release_text(const vyre_allocator *allocator, char *text)
{
  if (text)
    vyre_release(allocator, text, strlen(text) + 1);
}
