/* Summaries of the writes of constructs, for a walk that changes rows as it goes (memory.h).
 *
 * For each join of memory, visits the writes between the construct's start and the join, including those of all iterations of
 * loops, up to a bound.  Compares only the first steps of paths, as they are before the walk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <string.h>

enum { MOST_STATES = 32, ANYWHERE = ~0 };

uint32_t
memory_first_step(const memory *m, uint32_t path, uint32_t *out_buffer)
{
  const vyre_view *v = m->v;
  uint32_t first = 0;
  for (; vyre_op_of(v, path) == VYRE_OP_at; path = v->a[path])
    first = path;
  *out_buffer = path;
  if (first == 0 || (VYRE_ROW_FLAGS(v->op[first]) & VYRE_ROW_IMM) == 0 || m->ctx->host->descriptor_steps(m->module, path) != 0)
    return (uint32_t)ANYWHERE;
  return 1u << (v->imm[first] & 31u);
}

/* The versions to visit. */
typedef struct walk {
  const memory *m;
  uint32_t outside; /* the first row of the construct */
  uint32_t states[MOST_STATES], count, next;
  memory_construct found;
} walk;

/* Adds a version.  Returns false if there are too many. */
static bool
add(walk *w, uint32_t version)
{
  for (uint32_t i = 0; i < w->count && (version & VYRE_JOIN) != 0; i++) /* a loop's join is its own part */
    if (w->states[i] == version)
      return true;
  if (w->count == MOST_STATES)
    return false;
  w->states[w->count++] = version;
  return true;
}

static bool
add_write(walk *w, uint32_t write)
{
  const vyre_view *v = w->m->v;
  uint32_t buffer;
  if (!memory_writes_path_only(w->m, write))
    return false;
  w->found.steps |= memory_first_step(w->m, v->a[write], &buffer);
  if (w->found.buffer != 0 && w->found.buffer != buffer)
    return false;
  w->found.buffer = buffer;
  return add(w, v->version[write]);
}

static bool
add_state(walk *w, uint32_t version)
{
  const vyre_view *v = w->m->v;
  const vyre_join *join = vyre_join_of(v, version);
  if (version == 0)
    return false;
  if (vyre_version_row(v, version) < w->outside) {
    const bool is_one = w->found.before == 0 || w->found.before == version;
    w->found.before = version;
    return is_one;
  }
  if (!join)
    return add_write(w, version);
  for (uint32_t i = 0; i < join->count; i++)
    if (!add(w, v->parts[join->first + i].version))
      return false;
  return true;
}

static memory_construct
summarize(const memory *m, uint32_t version)
{
  const vyre_view *v = m->v;
  const uint32_t row = vyre_version_row(v, version);
  walk w = {.m = m, .outside = (vyre_op_flags_of(v, row) & VYRE_OP_REGION) != 0 ? v->parent[row] : row};
  w.states[w.count++] = version;
  while (w.next < w.count)
    if (!add_state(&w, w.states[w.next++]))
      return (memory_construct){0};
  return w.found;
}

/* Returns whether the join is a version of memory, by the first row that reaches it.  `all` is filled for earlier joins. */
static bool
is_of_memory(const vyre_view *v, const memory_construct *all, uint32_t join)
{
  uint32_t at = join;
  for (uint32_t steps = 0; v->joins[at].count && steps < v->join_count; steps++) {
    const uint32_t version = v->parts[v->joins[at].first].version;
    if ((version & VYRE_JOIN) == 0)
      return vyre_op_of(v, version) != VYRE_OP_set && vyre_op_of(v, version) != VYRE_OP_var;
    at = version & ~VYRE_JOIN;
    if (at < join)
      return all[at].is_memory;
  }
  return false;
}

vyre_status
memory_summarize_constructs(memory *m)
{
  const vyre_view *v = m->v;
  memory_construct *all = m->ctx->host->alloc(m->ctx, sizeof *all * (v->join_count + 1));
  if (!all)
    return m->ctx->host->out_of_memory(m->ctx);
  for (uint32_t i = 1; i < v->join_count; i++)
    if (is_of_memory(v, all, i)) {
      all[i] = summarize(m, VYRE_JOIN | i);
      all[i].is_memory = true;
    }
  m->constructs = all;
  return VYRE_OK;
}
