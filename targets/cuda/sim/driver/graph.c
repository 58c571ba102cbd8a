/* Graphs from captures, executable graphs, and their execution as one operation of a stream.
 *
 * An executable graph has its own list of work, and a launch uses the list as of then. Nodes run one after the other, in an order
 * that their dependencies allow and that the seed draws.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMPARED = 4096 }; /* larger graphs are not checked for races between nodes */

/* The dependencies between nodes as of the instantiation. */
typedef struct shape {
  uint32_t references, count;
  bool is_chain;     /* whether each node depends on the one before it */
  uint32_t **after;  /* owned: indices of the nodes that each node depends on */
  uint32_t *numbers; /* owned: the number of them */
} shape;

typedef struct exec {
  sim_object object;
  shape *shape;
  sim_work **works;
  uint64_t *nodes; /* owned: handles of the nodes in the instantiated graph */
  sim_clock clock; /* of the last launch, because launches of an executable graph do not overlap */
} exec;

struct sim_graph_run {
  shape *shape;
  sim_work **works;
};

/* ---- graphs -------------------------------------------------------------------------------------------------------------- */

sim_graph *
sim_graph_new(sim_context *context)
{
  return sim_object_new(SIM_GRAPH, context, sizeof(sim_graph));
}

sim_node *
sim_graph_add(sim_graph *graph, sim_work *work, const uint32_t *after, uint32_t count)
{
  sim_grow(&graph->nodes, &graph->capacity, graph->count, sizeof *graph->nodes);
  sim_node *node = sim_object_new(SIM_NODE, graph->object.context, sizeof *node);
  node->index = graph->count;
  node->work = work;
  node->after = sim_allocate(count * sizeof *node->after);
  if (count)
    memcpy(node->after, after, count * sizeof *node->after);
  node->after_count = count;
  graph->nodes[graph->count++] = node;
  return node;
}

void
sim_graph_free(void *graph)
{
  sim_graph *gone = graph;
  for (uint32_t i = 0; i < gone->count; i++) {
    sim_work_release(gone->nodes[i]->work);
    free(gone->nodes[i]->after);
    sim_object_free(gone->nodes[i]);
  }
  free(gone->nodes);
  sim_object_free(gone);
}

SIM_ENTRY(cuGraphDestroy, SIM_CURRENT, (cuda_graph graph), (graph))
{
  SIM_FOUND(sim_graph, gone, sim_object_get(SIM_GRAPH, graph));
  if (gone->is_captured)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuGraphDestroy: graph %u is still being captured", sim_number(gone));
  sim_graph_free(gone);
  return CUDA_OK;
}

/* ---- executable graphs --------------------------------------------------------------------------------------------------- */

static void
release_shape(shape *s)
{
  if (--s->references)
    return;
  for (uint32_t i = 0; i < s->count; i++)
    free(s->after[i]);
  free(s->after);
  free(s->numbers);
  free(s);
}

static shape *
make_shape(const sim_graph *graph)
{
  shape *s = sim_allocate(sizeof *s);
  s->references = 1;
  s->count = graph->count;
  s->is_chain = true;
  s->after = sim_allocate(s->count * sizeof *s->after);
  s->numbers = sim_allocate(s->count * sizeof *s->numbers);
  for (uint32_t i = 0; i < s->count; i++) {
    const sim_node *node = graph->nodes[i];
    s->numbers[i] = node->after_count;
    s->after[i] = sim_allocate(node->after_count * sizeof *s->after[i]);
    bool follows = i == 0;
    for (uint32_t k = 0; k < node->after_count; k++) {
      s->after[i][k] = node->after[k];
      follows |= node->after[k] + 1 == i;
    }
    s->is_chain &= follows;
  }
  return s;
}

SIM_ENTRY(cuGraphInstantiateWithFlags, SIM_CURRENT, (cuda_graph_exec * out, cuda_graph graph, unsigned long long flags),
          (out, graph, flags))
{
  const sim_graph *found = sim_object_get(SIM_GRAPH, graph);
  if (!found || !out || flags)
    return found ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  if (found->is_captured)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "cuGraphInstantiateWithFlags: graph %u is still being captured", sim_number(found));
  exec *made = sim_object_new(SIM_EXEC, found->object.context, sizeof *made);
  made->shape = make_shape(found);
  made->works = sim_allocate(found->count * sizeof *made->works);
  made->nodes = sim_allocate(found->count * sizeof *made->nodes);
  for (uint32_t i = 0; i < found->count; i++) {
    made->works[i] = found->nodes[i]->work;
    made->works[i]->references++;
    made->nodes[i] = found->nodes[i]->object.id;
  }
  *out = sim_handle(made);
  return CUDA_OK;
}

static void
release_works(sim_work **works, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    sim_work_release(works[i]);
  free(works);
}

void
sim_exec_free(void *gone)
{
  exec *freed = gone;
  release_works(freed->works, freed->shape->count);
  release_shape(freed->shape);
  free(freed->nodes);
  sim_object_free(freed);
}

SIM_ENTRY(cuGraphExecDestroy, SIM_CURRENT, (cuda_graph_exec handle), (handle))
{
  SIM_FOUND(exec, gone, sim_object_get(SIM_EXEC, handle));
  sim_exec_free(gone);
  return CUDA_OK;
}

SIM_ENTRY(cuGraphExecKernelNodeSetParams, SIM_CURRENT,
          (cuda_graph_exec handle, cuda_graph_node node, const cuda_kernel_node *parameters), (handle, node, parameters))
{
  exec *found = sim_object_get(SIM_EXEC, handle);
  const sim_node *named = found ? sim_object_get(SIM_NODE, node) : NULL;
  if (!named || !parameters)
    return named ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  if (named->index >= found->shape->count || found->nodes[named->index] != named->object.id)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "%s: the node does not belong to the instantiated graph", sim_call_name(sim_called_now));
  sim_work **at = &found->works[named->index], *work;
  if ((*at)->kind != SIM_LAUNCH)
    return SIM_REFUSE(CUDA_INVALID_VALUE, "%s: the node is not a launch", sim_call_name(sim_called_now));
  SIM_TRY(sim_launch_work(parameters->function, parameters->grid, parameters->block, parameters->dynamic_shared,
                          parameters->parameters, parameters->extra, (*at)->is_cooperative, &work));
  sim_work_release(*at);
  *at = work;
  return CUDA_OK;
}

SIM_ENTRY(cuGraphLaunch, SIM_CURRENT, (cuda_graph_exec handle, cuda_stream stream), (handle, stream))
{
  SIM_FOUND(sim_stream, given, sim_stream_get(stream));
  SIM_FOUND(exec, found, sim_object_get(SIM_EXEC, handle));
  if (given->capture)
    return sim_capture_forbid(given->capture, CUDA_NOT_SUPPORTED, "the simulator does not support nested graphs");
  SIM_TRY(sim_capture_implicit(given->object.context, given));
  const uint32_t count = found->shape->count;
  for (uint32_t i = 0; i < count; i++)
    if (!sim_work_check(found->works[i]))
      return CUDA_INVALID_VALUE;
  sim_graph_run *run = sim_allocate(sizeof *run);
  run->shape = found->shape;
  run->shape->references++;
  run->works = sim_allocate(count * sizeof *run->works);
  for (uint32_t i = 0; i < count; i++) {
    run->works[i] = found->works[i];
    run->works[i]->references++;
  }
  sim_clock_join(&given->clock, &found->clock);
  sim_op *op = sim_op_new(given);
  op->graph = run;
  found->clock = op->clock;
  sim_queue_put(given, op);
  return CUDA_OK;
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

void
sim_graph_run_free(sim_graph_run *run)
{
  release_works(run->works, run->shape->count);
  release_shape(run->shape);
  free(run);
}

bool
sim_graph_run_has(const sim_graph_run *run, bool (*is_found)(const sim_work *work, const void *user), const void *user)
{
  for (uint32_t i = 0; i < run->shape->count; i++)
    if (is_found(run->works[i], user))
      return true;
  return false;
}

void
sim_graph_run_watch(const sim_graph_run *run, sim_context *context, uint32_t place, uint64_t number)
{
  for (uint32_t i = 0; i < run->shape->count; i++)
    sim_watch_add(context, run->works[i], place, number);
}

/* For each node, a bit set of all nodes that it depends on. */
typedef struct reach {
  uint32_t words;
  uint64_t *bits;
} reach;

static bool
is_after(const reach *r, uint32_t a, uint32_t b)
{
  return r->bits[(size_t)a * r->words + b / 64] >> b % 64 & 1;
}

static bool
is_ordered(const void *user, uint32_t a, uint32_t b)
{
  return is_after(user, a, b) || is_after(user, b, a);
}

static void
report_races(const shape *s, const sim_uses *uses)
{
  reach r = {.words = s->count / 64 + 1};
  if (s->is_chain || s->count > MOST_COMPARED)
    return;
  r.bits = sim_allocate((size_t)s->count * r.words * sizeof *r.bits);
  for (uint32_t i = 0; i < s->count; i++) /* a node's dependencies are before it */
    for (uint32_t k = 0; k < s->numbers[i]; k++) {
      const uint32_t before = s->after[i][k];
      for (uint32_t w = 0; w < r.words; w++)
        r.bits[(size_t)i * r.words + w] |= r.bits[(size_t)before * r.words + w];
      r.bits[(size_t)i * r.words + before / 64] |= UINT64_C(1) << before % 64;
    }
  sim_uses_within(uses, is_ordered, &r);
  free(r.bits);
}

static bool
is_ready(const shape *s, const bool *done, uint32_t node)
{
  for (uint32_t k = 0; k < s->numbers[node]; k++)
    if (!done[s->after[node][k]])
      return false;
  return !done[node];
}

/* Draws one of the nodes that can run now. In a chain, returns the next node. */
static uint32_t
draw_node(const shape *s, const bool *done, uint32_t first)
{
  uint32_t chosen = first, seen = 0;
  for (uint32_t i = first; !s->is_chain && i < s->count; i++)
    if (is_ready(s, done, i) && sim_draw(++seen) == 0)
      chosen = i;
  return chosen;
}

cuda_result
sim_graph_run_all(sim_context *context, const sim_graph_run *run, sim_uses *uses)
{
  const shape *s = run->shape;
  bool *done = sim_allocate(s->count * sizeof *done);
  cuda_result result = CUDA_OK;
  sim.counters.graphs++;
  uses->is_alone &= s->is_chain;
  for (uint32_t left = s->count, first = 0; left && result == CUDA_OK && !context->stops; left--) {
    while (done[first])
      first++;
    const uint32_t node = draw_node(s, done, first);
    done[node] = true;
    result = sim_work_run(context, run->works[node], uses, node);
  }
  free(done);
  if (result == CUDA_OK)
    report_races(s, uses);
  return result;
}
