/* Handle numbers.
 *
 * A table is an array of places, whose free places form a list. A lookup is one comparison. Limit: each place can be used 2^32
 * times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <stdatomic.h>

/* The number of tables that this process made. An odd factor spreads their first generations over all 32 bits. */
static _Atomic uint32_t table_count;

static vyre_status
grow(const target_base *base, target_handles *handles)
{
  const uint32_t old = handles->capacity;
  if (!vyre_grow(&base->allocator, &handles->places, &handles->capacity, old + 1, sizeof(target_place)))
    return VYRE_OUT_OF_MEMORY("for a handle of a target");
  if (old == 0)
    handles->first_generation = (atomic_fetch_add(&table_count, 1) + 1) * 0x9e3779b1u;
  for (uint32_t i = old; i < handles->capacity; i++)
    handles->places[i] = (target_place){.generation = handles->first_generation};
  return VYRE_OK;
}

vyre_status
target_handles_add(const target_base *base, target_handles *handles, void *item, uint64_t *out)
{
  *out = 0;
  uint32_t place = handles->first_free;
  if (place) {
    handles->first_free = handles->places[place - 1].next_free;
  } else {
    if (handles->count == handles->capacity)
      VYRE_TRY(grow(base, handles));
    place = ++handles->count;
  }
  handles->places[place - 1].item = item;
  *out = (uint64_t)handles->places[place - 1].generation << 32 | place;
  return VYRE_OK;
}

void *
target_handles_get(const target_handles *handles, uint64_t id)
{
  uint32_t place = (uint32_t)id;
  if (place == 0 || place > handles->count || handles->places[place - 1].generation != (uint32_t)(id >> 32))
    return NULL;
  return handles->places[place - 1].item;
}

void
target_handles_remove(target_handles *handles, uint64_t id)
{
  target_place *place = &handles->places[(uint32_t)id - 1];
  *place = (target_place){.generation = place->generation + 1, .next_free = handles->first_free};
  handles->first_free = (uint32_t)id;
}

void
target_handles_free(const vyre_allocator *allocator, target_handles *handles)
{
  vyre_release(allocator, handles->places, sizeof(target_place) * handles->capacity);
  *handles = (target_handles){0};
}
