/* The allocation of the host's part of the data buffer, and contexts after a failure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_ROOM_H
#define VYRE_RUNTIME_ROOM_H

#include "vyre/status.h"

enum { ROOM_ALIGN = 256 }; /* ranges are whole blocks, which move between host and device as a whole */

typedef struct room_range {
  uint64_t at, size;
} room_range;

/* Allocated ranges, in order. */
typedef struct room {
  uint64_t begin, end;
  room_range *ranges; /* owned */
  uint32_t count, capacity;
} room;

/* Allocates the first gap that is large enough. */
VYRE_MUST_USE vyre_status room_take(room *r, uint64_t size, const char *what, uint64_t *out);
/* Frees a range.  Returns false if no range starts there. */
bool room_give(room *r, uint64_t at);
/* Returns whether the bytes are in one allocated range. */
bool room_has(const room *r, uint64_t at, uint64_t size);

/* Frees the contexts of slots that are no longer in flight.  Ends items whose context is in an unknown state: they are FAULT
 * (LOST). No kernel runs.  Other threads may publish. */
void program_end_busy(void *memory, void *ring, uint32_t slots, void *control);

#endif
