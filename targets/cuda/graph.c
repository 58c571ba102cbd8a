/* Captures repeated sequences as graphs, and replays a graph with one launch for all its commands.
 *
 * A graph is found by its shape: everything that its commands depend on, except grids and parameters of launches. Launches with
 * other grids or parameters are updated in the graph. Graphs contain the addresses of the submission's staging and control
 * memory, so they are destroyed when this memory moves. At the first use of a shape, commands are enqueued one by one, because
 * capturing pays only from the third use on. The same holds for sequences with very many launches and for those whose step times
 * are wanted.
 *
 * Graphs have no conditional nodes, because setting a condition needs the toolkit's device library, which users do not have.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <string.h>

/* ---- shapes -------------------------------------------------------------------------------------------------------------- */

enum { RANGE_WORDS = 2, DIRECT_WORDS = 2, STEP_WORDS = 1, REPEAT_WORDS = 3, SEQUENCE_WORDS = 5 };

static void
put_range(vyre_target *target, const vyre_range *range)
{
  uint64_t size;
  target_shape_put(target, cuda_range_address(target, range, &size));
  target_shape_put(target, size);
}

static void
put_step(vyre_target *target, const vyre_step *step)
{
  const bool is_empty = step->groups[0] == 0 || step->groups[1] == 0 || step->groups[2] == 0;
  const uint64_t is_part = step->count != 0,
                 is_indirect = step->indirect.buffer.id != 0; /* these have more data in control memory */
  target_shape_put(target, cuda_kernel_get(target, step->kernel)->serial << 3 | is_part << 2 | is_indirect << 1 | is_empty);
}

vyre_status
cuda_shape_make(vyre_target *target, const target_work *work)
{
  const vyre_sequence *sequence = &work->sequence;
  const uint64_t ranges = (uint64_t)sequence->fill_count + sequence->upload_count + sequence->read_count;
  const uint64_t count = SEQUENCE_WORDS + RANGE_WORDS * ranges + sequence->fill_count +
                         (uint64_t)DIRECT_WORDS * sequence->upload_count + (uint64_t)STEP_WORDS * sequence->step_count +
                         (uint64_t)REPEAT_WORDS * sequence->repeat_count;
  VYRE_TRY(target_shape_begin(target, count));
  target_shape_put(target, (uint64_t)work->is_first << 32 | work->at.step);
  target_shape_put(target, (uint64_t)work->at.repeat << 32 | work->at.iteration);
  target_shape_put(target, (uint64_t)sequence->step_count << 32 | sequence->repeat_count);
  target_shape_put(target, (uint64_t)sequence->fill_count << 32 | sequence->upload_count);
  target_shape_put(target, (uint64_t)sequence->read_count << 32 | (sequence->step_ns != NULL));
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    put_range(target, &sequence->fills[i].range);
    target_shape_put(target, sequence->fills[i].value);
  }
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    put_range(target, &sequence->uploads[i].range);
    const cuda_buffer *direct = cuda_direct(target, work, &sequence->uploads[i]);
    target_shape_put(target, direct ? direct->serial : 0); /* a graph is not valid for memory that was imported again */
    target_shape_put(target, direct ? (uintptr_t)sequence->uploads[i].data : 0);
  }
  for (uint32_t i = 0; i < sequence->read_count; i++)
    put_range(target, &sequence->reads[i].range);
  for (uint32_t i = 0; i < sequence->step_count; i++)
    put_step(target, &sequence->steps[i]);
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    target_shape_put(target, (uint64_t)repeat->first << 32 | repeat->count);
    target_shape_put(target, repeat->times);
    target_shape_put(target, repeat->until.buffer.id != 0);
  }
  target_shape_end(target);
  return VYRE_OK;
}

/* ---- destruction ---------------------------------------------------------------------------------------------------------- */

/* Destroys the driver's graph objects. */
static void
drop_graph(vyre_target *target, cuda_recorded *recorded)
{
  const cuda_api *call = &target->library.call;
  const bool is_there = !target->base.lost && !target->base.hangs;
  if (recorded->exec && is_there)
    call->cuGraphExecDestroy(recorded->exec);
  if (recorded->graph && is_there)
    call->cuGraphDestroy(recorded->graph);
  recorded->exec = NULL;
  recorded->graph = NULL;
  recorded->node_count = recorded->word_count = 0;
}

void
cuda_recorded_destroy(vyre_target *target, target_recorded *item)
{
  const vyre_allocator *allocator = &target->base.allocator;
  cuda_recorded *recorded = (cuda_recorded *)(void *)item;
  drop_graph(target, recorded);
  vyre_release(allocator, recorded->nodes, sizeof *recorded->nodes * recorded->node_capacity);
  vyre_release(allocator, recorded->words, sizeof *recorded->words * recorded->word_capacity);
}

/* ---- nodes --------------------------------------------------------------------------------------------------------------- */

/* The stream depends only on the launch that was captured last. */
vyre_status
cuda_node_add(vyre_target *target, cuda_submission *submission, const cuda_launch *launch)
{
  cuda_recorded *graph = submission->graph;
  const uint32_t words = launch->size / 8;
  cuda_capture_status state;
  const cuda_graph_node *last = NULL;
  size_t count = 0;
  if (!vyre_grow(&target->base.allocator, &graph->nodes, &graph->node_capacity, (uint64_t)graph->node_count + 1,
                 sizeof *graph->nodes) ||
      !vyre_grow(&target->base.allocator, &graph->words, &graph->word_capacity, (uint64_t)graph->word_count + words,
                 sizeof *graph->words))
    return VYRE_OUT_OF_MEMORY("for a CUDA graph");
  VYRE_TRY(CUDA_CALL(target, cuStreamGetCaptureInfo_v2, (submission->stream, &state, NULL, NULL, &last, &count),
                     "for launch %u of a graph", graph->node_count));
  if (state != CUDA_CAPTURE_ACTIVE || count != 1)
    return cuda_status(target, CUDA_STREAM_CAPTURE_INVALIDATED, "cuStreamGetCaptureInfo_v2", "for launch %u of a graph",
                       graph->node_count);
  cuda_node *node = &graph->nodes[graph->node_count++];
  *node = (cuda_node){.handle = last[0], .launch = *launch, .first = graph->word_count};
  memcpy(graph->words + graph->word_count, launch->data, launch->size);
  graph->word_count += words;
  return VYRE_OK;
}

vyre_status
cuda_node_update(vyre_target *target, cuda_submission *submission, const cuda_launch *launch)
{
  cuda_recorded *graph = submission->graph;
  cuda_node *node = &graph->nodes[submission->node++];
  uint64_t *words = graph->words + node->first;
  if (memcmp(node->launch.grid, launch->grid, sizeof launch->grid) == 0 && memcmp(words, launch->data, launch->size) == 0)
    return VYRE_OK;
  void *parameters[3];
  for (uint32_t i = 0; i < launch->parameter_count; i++)
    parameters[i] = (char *)(uintptr_t)launch->data + launch->offsets[i]; /* the driver only reads them */
  const cuda_kernel_node changed = {
      .function = launch->function,
      .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
      .block = {launch->block[0], launch->block[1], launch->block[2]},
      .parameters = parameters,
  };
  VYRE_TRY(CUDA_CALL(target, cuGraphExecKernelNodeSetParams, (graph->exec, node->handle, &changed), "for launch %u of a graph",
                     submission->node - 1));
  memcpy(node->launch.grid, launch->grid, sizeof launch->grid);
  memcpy(words, launch->data, launch->size);
  return VYRE_OK;
}

/* ---- submission ---------------------------------------------------------------------------------------------------------- */

static uint64_t
count_launches(const vyre_target *target, const vyre_sequence *sequence)
{
  uint64_t launches = 2 * (uint64_t)sequence->step_count;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    const bool is_bound = repeat->until.buffer.id && repeat->times > target->most_iterations;
    launches += (2 * (uint64_t)repeat->count + 1) * (is_bound ? target->most_iterations : repeat->times);
  }
  return launches;
}

static vyre_status
capture(vyre_target *target, cuda_submission *submission)
{
  const cuda_api *call = &target->library.call;
  cuda_recorded *recorded = submission->graph;
  VYRE_TRY(CUDA_CALL(target, cuStreamBeginCapture_v2, (submission->stream, CUDA_CAPTURE_THREAD_LOCAL),
                     "capturing a sequence of %u steps", submission->work.sequence.step_count));
  submission->mode = CUDA_CAPTURED;
  vyre_status status = cuda_record(target, submission);
  submission->mode = CUDA_ENQUEUED;
  const cuda_result ended =
      call->cuStreamEndCapture(submission->stream, &recorded->graph); /* also after an error, because the stream is reused */
  if (!status)
    status =
        cuda_status(target, ended, "cuStreamEndCapture", "capturing a sequence of %u steps", submission->work.sequence.step_count);
  if (!status)
    status = CUDA_CALL(target, cuGraphInstantiateWithFlags, (&recorded->exec, recorded->graph, 0), "making a graph of %u launches",
                       recorded->node_count);
  if (status)
    drop_graph(target, recorded);
  return status;
}

/* Returns whether the driver cannot capture the commands. Any other error is an error of the sequence. */
static bool
cannot_capture(const vyre_target *target, vyre_status status)
{
  const char *text = vyre_status_text(status);
  return status && !target->base.lost && (strstr(text, "_CAPTURE_UNSUPPORTED") || strstr(text, "ERROR_NOT_SUPPORTED"));
}

static vyre_status
replay(vyre_target *target, cuda_submission *submission)
{
  VYRE_TRY(CUDA_CALL(target, cuGraphLaunch, (submission->graph->exec, submission->stream), "for a graph of %u launches",
                     submission->graph->node_count));
  target->base.counters.graph_launches++;
  return VYRE_OK;
}

static vyre_status
update(vyre_target *target, cuda_submission *submission)
{
  submission->mode = CUDA_UPDATED;
  submission->node = 0;
  vyre_status status = cuda_record(target, submission);
  submission->mode = CUDA_ENQUEUED;
  return status;
}

vyre_status
cuda_enqueue(vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const target_position from = submission->work.at;
  submission->mode = CUDA_ENQUEUED;
  if (target->no_graphs || sequence->step_ns || count_launches(target, sequence) > CUDA_MOST_NODES)
    return cuda_record(target, submission);
  target_recorded *recorded = target_recorded_find(&target->base, &submission->work);
  if (!recorded) {
    VYRE_TRY(target_recorded_make(target, &submission->work, &recorded));
    target_recorded_use(&submission->work, recorded);
    return cuda_record(target, submission);
  }
  target_recorded_use(&submission->work, recorded);
  cuda_recorded *found = submission->graph = (cuda_recorded *)(void *)recorded;
  if (found->is_refused)
    return cuda_record(target, submission);
  if (found->exec) {
    VYRE_TRY(update(target, submission));
    return replay(target, submission);
  }
  vyre_status status = capture(target, submission);
  if (cannot_capture(target, status)) {
    vyre_status_free(status);
    found->is_refused = true;
    submission->work.at = from;
    return cuda_record(target, submission);
  }
  VYRE_TRY(status);
  target->base.counters.recordings++;
  return replay(target, submission);
}
