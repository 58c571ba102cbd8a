/* The state graph into memory of the caller's: what the analysis writes and the verifier compares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_H
#define VYRE_IR_VERSIONS_H

#include "vyre/ir.h"

/* Room for so many more; false: out of memory. */
bool vyre_state_graph_reserve(vyre_state_graph *graph, const vyre_allocator *allocator, uint32_t joins, uint32_t parts);

/* Fills it anew, keeping its memory.  The module is sealed and verified. */
VYRE_MUST_USE vyre_status vyre_versions_compute(const vyre_module *module, vyre_state_graph *graph);

/* After rows were renumbered: map by row as it was, 0 where it is gone; the column is in the new order and has the old versions in
 * it, an element for each of `rows` rows.  Joins that no row sees any more are removed.  Not whole: the row of a version
 * that is seen is gone, and the graph is of no use.  False: out of memory. */
bool vyre_versions_renumber(vyre_state_graph *graph, const vyre_allocator *allocator, const uint32_t *map, uint32_t rows,
                            bool *out_whole);

#endif
