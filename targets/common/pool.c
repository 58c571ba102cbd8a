/* The pool: freed buffers for later allocations of exactly the same size.
 *
 * The pool is a list of sizes, smallest first. Each size is a list of buffers, newest first. There are few sizes, so a linear
 * search is cheap. A larger buffer is never used for a smaller size, because kernels derive the number of elements from a
 * buffer's size.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

/* Returns the link to the first buffer of a size, or to its place if there is none. */
static target_buffer **
find_class(target_base *base, uint64_t size)
{
  target_buffer **at = &base->pool;
  while (*at && (*at)->size < size)
    at = &(*at)->larger;
  return at;
}

/* Removes the newest buffer of a size. */
static vyre_status
unlink_newest(target_base *base, target_buffer **at)
{
  target_buffer *buffer = *at;
  if (buffer->older) {
    buffer->older->larger = buffer->larger;
    *at = buffer->older;
  } else {
    *at = buffer->larger;
  }
  buffer->older = buffer->larger = NULL;
  return vyre_status_join(target_subtract(base, &base->counters.bytes_pooled, buffer->size, "bytes of the pool"),
                          target_subtract(base, &base->counters.buffers_pooled, 1, "buffers of the pool"));
}

static uint64_t
pool_budget(const target_base *base)
{
  return base->has_budgets ? base->pool_budget : base->info.memory / 32;
}

vyre_status
target_pool_allocate(target_base *base, uint64_t size, target_buffer **out)
{
  *out = NULL;
  target_buffer **at = find_class(base, size), *found = *at;
  if (!found || found->size != size)
    return VYRE_OK;
  *out = found;
  return unlink_newest(base, at);
}

vyre_status
target_pool_trim(vyre_target *target, uint64_t bytes)
{
  target_base *base = target_base_of(target);
  vyre_status status = VYRE_OK;
  while (base->pool && base->counters.bytes_pooled > bytes) {
    target_buffer **at = &base->pool;
    while ((*at)->larger)
      at = &(*at)->larger;
    target_buffer *buffer = *at;
    status = vyre_status_join(status, unlink_newest(base, at));
    base->counters.evictions++;
    status = vyre_status_join(status, target_buffer_destroy(target, buffer));
  }
  return status;
}

vyre_status
target_pool_put(vyre_target *target, target_buffer *buffer)
{
  target_base *base = target_base_of(target);
  const uint64_t budget = pool_budget(base);
  if (base->lost || buffer->is_imported)
    return target_buffer_destroy(target, buffer);
  if (buffer->size > budget) {
    base->counters.evictions++;
    return target_buffer_destroy(target, buffer);
  }
  vyre_status status = target_pool_trim(target, budget - buffer->size);
  status = vyre_status_join(status, target_add(base, &base->counters.bytes_pooled, buffer->size, "bytes of the pool"));
  if (status) /* freeing buffers failed or a counter is wrong, so the buffer is destroyed */
    return vyre_status_join(status, target_buffer_destroy(target, buffer));
  base->counters.buffers_pooled++;
  target_buffer **at = find_class(base, buffer->size), *next = *at;
  const bool is_first = !next || next->size != buffer->size;
  buffer->older = is_first ? NULL : next;
  buffer->larger = is_first ? next : next->larger;
  if (!is_first)
    next->larger = NULL;
  *at = buffer;
  return VYRE_OK;
}
