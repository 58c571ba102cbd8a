/* The state graph in memory of the caller. The analysis computes it, and the verifier compares it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_H
#define VYRE_IR_VERSIONS_H

#include "vyre/ir.h"

/* A state graph. It owns joins and parts. `version` has an element for each row and belongs to the caller. */
typedef struct vyre_state_graph {
  uint32_t *version;
  vyre_join *joins;
  vyre_part *parts;
  uint32_t join_count, join_capacity, part_count, part_capacity;
} vyre_state_graph;

void vyre_state_graph_free(vyre_state_graph *graph, const vyre_allocator *allocator); /* frees joins and parts */
/* Makes room for more joins and parts. Returns false if memory runs out. */
bool vyre_state_graph_reserve(vyre_state_graph *graph, const vyre_allocator *allocator, uint32_t joins, uint32_t parts);

/* Recomputes the graph and keeps its memory. The module is sealed and verified. */
VYRE_MUST_USE vyre_status vyre_versions_compute(const vyre_module *module, vyre_state_graph *graph);

/* Returns whether no version of a row, and no part of a join, is a removed row. `op` and the graph's column have `rows` elements.
 */
bool vyre_versions_are_whole(const vyre_state_graph *graph, const uint32_t *op, uint32_t rows);

/* Updates the graph after rows were renumbered, and removes joins that no row uses. `map` has the new id of each old row, or 0 if
 * it was dropped. Stores the versions of the first `rows` old rows by new rows in `out`, which may be the column if no row moves to
 * a greater id. `scratch` has room for `rows` numbers. *out_whole is set to whether all used versions still exist; otherwise the
 * graph is invalid. Returns false if memory runs out. */
bool vyre_versions_renumber(vyre_state_graph *graph, const vyre_allocator *allocator, const uint32_t *map, uint32_t rows,
                            uint32_t *out, uint32_t *scratch, bool *out_whole);

#endif
