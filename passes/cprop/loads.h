/* What each load is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_LOADS_H
#define VYRE_PASSES_CPROP_LOADS_H

#include "../state/flow.h"
#include "../state/memory.h"

/* By row: an index into `known`, 0: of no load, or of one of which nothing is known. */
typedef struct loads {
  uint32_t *of;
  flow_list known; /* memory_load */
} loads;

vyre_status loads_follow(const memory *m, const flow_stops *stops, loads *out);

#endif
