/* Items of a live kernel, as its tests give them and look at what came of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_LIVE_ITEMS_H
#define VYRE_UNITTESTS_LIVE_ITEMS_H

#include "../hang.h"
#include "mega.h"

/* As soon as there is room. */
static inline vyre_mega_ticket
live_publish(vyre_mega_live *live, vyre_mega_item item)
{
  vyre_mega_ticket ticket;
  bool published = false;
  while (!published)
    ok(vyre_mega_live_publish(live, &item, &ticket, &published));
  return ticket;
}

static inline vyre_mega_slot
live_wait(vyre_mega_live *live, vyre_mega_ticket ticket)
{
  vyre_mega_slot slot;
  ok(vyre_mega_live_wait(live, ticket, &slot));
  return slot;
}

static inline uint32_t
live_word(vyre_mega_live *live, uint32_t word)
{
  uint32_t value;
  ok(vyre_mega_live_word(live, word, &value));
  return value;
}

#endif
