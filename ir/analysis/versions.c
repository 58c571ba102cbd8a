/* The state graph: which reads see the same state, and the origins of each state. docs/ir.md, "Versions", defines versions.
 *
 * Two walks visit each program's rows, except those that neither read, write, hold rows nor jump. The first finds classes and
 * writes (versions_classes.c), the second edges and active lanes (versions_control.c). Then the version of each read is searched
 * for (versions_search.c), which makes joins, and the parts of these joins in the same way.
 *
 * This is the construction of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013), on
 * structured control. All edges are known beforehand, so blocks are never incomplete. Joins that would be removed later are not
 * made: a construct has no join if no edge brings a write.
 *
 * O(rows + (accesses * nesting + parts) * log rows): a class has joins only at constructs around its accesses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include "base/grow.h"

#include <string.h>

bool
versions_grow(versions *k, vector *list)
{
  if (vyre_grow(k->allocator, &list->data, &list->capacity, (uint64_t)list->capacity + 1, list->size))
    return true;
  k->out_of_memory = true;
  return false;
}

void
versions_free(const versions *k, const vector *list)
{
  if (list->data)
    k->allocator->resize(k->allocator->user, list->data, list->capacity * list->size, 0);
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
version_before(versions *k, uint32_t klass, uint32_t construct)
{
  return versions_version_at(k, klass, construct, k->view->parent[construct]);
}

/* Finds the parts of a join. For an `if` and a head, each edge has a part. For others, each edge with a version other than that
 * before the construct has a part, and one more part stands for the rest. */
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
    add_part(k, join, VYRE_JOIN | versions_head_join(k, klass, k->view->first[row]), row);
    brought++;
  }
  for (uint32_t i = first; i < end && !k->out_of_memory; i++) {
    const uint32_t next = i == first && known != UINT32_MAX ? known : versions_next_edge(k, klass, construct, i, end, &version);
    for (; each && i < next; i++)
      add_part(k, join, version_before(k, klass, construct), ((const edge *)k->edges.data)[i].from);
    i = next;
    if (i == end)
      break;
    add_part(k, join, version, ((const edge *)k->edges.data)[i].from);
    brought++;
  }
  if (!each && brought < end - first)
    add_part(k, join, version_before(k, klass, construct), construct);
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* Returns the version with the new number of its join. `to` is indexed by join, from `first` on. */
static uint32_t
reordered_version(const uint32_t *to, uint32_t first, uint32_t version)
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
      out->parts[next++] = (vyre_part){reordered_version(to, first, part.version), part.edge};
    }
  }
  for (uint32_t i = 0; i < k->stop_count; i++)
    out->version[k->stops[i]] = reordered_version(to, first, out->version[k->stops[i]]);
}

/* Lists the joins from `first` on by location: the joins of a head before the rows of its region, others after the rows of their
 * construct, inner ones before outer ones. Joins of one row are in order of creation. `link` has an element for each join. */
static void
list_joins(versions *k, uint32_t first, uint32_t program, uint32_t end, uint32_t *link, uint32_t *out_order)
{
  const vyre_state_graph *out = k->out;
  uint32_t *at = k->edge_first, *place = k->edge_count; /* by row: 1 + the row's last join; 1 + the first join located there */
  uint32_t count = 0;
  for (uint32_t row = program; row < end; row++)
    at[row] = place[row] = 0;
  for (uint32_t join = 0; join < out->join_count - first; join++) {
    const uint32_t row = out->joins[first + join].row;
    link[join] = at[row];
    at[row] = join + 1;
  }
  for (uint32_t row = program; row < end; row++)
    for (uint32_t join = at[row], next; join; join = next) {
      uint32_t *list = &place[versions_is_region(k, row) ? row : k->ends[row]];
      next = link[join - 1];
      link[join - 1] = *list;
      *list = join;
    }
  for (uint32_t row = program; row < end; row++)
    for (uint32_t join = place[row]; join; join = link[join - 1])
      out_order[count++] = join - 1;
}

/* Orders the joins from `first` on so that parts precede their joins, except for parts of heads. */
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

/* Returns the version of a read. For a write of memory, returns the version of its class before it. */
static uint32_t
version_of(versions *k, uint32_t row, uint32_t op)
{
  const vyre_view *v = k->view;
  const uint32_t path = vyre_buffer_of(v, v->a[row]), region = v->parent[row];
  if (op == VYRE_OP_load && versions_is_handle(k, path)) /* nothing writes a handle itself */
    return path;
  const uint32_t klass = op == VYRE_OP_opaque_read ? k->class_of[row] : k->class_of[path];
  state *s = versions_state(k, klass);
  const uint32_t write = versions_last_write(k, klass, row - 1);
  if (s->version == 0 || s->write != write || s->region != region) {
    const uint32_t version = versions_version_at(k, klass, row - 1, region);
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

/* Finds the versions of the program's rows and the parts of joins. */
static void
find_states(versions *k, uint32_t program, uint32_t end)
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
  for (uint32_t i = 0; i < k->asked.count && !k->out_of_memory; i++)
    find_parts(k, first + i, ((const uint32_t *)k->asked.data)[i]);
  if (!k->out_of_memory)
    order_joins(k, first, program, end);
}

enum { ARRAYS = 7, VECTORS = 10 };

static void
list_vectors(versions *k, vector *out[VECTORS])
{
  vector *const lists[VECTORS] = {&k->states, &k->events, &k->written, &k->edges,    &k->slots,
                                  &k->asked,  &k->frames, &k->found,   &k->searches, &k->passed};
  memcpy(out, lists, sizeof lists);
}

/* Allocates memory and makes a graph without joins. */
static void
allocate_memory(versions *k)
{
  static const size_t sizes[VECTORS] = {sizeof(state),        sizeof(write_event), sizeof(uint32_t),     sizeof(edge),
                                        sizeof(slot),         sizeof(uint32_t),    6 * sizeof(uint32_t), sizeof(edge),
                                        7 * sizeof(uint32_t), sizeof(uint32_t)};
  vector *lists[VECTORS];
  const uint32_t rows = k->view->rows;
  uint32_t **const arrays[ARRAYS] = {&k->class_of, &k->aliases, &k->stops, &k->edge_first, &k->edge_count, &k->ends, &k->jump};
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
free_memory(versions *k)
{
  vector *lists[VECTORS];
  list_vectors(k, lists);
  if (k->class_of)
    k->allocator->resize(k->allocator->user, k->class_of, ARRAYS * k->view->rows * sizeof(uint32_t), 0);
  for (size_t i = 0; i < VECTORS; i++)
    versions_free(k, lists[i]);
  return k->out_of_memory ? VYRE_OUT_OF_MEMORY("while making versions") : VYRE_OK;
}

vyre_status
vyre_versions_compute(const vyre_module *module, vyre_state_graph *out)
{
  versions k = {.module = module, .view = vyre_module_view(module), .allocator = vyre_module_allocator(module), .out = out};
  const vyre_view *v = k.view;
  allocate_memory(&k);
  memset(out->version, 0, v->rows * sizeof(uint32_t));
  k.out_of_memory = k.out_of_memory || !vyre_aliases_compute(module, k.aliases);
  if (!k.out_of_memory)
    memset(k.class_of, 0, v->rows * sizeof(uint32_t));
  for (uint32_t program = v->first[0]; program && !k.out_of_memory; program = v->next[program]) {
    const uint32_t end = vyre_program_end(v, program);
    versions_find_writes(&k, program, end);
    find_states(&k, program, end);
  }
  return free_memory(&k);
}
