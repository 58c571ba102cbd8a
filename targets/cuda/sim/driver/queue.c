/* The threads of streams. Each runs the operations of its stream in order, after the calls that submitted them have returned.
 *
 * An operation begins when everything that it is ordered after is done. A late operation also waits until the host waits for it. It
 * begins after a deadline in any case, because the host may wait by other means. All copies from and to the host are late, and the
 * seed decides about other operations. Meanwhile the pinned destination of a copy is poisoned, and its pinned source must not
 * change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define DELAY UINT64_C(1000000) /* nanoseconds: a late operation begins after 1 to 4 times that */

bool
sim_is_done(const sim_context *context, const sim_clock *clock)
{
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    if (context->queues[i].done < clock->at[i])
      return false;
  return true;
}

/* Requests that the operations of the clock run without delay. */
static void
request_clock(sim_context *context, const sim_clock *clock)
{
  bool changes = false;
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    if (context->queues[i].wanted < clock->at[i]) {
      context->queues[i].wanted = clock->at[i];
      changes = true;
    }
  if (changes)
    pthread_cond_broadcast(&sim.changed);
}

static cuda_result
wait_clock(sim_context *context, const sim_clock *clock)
{
  const sim_clock until = *clock; /* a copy, because other threads may submit more meanwhile */
  request_clock(context, &until);
  sim.waiting++;
  while (!sim_is_done(context, &until))
    pthread_cond_wait(&sim.changed, &sim.lock);
  sim.waiting--;
  sim_context_waited(context, &until);
  return context->error;
}

cuda_result
sim_host_wait(sim_context *context, const sim_clock *clock)
{
  sim.counters.waits++;
  return wait_clock(context, clock);
}

cuda_result
sim_query_clock(sim_context *context, const sim_clock *clock)
{
  const bool is_done = sim_is_done(context, clock);
  request_clock(context, clock);
  if (!is_done)
    return CUDA_NOT_READY;
  sim_context_waited(context, clock);
  return CUDA_OK;
}

cuda_result
sim_wait_context(sim_context *context)
{
  sim_clock all;
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    all.at[i] = context->queues[i].given;
  return wait_clock(context, &all);
}

/* ---- operations ---------------------------------------------------------------------------------------------------------- */

static bool
uses_memory(const sim_work *work, const void *memory)
{
  return work->to.memory == memory || work->from.memory == memory;
}

static bool
launches(const sim_work *work, const void *module)
{
  return work->function && work->function->module == module;
}

static const char *
find_pending(const sim_context *context, bool (*is_found)(const sim_work *work, const void *user), const void *user)
{
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    for (const sim_op *op = context->queues[i].stream ? context->queues[i].stream->first : NULL; op; op = op->next) {
      if (op->work && is_found(op->work, user))
        return op->work->label;
      if (op->graph && sim_graph_run_has(op->graph, is_found, user))
        return "a graph";
    }
  return NULL;
}

const char *
sim_pending_use(const sim_context *context, const sim_memory *memory)
{
  return find_pending(context, uses_memory, memory);
}

const char *
sim_pending_launch(const sim_module *module)
{
  return find_pending(module->object.context, launches, module);
}

/* Returns whether only the host can change the copy's host source before the copy reads it. */
static bool
is_steady(const sim_context *context, const sim_work *work)
{
  const sim_memory *source = work->from.memory;
  if (!source || !sim_is_host(source) || source->is_mapped)
    return false;
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    for (const sim_op *op = context->queues[i].stream ? context->queues[i].stream->first : NULL; op; op = op->next)
      if (op->graph || (op->work && op->work->to.memory == source))
        return false;
  return true;
}

static uint64_t
digest(const sim_work *work)
{
  return XXH3_64bits(work->from.memory->bytes + work->from.offset, work->size);
}

sim_op *
sim_op_new(sim_stream *stream)
{
  sim_context *context = stream->object.context;
  sim_queue *queue = &context->queues[stream->place];
  sim_op *op = sim_allocate(sizeof *op);
  sim_clock_join(&stream->clock, &context->host);
  for (uint32_t i = 0; i < SIM_STREAMS; i++) {
    const sim_stream *other = context->queues[i].stream;
    if (other && other != stream &&
        ((stream == context->legacy && other->is_blocking) || (other == context->legacy && stream->is_blocking)))
      sim_clock_join(&stream->clock, &other->clock);
  }
  op->number = ++queue->given;
  stream->clock.at[stream->place] = op->number;
  op->clock = stream->clock;
  return op;
}

/* Returns whether the work is a copy that is not between two device allocations. */
static bool
is_between(const sim_work *work)
{
  const sim_memory *to = work->to.memory, *from = work->from.memory;
  return work->kind == SIM_COPY && !(to && from && to->kind == SIM_DEVICE && from->kind == SIM_DEVICE);
}

void
sim_queue_put(sim_stream *stream, sim_op *op)
{
  op->is_late = op->work ? is_between(op->work) || sim_draw(2) : op->graph && sim_draw(2);
  op->deadline = clock_now() + DELAY * (1 + sim_draw(4));
  if (op->work && op->work->kind == SIM_COPY && is_steady(stream->object.context, op->work)) {
    op->reads_late = true;
    op->digest = digest(op->work);
  }
  if (op->work)
    sim_watch_add(stream->object.context, op->work, stream->place, op->number);
  if (op->graph)
    sim_graph_run_watch(op->graph, stream->object.context, stream->place, op->number);
  if (stream->last)
    stream->last->next = op;
  else
    stream->first = op;
  stream->last = op;
  pthread_cond_broadcast(&sim.changed);
}

cuda_result
sim_submit(sim_stream *stream, sim_work *work)
{
  sim_context *context = stream->object.context;
  if (stream->capture)
    return sim_capture_add(stream, work);
  cuda_result result = stream->is_blocking ? sim_capture_implicit(context, stream) : CUDA_OK;
  if (result == CUDA_OK && !sim_work_check(work))
    result = CUDA_INVALID_VALUE;
  if (result) {
    sim_work_release(work);
    return result;
  }
  sim_op *op = sim_op_new(stream);
  op->work = work;
  sim_queue_put(stream, op);
  return CUDA_OK;
}

/* ---- the thread ---------------------------------------------------------------------------------------------------------- */

/* Returns whether the context has at most one stream in use, so that no kernel can race with another stream. */
static bool
is_alone(const sim_context *context)
{
  const bool has_legacy = context->queues[SIM_LEGACY].given != 0;
  return context->stream_count - (has_legacy ? 0 : 1) < 2;
}

static void
end_op(sim_stream *stream, sim_op *op)
{
  sim_context *context = stream->object.context;
  stream->first = op->next;
  if (!stream->first)
    stream->last = NULL;
  context->queues[stream->place].done = op->number;
  if (op->event) {
    sim_event_recorded(op->event, op->record);
    sim_event_release(op->event);
  }
  if (op->work)
    sim_work_release(op->work);
  if (op->graph)
    sim_graph_run_free(op->graph);
  free(op);
  pthread_cond_broadcast(&sim.changed);
}

static void
run_op(sim_stream *stream, sim_op *op)
{
  sim_context *context = stream->object.context;
  if (context->error || context->stops)
    return;
  if (op->reads_late && digest(op->work) != op->digest)
    sim_report("race: the host changed pinned memory %u after it submitted %s, which had not read it yet",
               op->work->from.memory->number, op->work->label);
  if (!op->work && !op->graph)
    return;
  sim_uses *uses = sim_allocate(sizeof *uses);
  const char *label = op->work ? op->work->label : "a graph";
  snprintf(uses->label, sizeof uses->label, "%s", label);
  uses->place = stream->place;
  uses->number = op->number;
  uses->clock = op->clock;
  uses->is_alone = is_alone(context);
  const cuda_result result = op->work ? sim_work_run(context, op->work, uses, 0) : sim_graph_run_all(context, op->graph, uses);
  sim_uses_done(context, uses);
  sim_context_fail(context, result);
}

/* Poisons the destination of a late copy, unless it is device memory. */
static void
begin_op(const sim_stream *stream, sim_op *op)
{
  if (!op->has_begun && op->work && op->work->kind == SIM_COPY) {
    const sim_place *to = &op->work->to;
    if (to->memory && to->memory->kind != SIM_DEVICE && !to->memory->is_freed && !stream->object.context->error)
      sim_memory_poison(to->memory->bytes + to->offset, op->work->size);
  }
  op->has_begun = true;
}

/* Returns whether the operation can run now. Otherwise waits for a change first. */
static bool
may_run(const sim_stream *stream, sim_op *op)
{
  sim_context *context = stream->object.context;
  if (context->error || context->stops)
    return true;
  sim_clock before = op->clock;
  before.at[stream->place] = 0;
  const bool is_wanted = stream->closes || context->queues[stream->place].wanted >= op->number;
  if (!sim_is_done(context, &before)) {
    if (is_wanted || !op->is_late)
      request_clock(context, &before);
    pthread_cond_wait(&sim.changed, &sim.lock);
    return false;
  }
  if (is_wanted || !op->is_late || clock_now() >= op->deadline)
    return true;
  begin_op(stream, op);
  const struct timespec until = {(time_t)(op->deadline / 1000000000u), (long)(op->deadline % 1000000000u)};
  pthread_cond_clockwait(&sim.changed, &sim.lock, CLOCK_MONOTONIC, &until);
  return false;
}

static void *
serve(void *user)
{
  sim_stream *stream = user;
  sim_context *context = stream->object.context;
  pthread_mutex_lock(&sim.lock);
  while (stream->first || !stream->closes) {
    sim_op *op = stream->first;
    if (!op)
      pthread_cond_wait(&sim.changed, &sim.lock);
    else if (may_run(stream, op)) {
      run_op(stream, op);
      end_op(stream, op);
    }
  }
  context->queues[stream->place].stream = NULL;
  context->threads--;
  if (stream->is_destroyed)
    free(stream);
  pthread_cond_broadcast(&sim.changed);
  pthread_mutex_unlock(&sim.lock);
  return NULL;
}

bool
sim_start_thread(sim_stream *stream)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, stream) != 0)
    return false;
  pthread_detach(thread);
  stream->object.context->threads++;
  return true;
}

void
sim_wait_threads(sim_context *context)
{
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    if (context->queues[i].stream)
      context->queues[i].stream->closes = true;
  pthread_cond_broadcast(&sim.changed);
  while (context->threads)
    pthread_cond_wait(&sim.changed, &sim.lock);
}
