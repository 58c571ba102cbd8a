/* Stream capture: work becomes nodes of a graph instead of running.
 *
 * A stream that waits for an event of a capture joins the capture. At the end, the stream that began the capture must depend on all
 * its work. A call that the CUDA programming guide forbids invalidates the capture. All further uses of an invalid capture fail
 * until it ends, and it produces no graph.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

struct sim_capture {
  uint32_t references; /* one while the capture is active, and one for each event */
  uint64_t id;
  sim_graph *graph; /* or NULL if the capture has ended */
  sim_stream *origin;
  cuda_capture_mode mode;
  pthread_t thread;
  bool is_invalid;
  sim_capture *next;
};

static sim_capture *captures; /* the active ones */

static void
release(sim_capture *capture)
{
  if (--capture->references == 0)
    free(capture);
}

cuda_result
sim_capture_forbid(sim_capture *capture, cuda_result result, const char *why)
{
  capture->is_invalid = true;
  return SIM_REFUSE(result, "%s: not allowed while stream %u captures: %s", sim_call_name(sim_called_now),
                    capture->origin ? sim_number(capture->origin) : 0, why);
}

cuda_result
sim_capture_unsafe(void)
{
  cuda_result result = CUDA_OK;
  for (sim_capture *capture = captures; capture; capture = capture->next)
    if (capture->mode == CUDA_CAPTURE_GLOBAL ||
        (capture->mode == CUDA_CAPTURE_THREAD_LOCAL && pthread_equal(capture->thread, pthread_self())))
      result = sim_capture_forbid(capture, CUDA_STREAM_CAPTURE_UNSUPPORTED, "it may have effects that the capture does not record");
  return result;
}

cuda_result
sim_capture_implicit(const sim_context *context, const sim_stream *stream)
{
  cuda_result result = CUDA_OK;
  for (sim_capture *capture = captures; capture && stream == context->legacy; capture = capture->next)
    if (capture->origin->is_blocking && capture->origin->object.context == context)
      result = sim_capture_forbid(capture, CUDA_STREAM_CAPTURE_IMPLICIT, "the default stream waits for it");
  return result;
}

/* ---- the tail of a capturing stream: the nodes that its next node depends on ---------------------------------------------- */

static void
set_tail(sim_stream *stream, const uint32_t *nodes, uint32_t count)
{
  if (count > stream->tail_capacity) {
    free(stream->tail);
    stream->tail = sim_allocate(count * sizeof *stream->tail);
    stream->tail_capacity = count;
  }
  if (count)
    memcpy(stream->tail, nodes, count * sizeof *stream->tail);
  stream->tail_count = count;
}

static void
add_tail(sim_stream *stream, const uint32_t *nodes, uint32_t count)
{
  uint32_t *joined = sim_allocate((stream->tail_count + count) * sizeof *joined), joined_count = stream->tail_count;
  if (stream->tail_count)
    memcpy(joined, stream->tail, stream->tail_count * sizeof *joined);
  for (uint32_t i = 0; i < count; i++) {
    bool is_there = false;
    for (uint32_t k = 0; k < stream->tail_count && !is_there; k++)
      is_there = stream->tail[k] == nodes[i];
    if (!is_there)
      joined[joined_count++] = nodes[i];
  }
  set_tail(stream, joined, joined_count);
  free(joined);
}

cuda_result
sim_capture_add(sim_stream *stream, sim_work *work)
{
  if (stream->capture->is_invalid) {
    sim_work_release(work);
    return CUDA_STREAM_CAPTURE_INVALIDATED;
  }
  const sim_node *node = sim_graph_add(stream->capture->graph, work, stream->tail, stream->tail_count);
  set_tail(stream, &node->index, 1);
  return CUDA_OK;
}

/* ---- events -------------------------------------------------------------------------------------------------------------- */

void
sim_capture_forget(sim_event *event)
{
  if (event->capture)
    release(event->capture);
  event->capture = NULL;
}

cuda_result
sim_capture_record(sim_stream *stream, sim_event *event)
{
  if (stream->capture->is_invalid)
    return CUDA_STREAM_CAPTURE_INVALIDATED;
  sim_capture_forget(event);
  event->capture = stream->capture;
  event->capture->references++;
  free(event->nodes);
  event->nodes = sim_allocate(stream->tail_count * sizeof *event->nodes);
  if (stream->tail_count)
    memcpy(event->nodes, stream->tail, stream->tail_count * sizeof *event->nodes);
  event->node_count = stream->tail_count;
  return CUDA_OK;
}

cuda_result
sim_capture_wait(sim_stream *stream, sim_event *event)
{
  sim_capture *theirs = event->capture, *ours = stream->capture;
  if (ours && ours->is_invalid)
    return CUDA_STREAM_CAPTURE_INVALIDATED;
  if (!theirs)
    return event->record ? sim_capture_forbid(ours, CUDA_STREAM_CAPTURE_ISOLATION, "the event was not recorded in the capture")
                         : CUDA_OK;
  if (!theirs->graph)
    return SIM_REFUSE(CUDA_CAPTURED_EVENT, "cuStreamWaitEvent: the event was recorded in a capture that has ended");
  if (theirs->is_invalid)
    return CUDA_STREAM_CAPTURE_INVALIDATED;
  if (ours && ours != theirs) {
    ours->is_invalid = true;
    return sim_capture_forbid(theirs, CUDA_STREAM_CAPTURE_MERGE, "another capture waits for its event");
  }
  if (stream == stream->object.context->legacy)
    return sim_capture_forbid(theirs, CUDA_STREAM_CAPTURE_IMPLICIT, "the default stream cannot capture");
  if (!ours) {
    stream->capture = theirs;
    set_tail(stream, NULL, 0);
  }
  add_tail(stream, event->nodes, event->node_count);
  return CUDA_OK;
}

/* ---- begin and end ------------------------------------------------------------------------------------------------------- */

SIM_ENTRY(cuStreamBeginCapture_v2, SIM_CURRENT, (cuda_stream stream, cuda_capture_mode mode), (stream, mode))
{
  static uint64_t last_id;
  SIM_FOUND(sim_stream, begins, sim_stream_get(stream));
  if (begins == begins->object.context->legacy)
    return SIM_REFUSE(CUDA_STREAM_CAPTURE_UNSUPPORTED, "cuStreamBeginCapture_v2: the default stream cannot capture");
  if (begins->capture || (unsigned)mode > CUDA_CAPTURE_RELAXED)
    return SIM_REFUSE(begins->capture ? CUDA_ILLEGAL_STATE : CUDA_INVALID_VALUE, "cuStreamBeginCapture_v2: %s",
                      begins->capture ? "the stream captures already" : "the mode is unknown");
  sim_capture *made = sim_allocate(sizeof *made);
  made->references = 1;
  made->id = ++last_id;
  made->graph = sim_graph_new(begins->object.context);
  made->graph->is_captured = true;
  made->origin = begins;
  made->mode = mode;
  made->thread = pthread_self();
  made->next = captures;
  captures = made;
  begins->capture = made;
  set_tail(begins, NULL, 0);
  return CUDA_OK;
}

static void
leave_streams(const sim_capture *capture)
{
  const sim_context *context = capture->origin->object.context;
  for (uint32_t i = 0; i < SIM_STREAMS; i++)
    if (context->queues[i].stream && context->queues[i].stream->capture == capture)
      context->queues[i].stream->capture = NULL;
}

/* Ends an active capture and returns its graph, which the caller owns. */
static sim_graph *
end_capture(sim_capture *capture)
{
  sim_graph *graph = capture->graph;
  sim_capture **at = &captures;
  leave_streams(capture);
  while (*at != capture)
    at = &(*at)->next;
  *at = capture->next;
  graph->is_captured = false;
  capture->graph = NULL;
  capture->origin = NULL;
  release(capture);
  return graph;
}

/* Returns whether the tail of the stream that began the capture depends on all nodes. */
static bool
is_joined(const sim_graph *graph, const sim_stream *origin)
{
  bool *reached = sim_allocate(graph->count * sizeof *reached), result = true;
  for (uint32_t i = 0; i < origin->tail_count; i++)
    reached[origin->tail[i]] = true;
  for (uint32_t i = graph->count; i-- > 0; result &= reached[i])
    for (uint32_t k = 0; reached[i] && k < graph->nodes[i]->after_count; k++)
      reached[graph->nodes[i]->after[k]] = true;
  free(reached);
  return result;
}

SIM_ENTRY(cuStreamEndCapture, SIM_CURRENT, (cuda_stream stream, cuda_graph *out), (stream, out))
{
  sim_stream *ends = sim_stream_get(stream);
  if (!ends || !out)
    return ends ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  *out = NULL;
  sim_capture *capture = ends->capture;
  if (!capture)
    return SIM_REFUSE(CUDA_ILLEGAL_STATE, "cuStreamEndCapture: the stream does not capture");
  if (capture->origin != ends)
    return sim_capture_forbid(capture, CUDA_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
  if (capture->mode != CUDA_CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
    return sim_capture_forbid(capture, CUDA_STREAM_CAPTURE_WRONG_THREAD, "another thread began the capture");
  cuda_result result = capture->is_invalid ? CUDA_STREAM_CAPTURE_INVALIDATED : CUDA_OK;
  if (result == CUDA_OK && !is_joined(capture->graph, ends))
    result = sim_capture_forbid(capture, CUDA_STREAM_CAPTURE_UNJOINED, "work of another stream was not joined");
  sim_graph *graph = end_capture(capture);
  if (result) {
    sim_graph_free(graph);
    return result;
  }
  *out = sim_handle(graph);
  return CUDA_OK;
}

SIM_ENTRY(cuStreamGetCaptureInfo_v2, SIM_CURRENT,
          (cuda_stream stream, cuda_capture_status *status, uint64_t *id, cuda_graph *graph, const cuda_graph_node **last,
           size_t *last_count),
          (stream, status, id, graph, last, last_count))
{
  sim_stream *asked = sim_stream_get(stream);
  if (!asked || !status)
    return asked ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
  const sim_capture *capture = asked->capture;
  *status = !capture ? CUDA_CAPTURE_NONE : capture->is_invalid ? CUDA_CAPTURE_INVALIDATED : CUDA_CAPTURE_ACTIVE;
  if (*status != CUDA_CAPTURE_ACTIVE)
    return CUDA_OK;
  free(asked->tail_handles);
  asked->tail_handles = sim_allocate(asked->tail_count * sizeof *asked->tail_handles);
  for (uint32_t i = 0; i < asked->tail_count; i++)
    asked->tail_handles[i] = sim_handle(capture->graph->nodes[asked->tail[i]]);
  if (id)
    *id = capture->id;
  if (graph)
    *graph = sim_handle(capture->graph);
  if (last)
    *last = asked->tail_handles;
  if (last_count)
    *last_count = asked->tail_count;
  return CUDA_OK;
}

void
sim_capture_drop(sim_stream *stream)
{
  sim_capture *capture = stream->capture;
  if (capture && capture->origin == stream)
    sim_graph_free(end_capture(capture));
  else if (capture)
    capture->is_invalid = true;
  stream->capture = NULL;
  free(stream->tail);
  free(stream->tail_handles);
  stream->tail = NULL;
  stream->tail_handles = NULL;
  stream->tail_count = stream->tail_capacity = 0;
}
