/* What a CUDA graph without any node costs: a launch and the wait for it.  No sequence of a target can take less.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_EMPTY_GRAPH_H
#define VYRE_BENCH_EMPTY_GRAPH_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the device of that number, of the library that the CUDA target has opened: the driver's or the simulator's.  times:
 * nanoseconds, an element a round. */
VYRE_MUST_USE vyre_status bench_empty_graph(bool is_simulated, uint32_t device, uint32_t rounds, uint64_t *times);

#endif
