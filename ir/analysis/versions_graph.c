/* Memory of the state graph, and its update when rows are renumbered.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions.h"

#include "base/grow.h"

#include <string.h>

bool
vyre_state_graph_reserve(vyre_state_graph *graph, const vyre_allocator *allocator, uint32_t joins, uint32_t parts)
{
  const uint64_t join_count = (uint64_t)graph->join_count + joins, part_count = (uint64_t)graph->part_count + parts;
  /* one more, so that the arrays are never NULL */
  return vyre_grow(allocator, &graph->joins, &graph->join_capacity, join_count + 1, sizeof *graph->joins) &&
         vyre_grow(allocator, &graph->parts, &graph->part_capacity, part_count + 1, sizeof *graph->parts);
}

void
vyre_state_graph_free(vyre_state_graph *graph, const vyre_allocator *allocator)
{
  if (graph->joins)
    allocator->resize(allocator->user, graph->joins, graph->join_capacity * sizeof *graph->joins, 0);
  if (graph->parts)
    allocator->resize(allocator->user, graph->parts, graph->part_capacity * sizeof *graph->parts, 0);
  *graph = (vyre_state_graph){0};
}

/* Returns whether the version of a row, or of a join's part, is a row that is not removed. */
static bool
is_whole(const uint32_t *op, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 || version == 0 || VYRE_ROW_OP(op[version]) != VYRE_OP_null;
}

bool
vyre_versions_are_whole(const vyre_state_graph *graph, const uint32_t *op, uint32_t rows)
{
  bool whole = true;
  for (uint32_t row = 1; row < rows; row++)
    if (graph->version[row] != 0)
      whole &= VYRE_ROW_OP(op[row]) == VYRE_OP_null || is_whole(op, graph->version[row]);
  for (uint32_t i = 1; i < graph->join_count; i++)
    whole &= VYRE_ROW_OP(op[graph->joins[i].row]) != VYRE_OP_null;
  for (uint32_t i = 0; i < graph->part_count; i++)
    whole &= is_whole(op, graph->parts[i].version) && VYRE_ROW_OP(op[graph->parts[i].edge]) != VYRE_OP_null;
  return whole;
}

/* ---- renumbering --------------------------------------------------------------------------------------------------------- */

typedef struct renumbering {
  vyre_state_graph *graph;
  const uint32_t *map; /* by old row */
  uint32_t *to;        /* by join: its new number, or 0 while no row is known to use it */
  uint32_t *stack, depth;
  bool whole; /* every used version still exists */
} renumbering;

static void
mark_used(renumbering *r, uint32_t version)
{
  const uint32_t join = version & ~VYRE_JOIN;
  if ((version & VYRE_JOIN) == 0 || r->to[join])
    return;
  r->to[join] = 1;
  r->stack[r->depth++] = join;
}

static uint32_t
new_row(renumbering *r, uint32_t row)
{
  r->whole &= row == 0 || r->map[row] != 0;
  return r->map[row];
}

static uint32_t
new_version(renumbering *r, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? VYRE_JOIN | r->to[version & ~VYRE_JOIN] : new_row(r, version);
}

static void
mark_parts(renumbering *r)
{
  const vyre_state_graph *graph = r->graph;
  while (r->depth) {
    const vyre_join *join = &graph->joins[r->stack[--r->depth]];
    for (uint32_t i = 0; i < join->count; i++)
      mark_used(r, graph->parts[join->first + i].version);
  }
}

/* Moves versions, renumbers those that are rows, and marks used joins. Lists the new rows with joins. Returns their number. */
static uint32_t
renumber_rows(renumbering *r, uint32_t rows, uint32_t *out, uint32_t *users)
{
  const uint32_t *versions = r->graph->version, *map = r->map;
  uint32_t count = 0;
  bool whole = true;
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t version = versions[row], to = map[row];
    if (to == 0)
      continue;
    out[to] = version;
    if (version == 0)
      continue;
    if ((version & VYRE_JOIN) == 0) {
      out[to] = map[version];
      whole &= map[version] != 0;
      continue;
    }
    users[count++] = to;
    mark_used(r, version);
    mark_parts(r);
  }
  r->whole = whole;
  return count;
}

/* Numbers the used joins and removes the others. Parts are in the order of their joins. */
static void
renumber_joins(renumbering *r)
{
  vyre_state_graph *graph = r->graph;
  uint32_t kept = 1, parts = 0;
  for (uint32_t i = 1; i < graph->join_count; i++)
    r->to[i] = r->to[i] ? kept++ : 0;
  for (uint32_t i = 1; i < graph->join_count; i++) {
    const vyre_join join = graph->joins[i];
    if (r->to[i] == 0)
      continue;
    graph->joins[r->to[i]] = (vyre_join){new_row(r, join.row), parts, join.count};
    for (uint32_t k = 0; k < join.count; k++) {
      const vyre_part part = graph->parts[join.first + k];
      graph->parts[parts++] = (vyre_part){new_version(r, part.version), new_row(r, part.edge)};
    }
  }
  graph->join_count = kept;
  graph->part_count = parts;
}

bool
vyre_versions_renumber(vyre_state_graph *graph, const vyre_allocator *allocator, const uint32_t *map, uint32_t rows, uint32_t *out,
                       uint32_t *scratch, bool *out_whole)
{
  renumbering r = {.graph = graph, .map = map, .whole = true};
  const size_t bytes = 2 * sizeof(uint32_t) * graph->join_count;
  r.to = allocator->resize(allocator->user, NULL, 0, bytes);
  if (!r.to)
    return false;
  r.stack = r.to + graph->join_count;
  memset(r.to, 0, graph->join_count * sizeof *r.to);
  const uint32_t users = renumber_rows(&r, rows, out, scratch);
  renumber_joins(&r);
  for (uint32_t i = 0; i < users; i++)
    out[scratch[i]] = new_version(&r, out[scratch[i]]);
  allocator->resize(allocator->user, r.to, bytes, 0);
  *out_whole = r.whole;
  return true;
}
