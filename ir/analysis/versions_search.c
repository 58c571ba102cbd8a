/* The state graph: searches for the version of a class at a position, and for the edges of a construct that bring a write.
 *
 * Going back from the position, the version is the first of these three. The last write before the position in program order, if
 * that is directly in a region around it. The join after the construct that holds that write. The join at a head around the
 * position, if the head's construct writes the class.
 *
 * A join is created at its first use, so unused joins do not exist.
 *
 * A construct has a join if one of its edges brings a write, which is a search in the construct. Searches that wait for others are
 * on an explicit stack, because constructs may nest deeper than a thread's stack allows. A search that passes many constructs
 * caches its result for each of them, so that the next search ends there. All searches together pass each construct about once for
 * each class that is accessed in the construct or after it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include <string.h>

/* ---- writes of a class --------------------------------------------------------------------------------------------------- */

/* Returns the index in `written` after the class's last own write at or before the row. */
static inline uint32_t
writes_up_to(const versions *k, state *s, uint32_t at)
{
  const uint32_t *written = k->written.data;
  uint32_t low = s->first, high = s->end;
  if (low == high || written[low] > at)
    return low;
  if (written[s->near] <= at) { /* most queries are in program order */
    low = s->near + 1;
    for (uint32_t i = 0; i < 4 && low < high && written[low] <= at; i++)
      low++;
    if (low == high || written[low] > at) {
      s->near = low - 1;
      return low;
    }
  }
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (written[middle] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  s->near = low - 1;
  return low;
}

static inline uint32_t
last_own_write(const versions *k, uint32_t klass, uint32_t at)
{
  state *s = versions_state(k, klass);
  const uint32_t count = writes_up_to(k, s, at);
  return count > s->first ? ((const uint32_t *)k->written.data)[count - 1] : 0;
}

static inline uint32_t
next_own_write(const versions *k, uint32_t klass, uint32_t row)
{
  state *s = versions_state(k, klass);
  const uint32_t count = writes_up_to(k, s, row);
  return count < s->end ? ((const uint32_t *)k->written.data)[count] : UINT32_MAX;
}

static inline uint32_t
greater(uint32_t x, uint32_t y)
{
  return x > y ? x : y;
}

uint32_t
versions_last_write(const versions *k, uint32_t klass, uint32_t at)
{
  const state *s = versions_state(k, klass);
  uint32_t last = last_own_write(k, klass, at);
  if (s->group != GROUP_NONE)
    last = greater(last, last_own_write(k, s->group, at));
  if (s->memory)
    last = greater(last, last_own_write(k, GROUP_OPAQUE, at));
  return s->async ? greater(last, last_own_write(k, GROUP_ASYNC, at)) : last;
}

/* Returns the first row after `row` that writes the alias class, or UINT32_MAX if there is none. */
static uint32_t
next_write(const versions *k, uint32_t klass, uint32_t row)
{
  const state *s = versions_state(k, klass);
  const uint32_t own = next_own_write(k, klass, row),
                 group = s->group != GROUP_NONE ? next_own_write(k, s->group, row) : UINT32_MAX;
  const uint32_t opaque = s->memory ? next_own_write(k, GROUP_OPAQUE, row) : UINT32_MAX;
  const uint32_t async = s->async ? next_own_write(k, GROUP_ASYNC, row) : UINT32_MAX;
  const uint32_t less = own < group ? own : group, other = opaque < async ? opaque : async;
  return less < other ? less : other;
}

/* ---- joins --------------------------------------------------------------------------------------------------------------- */

/* Makes a join. Until it has its parts, `first` is the first edge that is known to bring a write, and `count` the version that it
 * brings. */
static uint32_t
add_join(versions *k, uint32_t klass, uint32_t row, uint32_t first, uint32_t version)
{
  vyre_state_graph *out = k->out;
  uint32_t *asked = versions_append(k, &k->asked);
  if (!asked || (out->join_count == out->join_capacity && !vyre_state_graph_reserve(out, k->allocator, 1, 0))) {
    k->out_of_memory = true;
    return 0;
  }
  *asked = klass;
  out->joins[out->join_count] = (vyre_join){row, first, version};
  return out->join_count++;
}

static slot *
probe(const vector *slots, uint32_t row, uint32_t klass)
{
  const uint32_t mask = slots->capacity - 1;
  slot *at = slots->data;
  for (uint32_t i = (row * 0x9e3779b1u ^ klass * 0x85ebca6bu) & mask;; i = (i + 1) & mask)
    if (at[i].row == 0 || (at[i].row == row && at[i].klass == klass))
      return &at[i];
}

/* Returns the slot of the class at the row, or NULL if there is none. */
static const slot *
find_slot(const versions *k, uint32_t row, uint32_t klass)
{
  const slot *at = k->slots.capacity ? probe(&k->slots, row, klass) : NULL;
  return at && at->row ? at : NULL;
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

/* Returns the slot of the class at the row, a new one if there is none, or NULL if memory runs out. */
static slot *
get_slot(versions *k, uint32_t row, uint32_t klass)
{
  if (k->slots_used * 2 >= k->slots.capacity && !grow_slots(k))
    return NULL;
  slot *at = probe(&k->slots, row, klass);
  if (at->row == 0) {
    *at = (slot){row, klass, JOIN_UNKNOWN, 0};
    k->slots_used++;
  }
  return at;
}

static void
note_join(versions *k, uint32_t klass, uint32_t row, uint32_t join)
{
  slot *at = get_slot(k, row, klass);
  if (at)
    at->join = join;
}

/* ---- searches ------------------------------------------------------------------------------------------------------------ */

/* A search for the class's version at one position, or for the first edge of a construct that brings a write of the construct. A
 * search that needs the join of an inner construct waits for the search above it in `searches`. */
typedef struct search {
  uint32_t row;           /* the row of the join to make from the edge that is found, or 0 */
  uint32_t construct;     /* the construct whose edges are searched, or 0 for the version at one position */
  uint32_t edge, end;     /* the current edge, and the one after the last */
  uint32_t region, write; /* the current region, and the last write before the current position */
  uint32_t passed;        /* index in `passed` of the first construct that the search passed */
} search;

/* Number of outward steps before a search uses the cache. Most searches are shorter. */
enum { SHORT_SEARCH = 8 };

/* Continues a search before the construct. */
static void
pass_construct(versions *k, uint32_t klass, search *s, uint32_t construct)
{
  uint32_t *passed = versions_append(k, &k->passed);
  if (passed)
    *passed = construct;
  s->region = k->view->parent[construct];
  s->write = versions_last_write(k, klass, construct);
}

/* Ends a search with a version, or with 0 before its construct. After a long search, caches the result for each construct that it
 * passed. */
static bool
end_search(versions *k, uint32_t klass, const search *s, uint32_t front, uint32_t version, uint32_t *out)
{
  const uint32_t count = k->passed.count;
  for (uint32_t i = s->passed; count - s->passed >= SHORT_SEARCH && i < count; i++) {
    slot *at = get_slot(k, ((const uint32_t *)k->passed.data)[i], klass);
    if (at)
      at->front = front;
  }
  k->passed.count = s->passed;
  *out = version;
  return true;
}

/* Looks up cached results for the positions of a long search. Returns whether they end the search. */
static bool
follow_known(versions *k, uint32_t klass, search *s, uint32_t *out)
{
  const slot *at;
  while (k->passed.count - s->passed >= SHORT_SEARCH &&
         (at = find_slot(k, ((const uint32_t *)k->passed.data)[k->passed.count - 1], klass)) && at->front) {
    const uint32_t front = at->front, row = versions_row_of(k, front);
    if (front != row || (vyre_op_infos[versions_op(k, row)].flags & VYRE_OP_REGIONS) == 0)
      return end_search(k, klass, s, front, row > s->construct ? front : 0, out);
    if (front <= s->construct)
      return end_search(k, klass, s, front, 0, out);
    pass_construct(k, klass, s, front);
  }
  return false;
}

/* Continues a search outward. Returns true with the version, or with 0 if that is the one before its construct. Returns false with
 * the row of a join that must be known first. */
static bool
continue_search(versions *k, uint32_t klass, search *s, uint32_t *out)
{
  const vyre_view *v = k->view;
  while (!k->out_of_memory) {
    const uint32_t construct = v->parent[s->region];
    const bool is_inside = s->write > s->region;
    uint32_t row = s->region;
    if (is_inside)
      row = versions_child_of(k, s->region, s->write);
    if (is_inside && row == s->write)
      return end_search(k, klass, s, row, row, out);
    if (!is_inside && construct == 0)
      return end_search(k, klass, s, versions_state(k, klass)->row, versions_state(k, klass)->row, out);
    if (is_inside || (versions_is_head(v, row) && next_write(k, klass, construct) <= k->ends[construct])) {
      const slot *at = find_slot(k, row, klass);
      *out = row;
      if (!at || at->join == JOIN_UNKNOWN)
        return false;
      if (at->join)
        return end_search(k, klass, s, VYRE_JOIN | at->join, VYRE_JOIN | at->join, out);
    }
    if (!is_inside && construct == s->construct)
      return end_search(k, klass, s, construct, 0, out);
    pass_construct(k, klass, s, is_inside ? row : construct);
    if (follow_known(k, klass, s, out))
      return true;
  }
  *out = 0;
  return true;
}

/* Returns the next edge that may bring a write, after edge `from`, which brings none. If its arm writes the class, that is the next
 * edge at or after the arm's first row that writes it. Otherwise it is the first edge of the next arm that writes it. (An arm
 * without writes that is entered by fallthrough from an arm without writes brings none.) */
static uint32_t
skip_edges(const versions *k, uint32_t klass, uint32_t construct, uint32_t from, uint32_t end)
{
  const edge *edges = k->edges.data;
  const uint32_t arm = versions_child_of(k, construct, edges[from].from), next = next_write(k, klass, arm);
  uint32_t target = UINT32_MAX, low = from + 1, high = end;
  if (next <= k->ends[construct])
    target = versions_child_of(k, next <= k->ends[arm] ? arm : construct, next);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (edges[middle].at < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Begins with the current edge, or with the next one that does not come from before the construct. Returns false if there is
 * none. */
static bool
begin_edge(versions *k, uint32_t klass, search *s)
{
  const edge *edges = k->edges.data;
  while (s->edge < s->end && edges[s->edge].from == s->construct)
    s->edge++;
  if (s->edge == s->end)
    return false;
  const edge *e = &edges[s->edge];
  s->region = versions_is_region(k, e->from) ? e->from : k->view->parent[e->from];
  s->write = versions_last_write(k, klass, e->at);
  return true;
}

static void
push_search(versions *k, uint32_t klass, search begun)
{
  search *s = versions_append(k, &k->searches);
  begun.passed = k->passed.count;
  if (!s)
    return;
  *s = begun;
  if (begun.construct)
    begin_edge(k, klass, s);
}

/* Makes the join at the row, a construct or its head, or begins the search for an edge that brings a write; without such an edge it
 * makes none. In a loop that writes the class each head has a join, and so has its exit if an edge leads there. A head has one even
 * if no edge brings a write, because each iteration may end by a jump out of the loop. So rows in the loop never have the version
 * before it. */
static void
begin_join(versions *k, uint32_t klass, uint32_t row)
{
  const uint32_t construct = versions_is_region(k, row) ? k->view->parent[row] : row;
  const uint32_t first = k->edge_first[row], end = first + k->edge_count[row];
  if (!vyre_row_is_loop(k->view, construct))
    push_search(k, klass, (search){.row = row, .construct = construct, .edge = first, .end = end});
  else
    note_join(k, klass, row, row != construct || first < end ? add_join(k, klass, row, UINT32_MAX, 0) : 0);
}

/* Runs the search on top of the stack, and the searches that it needs. Returns the version, and stores the edge that brings it. */
static uint32_t
run_search(versions *k, uint32_t klass, uint32_t *out_edge)
{
  const uint32_t base = k->searches.count - 1;
  while (!k->out_of_memory) {
    search *s = (search *)k->searches.data + (k->searches.count - 1);
    const bool has_edges = s->construct != 0;
    uint32_t found = 0;
    if ((!has_edges || s->edge < s->end) && !continue_search(k, klass, s, &found)) {
      begin_join(k, klass, found);
      continue;
    }
    if (has_edges && found == 0 && s->edge < s->end) {
      s->edge = skip_edges(k, klass, s->construct, s->edge, s->end);
      if (begin_edge(k, klass, s))
        continue;
    }
    const search done = *s;
    k->searches.count--;
    *out_edge = done.edge;
    if (k->searches.count == base)
      return found;
    note_join(k, klass, done.row, found ? add_join(k, klass, done.row, done.edge, found) : 0);
  }
  return 0;
}

uint32_t
versions_next_edge(versions *k, uint32_t klass, uint32_t construct, uint32_t from, uint32_t end, uint32_t *out_version)
{
  uint32_t found = end;
  push_search(k, klass, (search){.construct = construct, .edge = from, .end = end});
  *out_version = k->out_of_memory ? 0 : run_search(k, klass, &found);
  return found;
}

uint32_t
versions_version_at(versions *k, uint32_t klass, uint32_t at, uint32_t region)
{
  uint32_t found;
  push_search(k, klass, (search){.region = region, .write = versions_last_write(k, klass, at)});
  return k->out_of_memory ? 0 : run_search(k, klass, &found);
}

uint32_t
versions_head_join(versions *k, uint32_t klass, uint32_t region)
{
  const slot *at = find_slot(k, region, klass);
  if (!at || at->join == JOIN_UNKNOWN)
    begin_join(k, klass, region);
  at = find_slot(k, region, klass);
  return at && !k->out_of_memory ? at->join : 0;
}
