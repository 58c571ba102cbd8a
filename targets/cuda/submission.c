/* The objects that a sequence needs while it runs: a stream, events, staging memory, graphs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

static vyre_status
fill(vyre_target *target, target_work *work)
{
  cuda_submission *submission = cuda_submission_of(work);
  VYRE_TRY(CUDA_CALL(target, cuStreamCreate, (&submission->stream, CUDA_STREAM_NON_BLOCKING), "for one sequence"));
  VYRE_TRY(CUDA_CALL(target, cuEventCreate, (&submission->start, CUDA_EVENT_DEFAULT), "for one sequence"));
  return CUDA_CALL(target, cuEventCreate, (&submission->end, CUDA_EVENT_DEFAULT), "for one sequence");
}

static void
free_array(const vyre_target *target, void *array, uint32_t capacity, size_t size)
{
  vyre_release(&target->base.allocator, array, size * capacity);
}

static void
destroy(vyre_target *target, target_work *work)
{
  cuda_submission *submission = cuda_submission_of(work);
  const cuda_api *call = &target->library.call;
  const bool is_there = !target->base.lost && !target->base.hangs;
  cuda_stamps_destroy(target, submission);
  if (submission->start && is_there)
    call->cuEventDestroy_v2(submission->start);
  if (submission->end && is_there)
    call->cuEventDestroy_v2(submission->end);
  if (submission->stream && is_there)
    call->cuStreamDestroy_v2(submission->stream);
  cuda_pinned_destroy(target, &submission->up);
  cuda_pinned_destroy(target, &submission->down);
  if (submission->control)
    vyre_status_free(cuda_memory_free(target, submission->control));
  target->bytes_staged -= submission->control_size;
  free_array(target, submission->uploads, submission->upload_capacity, sizeof *submission->uploads);
  free_array(target, submission->reads, submission->read_capacity, sizeof *submission->reads);
  free_array(target, submission->data, submission->data_capacity, sizeof *submission->data);
  free_array(target, submission->stamps, submission->stamp_capacity, sizeof *submission->stamps);
  free_array(target, submission->stamped, submission->stamped_capacity, sizeof *submission->stamped);
}

static vyre_status
prepare(vyre_target *target, target_work *work)
{
  cuda_submission *submission = cuda_submission_of(work);
  const vyre_sequence *sequence = &work->sequence;
  submission->graph = NULL;
  for (uint32_t i = 0; i < sequence->step_count; i++)
    VYRE_TRY(vyre_status_note(cuda_check_step(target, &sequence->steps[i]), "while checking step %u", i));
  for (uint32_t i = 0; i < sequence->step_count && !work->is_controlled; i++)
    work->is_controlled = cuda_has_dispatch(target, submission, i);
  if (work->is_controlled)
    VYRE_TRY(cuda_control_ensure(target, submission));
  return cuda_plan_copies(target, submission);
}

const target_work_hooks cuda_works = {
    .size = sizeof(cuda_submission),
    .recorded_size = sizeof(cuda_recorded),
    .memory = "for a CUDA submission",
    .fill = fill,
    .destroy = destroy,
    .begin = cuda_begin,
    .complete = cuda_complete,
    .take_reads = cuda_copy_reads,
    .prepare = prepare,
    .make_shape = cuda_shape_make,
    .destroy_recorded = cuda_recorded_destroy,
    .repeat_end = cuda_control_repeat,
    .controlled_launches = cuda_control_launches,
};
