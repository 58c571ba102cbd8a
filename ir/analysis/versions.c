/* The state graph: which reads see the same state, and the origins of each state. docs/ir.md, "Versions", defines versions.
 *
 * Two walks visit each program's rows, except those that neither read, write, hold rows nor jump. The first finds classes and
 * writes (versions_classes.c). The second carries the current state of each class, and merges states where edges bring them
 * together (versions_control.c). A merge that a read sees is a join, and so is a merge that a part of a join sees
 * (versions_joins.c).
 *
 * A write changes the state of its class up to the end of its region. An edge begins a run for each change since the last edge to
 * its target, and the run ends with the change. So changes that many edges bring cost as much as those that one edge brings, and
 * the walk touches a class only at the constructs around its writes. A construct has no merge if no edge brings a write. A loop's
 * first head has merges before its edges are known, because the writes in the loop are known from the first walk.
 *
 * O(rows + writes * nesting + parts) time and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "versions_internal.h"

#include "base/grow.h"

#include <string.h>

bool
versions_grow(versions *k, vector *list)
{
  if (vyre_grow(k->allocator, &list->data, &list->capacity, list->capacity ? (uint64_t)list->capacity + 1 : k->view->rows / 8 + 64,
                list->size))
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

enum { ARRAYS = 4, VECTORS = 13 };

static void
list_vectors(versions *k, vector *out[VECTORS])
{
  vector *const lists[VECTORS] = {&k->states, &k->events, &k->changes, &k->places, &k->edges, &k->runs, &k->merges,
                                  &k->frames, &k->joins,  &k->values,  &k->parts,  &k->users, &k->slots};
  memcpy(out, lists, sizeof lists);
}

/* Returns the rows of the largest program. */
static uint32_t
most_rows(const vyre_view *v)
{
  uint32_t most = 1;
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    const uint32_t rows = vyre_program_end(v, program) - program;
    most = rows > most ? rows : most;
  }
  return most;
}

/* Allocates memory and makes a graph without joins. */
static void
allocate_memory(versions *k)
{
  static const size_t sizes[VECTORS] = {
      sizeof(state),     sizeof(write_event), sizeof(change),       sizeof(place),    sizeof(edge),
      sizeof(run),       sizeof(merge),       8 * sizeof(uint32_t), sizeof(new_join), SOURCES * sizeof(uint32_t),
      sizeof(vyre_part), sizeof(uint32_t),    sizeof(slot)};
  vector *lists[VECTORS];
  k->most_rows = most_rows(k->view);
  k->classes = k->allocator->resize(k->allocator->user, NULL, 0, ARRAYS * (size_t)k->most_rows * sizeof(uint32_t));
  list_vectors(k, lists);
  for (size_t i = 0; i < VECTORS; i++)
    lists[i]->size = sizes[i];
  k->out->join_count = k->out->part_count = 0;
  k->out_of_memory = !k->classes || !vyre_state_graph_reserve(k->out, k->allocator, 1, 0);
  if (!k->out_of_memory)
    k->out->joins[k->out->join_count++] = (vyre_join){0};
}

static vyre_status
free_memory(versions *k)
{
  vector *lists[VECTORS];
  list_vectors(k, lists);
  vyre_release(k->allocator, k->classes, ARRAYS * (size_t)k->most_rows * sizeof(uint32_t));
  aliases_end(&k->alias);
  for (size_t i = 0; i < VECTORS; i++)
    versions_free(k, lists[i]);
  return k->out_of_memory ? VYRE_OUT_OF_MEMORY("while making versions") : VYRE_OK;
}

/* Makes the program the current one. */
static void
open_program(versions *k, uint32_t program)
{
  k->first = program;
  k->rows = vyre_program_end(k->view, program) - program;
  k->aliases = k->classes + k->rows;
  k->stops = k->aliases + k->rows;
  k->declared = k->stops + k->rows;
  memset(k->classes, 0, 2 * (size_t)k->rows * sizeof(uint32_t));
}

vyre_status
vyre_versions_compute(const vyre_module *module, vyre_state_graph *out)
{
  versions k = {.module = module, .view = vyre_module_view(module), .allocator = vyre_module_allocator(module), .out = out};
  const vyre_view *v = k.view;
  allocate_memory(&k);
  memset(out->version, 0, v->rows * sizeof(uint32_t));
  k.out_of_memory |= !aliases_begin(&k.alias, module);
  for (uint32_t program = v->first[0]; program && !k.out_of_memory; program = v->next[program]) {
    open_program(&k, program);
    versions_find_writes(&k);
    if (!k.out_of_memory)
      versions_follow_control(&k);
    if (!k.out_of_memory)
      versions_add_joins(&k);
  }
  return free_memory(&k);
}
