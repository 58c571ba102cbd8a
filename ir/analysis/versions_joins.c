/* The state graph: the versions of reads, and the joins that they need.
 *
 * A class has several states at a position: by its own writes, by those of its group, of opaque rows and of async waits. The last
 * one of these holds. If that is a merge, the version is a join. The first read that needs a join makes it, so unused joins do not
 * exist. Its parts follow from the states that the edges bring, and may need more joins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include <string.h>

static merge *
merge_of(const versions *k, uint32_t value)
{
  return (merge *)k->merges.data + (value & ~VYRE_JOIN);
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
last_state(const versions *k, const uint32_t *values)
{
  uint32_t last = values[0], row = row_of(k, last);
  for (uint32_t i = 1; i < SOURCES; i++)
    if (row_of(k, values[i]) > row) {
      last = values[i];
      row = row_of(k, last);
    }
  return last;
}

/* Makes a join of a class at a merge, the last one of its states. Stores its number, its index in `joins`. */
static void
add_join(versions *k, uint32_t klass, uint32_t last, uint32_t values, uint32_t *out)
{
  new_join *made = versions_append(k, &k->joins);
  merge *m = merge_of(k, last);
  if (!made)
    return;
  *made = (new_join){.klass = klass, .merge = last & ~VYRE_JOIN, .values = values, .next = m->joins};
  m->joins = *out = k->joins.count - 1;
}

/* Returns the version of a class with one state. A join is VYRE_JOIN | its index in `joins` until joins are numbered. */
static inline uint32_t
version_of(versions *k, uint32_t klass, uint32_t value)
{
  if ((value & VYRE_JOIN) == 0)
    return value ? value : versions_state(k, klass)->row;
  uint32_t *join = &merge_of(k, value)->own;
  if (*join == 0)
    add_join(k, klass, value, 0, join);
  return VYRE_JOIN | *join;
}

/* Returns the version of a class with SOURCES states. */
static uint32_t
last_version_of(versions *k, uint32_t klass, const uint32_t *values)
{
  const uint32_t last = last_state(k, values);
  if ((last & VYRE_JOIN) == 0)
    return version_of(k, klass, last);
  merge *m = merge_of(k, last);
  uint32_t *join = m->klass == klass ? &m->own : slot_of(k, m->row, klass);
  if (join && *join)
    return VYRE_JOIN | *join;
  uint32_t *copy = join ? versions_append(k, &k->values) : NULL;
  if (!copy)
    return 0;
  memcpy(copy, values, SOURCES * sizeof *values);
  add_join(k, klass, last, k->values.count - 1, join);
  return VYRE_JOIN | *join;
}

static uint32_t
value_of(const versions *k, uint32_t klass)
{
  return versions_change(k, versions_state(k, klass)->change)->value;
}

uint32_t
versions_current_join(versions *k, uint32_t klass)
{
  const state *s = versions_state(k, klass);
  const uint32_t value = versions_change(k, s->change)->value;
  if (s->sources == 1 || !k->writes_groups)
    return version_of(k, klass, value);
  return last_version_of(k, klass,
                         (uint32_t[SOURCES]){value, value_of(k, s->group), s->memory ? value_of(k, GROUP_OPAQUE) : 0,
                                             s->async ? value_of(k, GROUP_ASYNC) : 0});
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

/* A class's state by one of its sources, at the edges to a row, in order. */
typedef struct cursor {
  uint32_t before; /* the state before the construct */
  uint32_t next;   /* the next run, or 0 */
  uint32_t open;   /* the run that the current edge is in, or 0 */
} cursor;

/* Returns the state at an edge. The edges before it are known. */
static inline uint32_t
state_at(const run *runs, cursor *c, uint32_t at)
{
  for (; runs[c->next].edge == at; c->next = runs[c->next].next)
    c->open = c->next;
  while (runs[c->open].end <= at)
    c->open = runs[c->open].outer;
  return c->open ? runs[c->open].value : c->before;
}

static void
add_part(versions *k, uint32_t version, uint32_t from)
{
  vyre_part *part = versions_append(k, &k->parts);
  if (part)
    *part = (vyre_part){version, from};
}

/* Returns the edge with which the next run begins, or 0. */
static inline uint32_t
next_run_edge(const run *runs, const cursor *cursors, uint32_t sources)
{
  uint32_t least = 0;
  for (uint32_t i = 0; i < sources; i++) {
    const uint32_t begin = runs[cursors[i].next].edge;
    least = least == 0 || (begin && begin < least) ? begin : least;
  }
  return least;
}

/* Finds the parts of a join whose class has this number of states. For an `if` and a head, each edge has a part. For others, each
 * edge in a run has a part, and one more part stands for the rest. */
static inline void
find_parts_of(versions *k, const merge *m, uint32_t klass, cursor *cursors, uint32_t sources)
{
  const edge *edges = k->edges.data;
  const run *runs = k->runs.data;
  const uint32_t row = m->row, first = k->parts.count;
  const place *p = (const place *)k->places.data + versions_class(k, row);
  const bool is_head = versions_is_region(k, row), each = is_head || versions_op(k, row) == VYRE_OP_if;
  uint32_t values[SOURCES];
  for (uint32_t e = each ? p->first_edge : next_run_edge(runs, cursors, sources); e && !k->out_of_memory;) {
    bool brings = each;
    for (uint32_t i = 0; i < sources; i++) {
      values[i] = state_at(runs, &cursors[i], e);
      brings |= cursors[i].open != 0;
    }
    if (brings)
      add_part(k, sources == 1 ? version_of(k, klass, values[0]) : last_version_of(k, klass, values), edges[e].from);
    e = brings ? edges[e].next : next_run_edge(runs, cursors, sources);
  }
  if (each || k->parts.count - first == p->edge_count)
    return;
  for (uint32_t i = 0; i < sources; i++)
    values[i] = cursors[i].before;
  add_part(k, sources == 1 ? version_of(k, klass, values[0]) : last_version_of(k, klass, values), row);
}

/* Finds the parts of a join with several states. A state without a merge at the row holds at all edges to it. */
static void
find_parts_of_all(versions *k, const merge *m, uint32_t klass, const uint32_t *values)
{
  cursor cursors[SOURCES];
  for (uint32_t i = 0; i < SOURCES; i++) {
    const merge *here = (values[i] & VYRE_JOIN) != 0 && row_of(k, values[i]) == m->row ? merge_of(k, values[i]) : NULL;
    cursors[i] = here ? (cursor){here->before, here->first_run, 0} : (cursor){values[i], 0, 0};
  }
  find_parts_of(k, m, klass, cursors, SOURCES);
}

static void
find_parts(versions *k, uint32_t join)
{
  const new_join *made = (const new_join *)k->joins.data + join;
  const merge *m = merge_of(k, made->merge);
  const uint32_t first = k->parts.count;
  if (made->values == 0)
    find_parts_of(k, m, made->klass, &(cursor){m->before, m->first_run, 0}, 1);
  else
    find_parts_of_all(k, m, made->klass, (const uint32_t *)k->values.data + made->values * SOURCES);
  new_join *at = (new_join *)k->joins.data + join;
  at->first = first;
  at->count = k->parts.count - first;
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* Appends joins to the graph by location: the joins of a head before the rows of its region, others after the rows of their
 * construct, inner ones before outer ones. Their parts are not numbered yet. */
static void
number_joins(versions *k)
{
  new_join *joins = k->joins.data;
  vyre_state_graph *out = k->out;
  const merge *merges = k->merges.data;
  for (uint32_t i = 1; i < k->merges.count; i++)
    for (uint32_t join = merges[i].joins; join; join = joins[join].next) {
      joins[join].to = out->join_count;
      out->joins[out->join_count++] = (vyre_join){merges[i].row, joins[join].first, joins[join].count};
    }
}

static uint32_t
numbered_version(const new_join *joins, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? VYRE_JOIN | joins[version & ~VYRE_JOIN].to : version;
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
  const new_join *joins = k->joins.data;
  const vyre_part *parts = k->parts.data;
  uint32_t to = out->part_count;
  for (uint32_t i = first; i < out->join_count; i++) {
    vyre_join *join = &out->joins[i];
    const uint32_t from = join->first;
    join->first = to;
    for (uint32_t p = from; p < from + join->count; p++)
      out->parts[to++] = (vyre_part){numbered_version(joins, parts[p].version), parts[p].edge};
  }
  out->part_count = to;
  for (uint32_t i = 0; i < k->users.count; i++)
    out->version[users[i]] = numbered_version(joins, out->version[users[i]]);
}
