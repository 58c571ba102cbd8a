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

/* Returns the state that began last. */
static uint32_t
last_state(const versions *k, const uint32_t *value, uint32_t sources)
{
  uint32_t last = value[0], row = row_of(k, last);
  for (uint32_t i = 1; i < sources; i++)
    if (row_of(k, value[i]) > row) {
      last = value[i];
      row = row_of(k, last);
    }
  return last;
}

/* Returns the join of a class at the merge `last`, which is the last one of its states. Makes the join at its first use. A join is
 * VYRE_JOIN | its index in `joins` until joins are ordered. */
static uint32_t
join_of(versions *k, uint32_t klass, uint32_t last, const uint32_t *value, uint32_t sources)
{
  merge *m = (merge *)k->merges.data + (last & ~VYRE_JOIN);
  uint32_t *join = m->klass == klass ? &m->join : slot_of(k, m->row, klass);
  if (join && *join)
    return VYRE_JOIN | *join;
  new_join *made = join ? versions_append(k, &k->joins) : NULL;
  if (!made)
    return 0;
  *join = k->joins.count - 1;
  made->klass = klass;
  made->row = m->row;
  made->sources = sources;
  memcpy(made->value, value, sources * sizeof *value);
  return VYRE_JOIN | *join;
}

/* Returns the version of a class with these states. */
static inline uint32_t
version_of(versions *k, uint32_t klass, const uint32_t *value, uint32_t sources)
{
  const uint32_t last = sources == 1 ? value[0] : last_state(k, value, sources);
  if ((last & VYRE_JOIN) != 0)
    return join_of(k, klass, last, value, sources);
  return last ? last : versions_state(k, klass)->row;
}

uint32_t
versions_current(versions *k, uint32_t klass)
{
  const state *s = versions_state(k, klass);
  if (s->sources == 1 || !k->writes_groups)
    return version_of(k, klass, &s->value, 1);
  const uint32_t group = versions_state(k, s->group)->value, opaque = versions_state(k, GROUP_OPAQUE)->value,
                 async = versions_state(k, GROUP_ASYNC)->value;
  return version_of(k, klass, (uint32_t[SOURCES]){s->value, group, s->memory ? opaque : 0, s->async ? async : 0}, SOURCES);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

static void
add_part(versions *k, const new_join *join, const uint32_t *value, uint32_t from)
{
  const uint32_t version = version_of(k, join->klass, value, join->sources);
  vyre_part *part = versions_append(k, &k->parts);
  if (part)
    *part = (vyre_part){version, from};
}

/* Returns the next edge that brings one of the states, or 0. */
static uint32_t
next_edge(const versions *k, const uint32_t *next, uint32_t sources)
{
  uint32_t least = 0;
  for (uint32_t i = 0; i < sources; i++) {
    const uint32_t number = next[i] ? ((const brought_state *)k->brought.data)[next[i]].edge : 0;
    least = least == 0 || (number && number < least) ? number : least;
  }
  return least;
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
  uint32_t before[SOURCES], next[SOURCES], count = 0;
  for (uint32_t i = 0; i < made.sources; i++) {
    const bool is_here = (made.value[i] & VYRE_JOIN) != 0 && merge_of(k, made.value[i])->row == row;
    before[i] = is_here ? merge_of(k, made.value[i])->before : made.value[i];
    next[i] = is_here ? merge_of(k, made.value[i])->first : 0;
  }
  for (uint32_t e = each ? k->edge_first[row] : next_edge(k, next, made.sources); e && !k->out_of_memory;
       e = each ? edges[e].next : next_edge(k, next, made.sources)) {
    uint32_t value[SOURCES];
    for (uint32_t i = 0; i < made.sources; i++) {
      const bool brings = next[i] && brought[next[i]].edge == e;
      value[i] = brings ? brought[next[i]].value : before[i];
      next[i] = brings ? brought[next[i]].next : next[i];
    }
    add_part(k, &made, value, edges[e].from);
    count++;
  }
  if (!each && count < k->edge_count[row])
    add_part(k, &made, before, construct);
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
  vyre_part *to = out->parts + out->part_count;
  for (uint32_t i = first; i < out->join_count; i++) {
    vyre_join *join = &out->joins[i];
    const vyre_part *from = parts + join->first, *end = from + join->count;
    join->first = (uint32_t)(to - out->parts);
    for (; from < end; from++)
      *to++ = (vyre_part){numbered_version(k, from->version), from->edge};
  }
  out->part_count = (uint32_t)(to - out->parts);
  for (uint32_t i = 0; i < k->users.count; i++)
    out->version[users[i]] = numbered_version(k, out->version[users[i]]);
}
