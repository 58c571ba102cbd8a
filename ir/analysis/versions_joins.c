/* The state graph: the versions of reads, and the joins that they need.
 *
 * A class has several states at a position: by its own writes, by those of its group, of opaque rows and of async waits. The last
 * one of these holds. If that is a merge, the version is a join. The first read that needs a join makes it, so unused joins do not
 * exist. Its parts follow from the states that the edges bring, and may need more joins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include <string.h>

static const merge *
merge_of(const versions *k, uint32_t value)
{
  return (const merge *)k->merges.data + (value & ~VYRE_JOIN);
}

/* Returns the row at which a state begins. */
static uint32_t
row_of(const versions *k, uint32_t value)
{
  return (value & VYRE_JOIN) != 0 ? merge_of(k, value)->row : value;
}

/* ---- joins of classes without a merge of their own ----------------------------------------------------------------------- */

static slot *
probe(const vector *slots, uint32_t row, uint32_t klass)
{
  const uint32_t mask = slots->capacity - 1;
  slot *at = slots->data;
  for (uint32_t i = (row * 0x9e3779b1u ^ klass * 0x85ebca6bu) & mask;; i = (i + 1) & mask)
    if (at[i].row == 0 || (at[i].row == row && at[i].klass == klass))
      return &at[i];
}

static bool
grow_slots(versions *k)
{
  const vector old = k->slots;
  const uint32_t capacity = old.capacity ? old.capacity * 2 : 128;
  void *data = capacity > old.capacity ? k->allocator->resize(k->allocator->user, NULL, 0, capacity * sizeof(slot)) : NULL;
  if (!data) {
    k->out_of_memory = true;
    return false;
  }
  memset(data, 0, capacity * sizeof(slot));
  k->slots.data = data;
  k->slots.capacity = capacity;
  for (const slot *s = old.data; s && s < (const slot *)old.data + old.capacity; s++)
    if (s->row)
      *probe(&k->slots, s->row, s->klass) = *s;
  versions_free(k, &old);
  return true;
}

/* Returns the place of the number of the class's join at the row, or NULL if memory runs out. */
static uint32_t *
slot_of(versions *k, uint32_t row, uint32_t klass)
{
  if (k->slots_used * 2 >= k->slots.capacity && !grow_slots(k))
    return NULL;
  slot *at = probe(&k->slots, row, klass);
  if (at->row == 0) {
    *at = (slot){row, klass, 0};
    k->slots_used++;
  }
  return &at->join;
}

/* ---- versions ------------------------------------------------------------------------------------------------------------ */

/* Returns the version of a class with these states. Makes the join if it is the first use. A join is VYRE_JOIN | its index in
 * `joins` until joins are ordered. */
static uint32_t
version_of(versions *k, uint32_t klass, const uint32_t value[SOURCES])
{
  uint32_t top = value[0], row = row_of(k, top);
  for (uint32_t i = 1; i < k->sources; i++)
    if (row_of(k, value[i]) > row) {
      top = value[i];
      row = row_of(k, top);
    }
  if ((top & VYRE_JOIN) == 0)
    return top ? top : versions_state(k, klass)->row;
  uint32_t *join = top == value[0] ? &((merge *)k->merges.data)[top & ~VYRE_JOIN].join : slot_of(k, row, klass);
  if (join && *join)
    return VYRE_JOIN | *join;
  new_join *made = join ? versions_append(k, &k->joins) : NULL;
  if (!made)
    return 0;
  *join = k->joins.count - 1;
  *made = (new_join){.klass = klass, .row = row};
  memcpy(made->value, value, sizeof made->value);
  return VYRE_JOIN | *join;
}

uint32_t
versions_current(versions *k, uint32_t klass)
{
  const state *s = versions_state(k, klass);
  uint32_t value[SOURCES] = {s->value};
  if (k->sources > 1) {
    value[1] = versions_state(k, s->group)->value;
    value[2] = s->memory ? versions_state(k, GROUP_OPAQUE)->value : 0;
    value[3] = s->async ? versions_state(k, GROUP_ASYNC)->value : 0;
  }
  return version_of(k, klass, value);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

static void
add_part(versions *k, uint32_t join, const uint32_t value[SOURCES], uint32_t from)
{
  const uint32_t version = version_of(k, ((const new_join *)k->joins.data)[join].klass, value);
  vyre_part *part = versions_append(k, &k->parts);
  if (part)
    *part = (vyre_part){version, from};
}

/* Returns the next edge that brings one of the states, or 0. */
static uint32_t
next_edge(const versions *k, const uint32_t next[SOURCES])
{
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 0; i < k->sources; i++) {
    const uint32_t number = next[i] ? ((const brought_state *)k->brought.data)[next[i]].edge : UINT32_MAX;
    least = number < least ? number : least;
  }
  return least == UINT32_MAX ? 0 : least;
}

/* Finds the parts of a join. For an `if` and a head, each edge has a part. For others, each edge with a version other than that
 * before the construct has a part, and one more part stands for the rest. */
static void
find_parts(versions *k, uint32_t join)
{
  const new_join made = ((const new_join *)k->joins.data)[join];
  const edge *edges = k->edges.data;
  const brought_state *brought = k->brought.data;
  const uint32_t first_part = k->parts.count, row = made.row, construct = versions_is_region(k, row) ? k->view->parent[row] : row;
  const bool each = row != construct || versions_op(k, construct) == VYRE_OP_if;
  uint32_t before[SOURCES], next[SOURCES] = {0}, count = 0;
  memcpy(before, made.value, sizeof before);
  for (uint32_t i = 0; i < k->sources; i++)
    if ((made.value[i] & VYRE_JOIN) != 0 && merge_of(k, made.value[i])->row == row) {
      before[i] = merge_of(k, made.value[i])->before;
      next[i] = merge_of(k, made.value[i])->first;
    }
  for (uint32_t e = each ? k->edge_first[row] : next_edge(k, next); e && count < k->edge_count[row] && !k->out_of_memory;
       e = each ? edges[e].next : next_edge(k, next)) {
    uint32_t value[SOURCES];
    for (uint32_t i = 0; i < k->sources; i++) {
      const bool brings = next[i] && brought[next[i]].edge == e;
      value[i] = brings ? brought[next[i]].value : before[i];
      next[i] = brings ? brought[next[i]].next : next[i];
    }
    add_part(k, join, value, edges[e].from);
    count++;
  }
  if (!each && count < k->edge_count[row])
    add_part(k, join, before, construct);
  new_join *at = (new_join *)k->joins.data + join;
  at->first = first_part;
  at->count = k->parts.count - first_part;
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* Numbers the joins by location: the joins of a head before the rows of its region, others after the rows of their construct, inner
 * ones before outer ones. Joins of one row are in order of their first use. */
static void
number_joins(versions *k)
{
  new_join *joins = k->joins.data;
  vyre_state_graph *out = k->out;
  for (uint32_t i = k->joins.count; i-- > 1;) {
    joins[i].next = k->joins_at[joins[i].row];
    k->joins_at[joins[i].row] = i;
  }
  for (uint32_t i = 1; i < k->merges.count; i++) {
    const uint32_t row = merge_of(k, i)->row;
    for (uint32_t join = k->joins_at[row]; join; join = joins[join].next) {
      joins[join].to = out->join_count;
      out->joins[out->join_count++] = (vyre_join){row, joins[join].first, joins[join].count};
    }
    k->joins_at[row] = 0;
  }
}

static uint32_t
numbered_version(const versions *k, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? VYRE_JOIN | ((const new_join *)k->joins.data)[version & ~VYRE_JOIN].to : version;
}

void
versions_add_joins(versions *k)
{
  vyre_state_graph *out = k->out;
  const uint32_t first = out->join_count, *users = k->users.data;
  for (uint32_t i = 1; i < k->joins.count && !k->out_of_memory; i++)
    find_parts(k, i);
  if (k->out_of_memory || !vyre_state_graph_reserve(out, k->allocator, k->joins.count, k->parts.count)) {
    k->out_of_memory = true;
    return;
  }
  number_joins(k);
  const vyre_part *parts = k->parts.data;
  for (uint32_t i = first; i < out->join_count; i++) {
    vyre_join *join = &out->joins[i];
    const vyre_part *part = parts + join->first;
    join->first = out->part_count;
    for (uint32_t p = 0; p < join->count; p++)
      out->parts[out->part_count++] = (vyre_part){numbered_version(k, part[p].version), part[p].edge};
  }
  for (uint32_t i = 0; i < k->users.count; i++)
    out->version[users[i]] = numbered_version(k, out->version[users[i]]);
}
