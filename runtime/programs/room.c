/* First-fit allocation of ranges, and contexts after a failure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include "base/round.h"
#include "protocol/words.h"
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

vyre_status
room_take(room *r, uint64_t size, const char *what, uint64_t *out)
{
  const uint64_t needed = round_up(size ? size : 1, ROOM_ALIGN);
  uint64_t at = r->begin;
  uint32_t place = 0;
  if (r->count == r->capacity) {
    const uint32_t capacity = r->capacity ? r->capacity * 2 : 64;
    room_range *ranges = realloc(r->ranges, capacity * sizeof *ranges);
    if (!ranges)
      return VYRE_OUT_OF_MEMORY("for a range of a megakernel's memory");
    r->ranges = ranges;
    r->capacity = capacity;
  }
  while (place < r->count && (r->ranges[place].at < at || r->ranges[place].at - at < needed)) {
    at = r->ranges[place].at + r->ranges[place].size;
    place++;
  }
  if (at > r->end || r->end - at < needed)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: no %" PRIu64 " bytes are left for %s in the memory of %" PRIu64 " bytes\n"
                      "Fix: free ranges or remove programs, or start with more `memory`",
                      needed, what, r->end - r->begin);
  memmove(r->ranges + place + 1, r->ranges + place, (r->count - place) * sizeof *r->ranges);
  r->ranges[place] = (room_range){at, needed};
  r->count++;
  *out = at;
  return VYRE_OK;
}

bool
room_give(room *r, uint64_t at)
{
  for (uint32_t i = 0; i < r->count; i++)
    if (r->ranges[i].at == at) {
      r->count--;
      memmove(r->ranges + i, r->ranges + i + 1, (r->count - i) * sizeof *r->ranges);
      return true;
    }
  return false;
}

bool
room_has(const room *r, uint64_t at, uint64_t size)
{
  for (uint32_t i = 0; i < r->count; i++) {
    const room_range *range = &r->ranges[i];
    if (at >= range->at && at - range->at <= range->size && size <= range->size - (at - range->at))
      return true;
  }
  return false;
}

void
program_end_busy(void *memory, void *ring, uint32_t slots, void *control)
{
  const uint32_t count = word_get(memory, PROGRAM_HEAD_CONTEXT_COUNT), words = word_get(memory, PROGRAM_HEAD_CONTEXT_WORDS);
  for (uint32_t i = 0; i < count; i++) {
    const size_t at = word_get(memory, PROGRAM_HEAD_CONTEXTS) + (size_t)i * words;
    const uint32_t owner = word_get(memory, at + PROGRAM_CONTEXT_OWNER);
    const size_t base = owner ? owner - 1 : 0;
    if (!owner || base / VYRE_MEGA_SLOT_WORDS >= slots)
      continue;
    const bool waits = vyre_mega_state_is_active(word_acquire(ring, base)),
               is_busy = word_get(memory, at + PROGRAM_CONTEXT_BUSY) != 0;
    if (waits && !is_busy)
      continue;
    if (waits) {
      word_put(ring, base + VYRE_MEGA_SLOT_REASON, VYRE_MEGA_REASON_LOST);
      word_put(control, VYRE_MEGA_FAULT_COUNT, word_get(control, VYRE_MEGA_FAULT_COUNT) + 1);
      word_release(ring, base, VYRE_MEGA_FAULT);
    }
    word_put(memory, at + PROGRAM_CONTEXT_STATE, PROGRAM_FREE);
    word_put(memory, at + PROGRAM_CONTEXT_BUSY, 0);
    word_release(memory, at + PROGRAM_CONTEXT_OWNER, 0);
  }
}
