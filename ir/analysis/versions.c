/* The state graph: which reads see the same state, and what a state is made of.  docs/ir.md, "Versions", says
 * what a version is.
 *
 * Each program's rows are gone through twice, stopping only at those that read, write, hold rows or jump: for classes and writes
 * (versions_classes.c), and for edges and active lanes (versions_control.c).  Then the state is looked for that each read sees of
 * its class.  Going back from the read, it is the first of these: the last write before it in program order, if that is directly in
 * a region around the read; the join after the construct that holds that write; the join at a head around the read, if the head's
 * construct writes the class.  A join is made when it is first met, so that a program has only those that are used; its parts are
 * looked for in the same way.
 *
 * This is the construction of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013), on
 * structured control.  All edges are known beforehand, so that no block is left open as there, and no join is made that is removed
 * later: after a construct there is none if no edge brings a write.
 *
 * O(rows + (reads + parts) * (nesting + log writes)).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include <string.h>

static uint32_t version_at(versions *k, uint32_t klass, uint32_t at, uint32_t region, uint32_t within);

bool
versions_grow(versions *k, vector *list)
{
  const uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
  void *data = k->allocator->resize(k->allocator->user, list->data, list->capacity * list->size, capacity * list->size);
  if (!data || capacity < list->capacity) {
    k->out_of_memory = true;
    return false;
  }
  list->data = data;
  list->capacity = capacity;
  return true;
}

static void
free_vector(const versions *k, const vector *list)
{
  if (list->data)
    k->allocator->resize(k->allocator->user, list->data, list->capacity * list->size, 0);
}

/* ---- writes of a class --------------------------------------------------------------------------------------------------- */

/* The index in `written` after the last of the class's own writes that are at that row or before it. */
static inline uint32_t
writes_up_to(const versions *k, state *s, uint32_t at)
{
  const uint32_t *written = k->written.data;
  uint32_t low = s->first, high = s->end;
  if (low == high || written[low] > at)
    return low;
  if (written[s->near] <= at) { /* most questions come in program order */
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
last_of(const versions *k, uint32_t klass, uint32_t at)
{
  state *s = versions_state(k, klass);
  const uint32_t count = writes_up_to(k, s, at);
  return count > s->first ? ((const uint32_t *)k->written.data)[count - 1] : 0;
}

static inline uint32_t
next_of(const versions *k, uint32_t klass, uint32_t row)
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

/* The last write of the class up to that row, its own or one that names many classes; 0: there is none. */
static uint32_t
last_write(const versions *k, uint32_t klass, uint32_t at)
{
  const state *s = versions_state(k, klass);
  uint32_t last = last_of(k, klass, at);
  if (s->group != GROUP_NONE)
    last = greater(last, last_of(k, s->group, at));
  if (s->memory)
    last = greater(last, last_of(k, GROUP_OPAQUE, at));
  return s->async ? greater(last, last_of(k, GROUP_ASYNC, at)) : last;
}

/* The first write of the class after that row; UINT32_MAX: there is none. */
static uint32_t
next_write(const versions *k, uint32_t klass, uint32_t row)
{
  const state *s = versions_state(k, klass);
  const uint32_t own = next_of(k, klass, row), group = s->group != GROUP_NONE ? next_of(k, s->group, row) : UINT32_MAX;
  const uint32_t opaque = s->memory ? next_of(k, GROUP_OPAQUE, row) : UINT32_MAX;
  const uint32_t async = s->async ? next_of(k, GROUP_ASYNC, row) : UINT32_MAX;
  const uint32_t less = own < group ? own : group, other = opaque < async ? opaque : async;
  return less < other ? less : other;
}

/* ---- joins --------------------------------------------------------------------------------------------------------------- */

/* Until it has its parts, `first` is the first edge that is known to bring a write, and `count` the version that it brings. */
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

/* What the edge brings, as the version of one of the construct's rows; 0: the version before the construct. */
static uint32_t
brought_by(versions *k, uint32_t klass, const edge *e, uint32_t construct)
{
  if (e->from == construct)
    return 0;
  const uint32_t region = versions_is_region(k, e->from) ? e->from : k->view->parent[e->from];
  return version_at(k, klass, e->at, region, construct);
}

/* The region of the construct that holds the row. */
static uint32_t
arm_of(const vyre_view *v, uint32_t construct, uint32_t row)
{
  while (v->parent[row] != construct)
    row = v->parent[row];
  return row;
}

/* The edge `from` is of an arm that brings no write.  The next edge that may bring one: if that arm writes the class, the next
 * edge, else the first edge of the next arm that writes it.  (An arm without writes that is fallen into from one without brings
 * nothing.) */
static uint32_t
skip_arms(const versions *k, uint32_t klass, uint32_t construct, uint32_t from, uint32_t end)
{
  const vyre_view *v = k->view;
  const edge *edges = k->edges.data;
  const uint32_t arm = arm_of(v, construct, edges[from].from), last = versions_end_of(v, arm), next = next_write(k, klass, arm);
  if (next <= last)
    return from + 1;
  const uint32_t target = next <= versions_end_of(v, construct) ? arm_of(v, construct, next) : UINT32_MAX;
  uint32_t low = from + 1, high = end;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (edges[middle].at < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The first edge from that index on that brings a write of the construct; `end`: none does. */
static uint32_t
next_edge(versions *k, uint32_t klass, uint32_t construct, uint32_t from, uint32_t end, uint32_t *out_version)
{
  const edge *edges = k->edges.data;
  while (from < end && !k->out_of_memory) {
    *out_version = brought_by(k, klass, &edges[from], construct);
    if (*out_version)
      return from;
    from = edges[from].from == construct ? from + 1 : skip_arms(k, klass, construct, from, end);
  }
  return end;
}

/* The join at that row, the construct or a head of it; 0: there is none, as no edge there brings a write of the construct.  In a
 * loop that writes the class each head has one, and its end if control comes there.  A head has one even if no edge brings a write
 * (each iteration may end by a jump out of the loop): rows in the loop never have the version before it. */
static uint32_t
make_join(versions *k, uint32_t klass, uint32_t row)
{
  const uint32_t construct = versions_is_region(k, row) ? k->view->parent[row] : row;
  const uint32_t first = k->edge_first[row], end = first + k->edge_count[row];
  if (vyre_row_is_loop(k->view, construct))
    return row != construct || first < end ? add_join(k, klass, row, UINT32_MAX, 0) : 0;
  uint32_t version;
  const uint32_t found = next_edge(k, klass, construct, first, end, &version);
  return found < end ? add_join(k, klass, row, found, version) : 0;
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

/* Its slot, or a free one for it; NULL: out of memory. */
static slot *
find_slot(versions *k, uint32_t row, uint32_t klass)
{
  if (k->slots_used * 2 < k->slots.capacity)
    return probe(&k->slots, row, klass);
  const vector old = k->slots;
  const uint32_t capacity = old.capacity ? old.capacity * 2 : 128;
  void *data = k->allocator->resize(k->allocator->user, NULL, 0, capacity * sizeof(slot));
  if (!data) {
    k->out_of_memory = true;
    return NULL;
  }
  memset(data, 0, capacity * sizeof(slot));
  k->slots.data = data;
  k->slots.capacity = capacity;
  for (const slot *s = old.data; s && s < (const slot *)old.data + old.capacity; s++)
    if (s->row)
      *probe(&k->slots, s->row, s->klass) = *s;
  free_vector(k, &old);
  return probe(&k->slots, row, klass);
}

/* The class's join after the construct, or at the head; 0: there is none, and the version before the construct holds there too. */
static uint32_t
join_at(versions *k, uint32_t klass, uint32_t row)
{
  slot *at = find_slot(k, row, klass);
  if (at && at->row)
    return at->join;
  const uint32_t used = k->slots_used, join = make_join(k, klass, row);
  if (k->slots_used != used) /* others were noted meanwhile */
    at = find_slot(k, row, klass);
  if (!at)
    return 0;
  *at = (slot){row, klass, join};
  k->slots_used++;
  return join;
}

/* The class's version after the row `at`, which is in the region at any depth, or is the region row.  `within`: a construct around
 * the region; if the version is from before that, 0 is returned.  `within` 0: there is no such bound. */
static uint32_t
version_at(versions *k, uint32_t klass, uint32_t at, uint32_t region, uint32_t within)
{
  const vyre_view *v = k->view;
  uint32_t write = last_write(k, klass, at);
  while (!k->out_of_memory) {
    const uint32_t construct = v->parent[region];
    if (write > region) {
      uint32_t outer = write;
      while (v->parent[outer] != region)
        outer = v->parent[outer];
      const uint32_t join = outer == write ? 0 : join_at(k, klass, outer);
      if (outer == write || join)
        return outer == write ? write : VYRE_JOIN | join;
      write = last_write(k, klass, outer - 1);
      continue;
    }
    if (construct == 0)
      return versions_state(k, klass)->row;
    if (versions_is_head(v, region) && next_write(k, klass, construct) <= versions_end_of(v, construct)) {
      const uint32_t join = join_at(k, klass, region);
      if (join)
        return VYRE_JOIN | join;
    }
    if (construct == within)
      return 0;
    if (write > construct)
      write = last_write(k, klass, construct);
    region = v->parent[construct];
  }
  return 0;
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

static void
add_part(versions *k, uint32_t join, uint32_t version, uint32_t from)
{
  vyre_state_graph *out = k->out;
  if (k->out_of_memory || (out->part_count == out->part_capacity && !vyre_state_graph_reserve(out, k->allocator, 0, 1))) {
    k->out_of_memory = true;
    return;
  }
  out->parts[out->part_count++] = (vyre_part){version, from};
  out->joins[join].count++;
}

static uint32_t
before(versions *k, uint32_t klass, uint32_t construct)
{
  return version_at(k, klass, construct, k->view->parent[construct], 0);
}

/* Of an `if` and of a head each edge; of others those that bring another version than the one before the construct, and one
 * part for all the rest. */
static void
find_parts(versions *k, uint32_t join, uint32_t klass)
{
  const uint32_t row = k->out->joins[join].row, construct = versions_is_region(k, row) ? k->view->parent[row] : row;
  const uint32_t first = k->edge_first[row], end = first + k->edge_count[row];
  const bool each = row != construct || versions_op(k, construct) == VYRE_OP_if;
  const uint32_t known = k->out->joins[join].first, known_version = k->out->joins[join].count;
  uint32_t version = known_version, brought = 0;
  k->out->joins[join].first = k->out->part_count;
  k->out->joins[join].count = 0;
  if (versions_op(k, row) == VYRE_OP_for) { /* the edge of its test */
    add_part(k, join, VYRE_JOIN | join_at(k, klass, k->view->first[row]), row);
    brought++;
  }
  for (uint32_t i = first; i < end && !k->out_of_memory; i++) {
    const uint32_t next = i == first && known != UINT32_MAX ? known : next_edge(k, klass, construct, i, end, &version);
    for (; each && i < next; i++)
      add_part(k, join, before(k, klass, construct), ((const edge *)k->edges.data)[i].from);
    i = next;
    if (i == end)
      break;
    add_part(k, join, version, ((const edge *)k->edges.data)[i].from);
    brought++;
  }
  if (!each && brought < end - first)
    add_part(k, join, before(k, klass, construct), construct);
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* The version in the order of `to`, by join from `first` on. */
static uint32_t
in_order(const uint32_t *to, uint32_t first, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? VYRE_JOIN | to[(version & ~VYRE_JOIN) - first] : version;
}

static void
move_joins(versions *k, uint32_t first, const uint32_t *order, uint32_t *to, vyre_join *joins, vyre_part *parts)
{
  vyre_state_graph *out = k->out;
  const uint32_t count = out->join_count - first, base = out->joins[first].first;
  uint32_t next = base;
  memcpy(joins, out->joins + first, count * sizeof *joins);
  memcpy(parts, out->parts + base, (out->part_count - base) * sizeof *parts);
  for (uint32_t i = 0; i < count; i++)
    to[order[i]] = first + i;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_join *join = &joins[order[i]];
    out->joins[first + i] = (vyre_join){join->row, next, join->count};
    for (uint32_t p = 0; p < join->count; p++) {
      const vyre_part part = parts[join->first - base + p];
      out->parts[next++] = (vyre_part){in_order(to, first, part.version), part.edge};
    }
  }
  for (uint32_t i = 0; i < k->stop_count; i++)
    out->version[k->stops[i]] = in_order(to, first, out->version[k->stops[i]]);
}

/* Lists the joins from `first` on by their location: that of a head before the rows of its region, others after the rows of their
 * construct, inner ones before outer ones.  `link` has an element a join. */
static void
list_joins(versions *k, uint32_t first, uint32_t program, uint32_t end, uint32_t *link, uint32_t *out_order)
{
  const vyre_state_graph *out = k->out;
  uint32_t *head = k->edge_first, count = 0; /* by row: 1 + the first join there; edges are needed no more */
  for (uint32_t row = program; row < end; row++)
    head[row] = 0;
  for (uint32_t join = out->join_count - first; join-- > 0;) {
    const uint32_t row = out->joins[first + join].row;
    uint32_t *place = &head[versions_is_region(k, row) ? row : versions_end_of(k->view, row)];
    while (*place && out->joins[first + *place - 1].row > row)
      place = &link[*place - 1];
    link[join] = *place;
    *place = join + 1;
  }
  for (uint32_t row = program; row < end; row++)
    for (uint32_t join = head[row]; join; join = link[join - 1])
      out_order[count++] = join - 1;
}

/* Puts the joins from `first` on in an order in which parts come first, but for those of heads. */
static void
order_joins(versions *k, uint32_t first, uint32_t program, uint32_t end)
{
  vyre_state_graph *out = k->out;
  const uint32_t count = out->join_count - first;
  if (count == 0)
    return;
  const uint32_t parts = out->part_count - out->joins[first].first;
  const size_t bytes = count * (sizeof(vyre_join) + 3 * sizeof(uint32_t)) + parts * sizeof(vyre_part);
  vyre_join *joins = k->allocator->resize(k->allocator->user, NULL, 0, bytes);
  if (!joins) {
    k->out_of_memory = true;
    return;
  }
  vyre_part *moved = (vyre_part *)(joins + count);
  uint32_t *order = (uint32_t *)(moved + parts), *link = order + count, *to = link + count;
  list_joins(k, first, program, end, link, order);
  move_joins(k, first, order, to, joins, moved);
  k->allocator->resize(k->allocator->user, joins, bytes, 0);
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------ */

/* The version of a read, and of a write of memory, which is its class's before it. */
static uint32_t
version_of(versions *k, uint32_t row, uint32_t op)
{
  const vyre_view *v = k->view;
  const uint32_t path = vyre_buffer_of(v, v->a[row]), region = v->parent[row];
  if (op == VYRE_OP_load && versions_is_handle(k, path)) /* nothing writes to a handle; what it leads to is another matter */
    return path;
  const uint32_t klass = op == VYRE_OP_opaque_read ? k->class_of[row] : k->class_of[path];
  state *s = versions_state(k, klass);
  const uint32_t write = last_write(k, klass, row - 1);
  if (s->version == 0 || s->write != write || s->region != region) {
    const uint32_t version = version_at(k, klass, row - 1, region, 0);
    s = versions_state(k, klass);
    s->version = version;
    s->write = write;
    s->region = region;
  }
  return s->version;
}

static bool
has_version(const vyre_view *v, uint32_t row, uint32_t op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  if ((info->flags & VYRE_OP_CONVERGENT) != 0)
    return false;
  return vyre_op_has_version(info) || op == VYRE_OP_store || op == VYRE_OP_copy || (vyre_op_is_atomic(op) && v->a[row] != 0);
}

/* `filter`: of joins whose parts are asked for; NULL: of all. */
static void
find_states(versions *k, uint32_t program, uint32_t end, vyre_join_filter filter, void *user)
{
  if (!k->out_of_memory)
    versions_follow_control(k);
  const uint32_t first = k->out->join_count;
  k->asked.count = 0;
  for (uint32_t i = 0; i < k->stop_count && !k->out_of_memory; i++) {
    const uint32_t row = k->stops[i], op = versions_op(k, row);
    if (has_version(k->view, row, op))
      k->out->version[row] = version_of(k, row, op);
  }
  for (uint32_t i = 0; i < k->asked.count && !k->out_of_memory; i++) {
    const uint32_t klass = ((const uint32_t *)k->asked.data)[i], row = k->out->joins[first + i].row;
    if (!filter || filter(user, versions_state(k, klass)->row, row, k->edge_count[row]))
      find_parts(k, first + i, klass);
    else
      k->out->joins[first + i] = (vyre_join){row, k->out->part_count, 0};
  }
  if (!k->out_of_memory)
    order_joins(k, first, program, end);
}

enum { ARRAYS = 5, VECTORS = 8 };

static void
list_vectors(versions *k, vector *out[VECTORS])
{
  vector *const lists[VECTORS] = {&k->states, &k->events, &k->written, &k->edges, &k->slots, &k->asked, &k->frames, &k->found};
  memcpy(out, lists, sizeof lists);
}

/* The memory that a computation needs, and a graph without joins. */
static void
begin(versions *k)
{
  static const size_t sizes[VECTORS] = {sizeof(state), sizeof(write_event), sizeof(uint32_t),     sizeof(edge),
                                        sizeof(slot),  sizeof(uint32_t),    5 * sizeof(uint32_t), sizeof(edge)};
  vector *lists[VECTORS];
  const uint32_t rows = k->view->rows;
  uint32_t **const arrays[ARRAYS] = {&k->class_of, &k->aliases, &k->stops, &k->edge_first, &k->edge_count};
  uint32_t *memory = k->allocator->resize(k->allocator->user, NULL, 0, ARRAYS * rows * sizeof(uint32_t));
  list_vectors(k, lists);
  for (size_t i = 0; i < VECTORS; i++)
    lists[i]->size = sizes[i];
  for (size_t i = 0; i < ARRAYS && memory; i++)
    *arrays[i] = memory + i * rows;
  k->out->join_count = k->out->part_count = 0;
  k->out_of_memory = !memory || !vyre_state_graph_reserve(k->out, k->allocator, 1, 0);
  if (!k->out_of_memory)
    k->out->joins[k->out->join_count++] = (vyre_join){0};
}

static vyre_status
finish(versions *k)
{
  vector *lists[VECTORS];
  list_vectors(k, lists);
  if (k->class_of)
    k->allocator->resize(k->allocator->user, k->class_of, ARRAYS * k->view->rows * sizeof(uint32_t), 0);
  for (size_t i = 0; i < VECTORS; i++)
    free_vector(k, lists[i]);
  return k->out_of_memory ? VYRE_OUT_OF_MEMORY("while making versions") : VYRE_OK;
}

vyre_status
vyre_versions_compute(const vyre_module *module, vyre_state_graph *out)
{
  versions k = {.module = module, .view = vyre_module_view(module), .allocator = vyre_module_allocator(module), .out = out};
  const vyre_view *v = k.view;
  begin(&k);
  memset(out->version, 0, v->rows * sizeof(uint32_t));
  k.out_of_memory = k.out_of_memory || !vyre_aliases_compute(module, k.aliases);
  if (!k.out_of_memory)
    memset(k.class_of, 0, v->rows * sizeof(uint32_t));
  for (uint32_t program = v->first[0]; program && !k.out_of_memory; program = v->next[program]) {
    const uint32_t end = v->next[program] ? v->next[program] : v->rows;
    versions_find_writes(&k, program, end);
    find_states(&k, program, end, NULL, NULL);
  }
  return finish(&k);
}

vyre_status
vyre_versions_of_vars(const vyre_module *module, uint32_t program, vyre_join_filter filter, void *user, vyre_state_graph *out)
{
  versions k = {.module = module, .view = vyre_module_view(module), .allocator = vyre_module_allocator(module), .out = out};
  const uint32_t end = k.view->next[program] ? k.view->next[program] : k.view->rows;
  begin(&k);
  memset(out->version + program, 0, (end - program) * sizeof(uint32_t));
  if (!k.out_of_memory)
    versions_find_sets(&k, program, end);
  find_states(&k, program, end, filter, user);
  return finish(&k);
}
