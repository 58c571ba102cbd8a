/* What a sequence needs while it runs: a stream, events, staging, graphs, a copy of what it is.
 *
 * They stay for the next sequence, and grow when it needs more.  Several that were begun have one each; of those that are not used
 * the one is taken that knows a sequence of this shape.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <string.h>

static void
free_array(const vyre_target *target, void *array, uint32_t capacity, size_t size)
{
  vyre_release(&target->base.allocator, array, size * capacity);
}

/* ---- made and destroyed -------------------------------------------------------------------------------------------------- */

static vyre_status
fill_submission(vyre_target *target, cuda_submission *submission)
{
  VYRE_TRY(CUDA_CALL(target, cuStreamCreate, (&submission->stream, CUDA_STREAM_NON_BLOCKING), "for one sequence"));
  VYRE_TRY(CUDA_CALL(target, cuEventCreate, (&submission->start, CUDA_EVENT_DEFAULT), "for one sequence"));
  return CUDA_CALL(target, cuEventCreate, (&submission->end, CUDA_EVENT_DEFAULT), "for one sequence");
}

static void
forget_sequence(vyre_target *target, cuda_submission *submission)
{
  vyre_release(&target->base.allocator, submission->copy, submission->copy_size);
  vyre_status_free(submission->status);
  submission->copy = NULL;
  submission->status = VYRE_OK;
  submission->sequence = (vyre_sequence){0};
  submission->graph = NULL;
}

static void
destroy_submission(vyre_target *target, cuda_submission *submission)
{
  const cuda_api *call = &target->library.call;
  const bool is_there = !target->base.lost && !target->hangs;
  cuda_recorded_destroy(target, submission);
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
  forget_sequence(target, submission);
  free_array(target, submission->uploads, submission->upload_capacity, sizeof *submission->uploads);
  free_array(target, submission->reads, submission->read_capacity, sizeof *submission->reads);
  free_array(target, submission->data, submission->data_capacity, sizeof *submission->data);
  free_array(target, submission->stamps, submission->stamp_capacity, sizeof *submission->stamps);
  free_array(target, submission->stamped, submission->stamped_capacity, sizeof *submission->stamped);
  free_array(target, submission->step_ns, submission->step_ns_capacity, sizeof *submission->step_ns);
  vyre_release(&target->base.allocator, submission, sizeof *submission);
}

static vyre_status
make_submission(vyre_target *target, cuda_submission **out)
{
  cuda_submission *submission = vyre_take(&target->base.allocator, sizeof *submission);
  if (!submission)
    return VYRE_OUT_OF_MEMORY("for a CUDA submission");
  vyre_status status = fill_submission(target, submission);
  if (status)
    destroy_submission(target, submission);
  else
    *out = submission;
  return status;
}

void
cuda_submission_give(vyre_target *target, cuda_submission *submission)
{
  if (target->hangs) {
    destroy_submission(target, submission); /* its objects stay */
    return;
  }
  forget_sequence(target, submission);
  submission->next = target->unused;
  target->unused = submission;
}

void
cuda_submissions_destroy(vyre_target *target)
{
  while (target->unused) {
    cuda_submission *submission = target->unused;
    target->unused = submission->next;
    destroy_submission(target, submission);
  }
}

/* ---- taken --------------------------------------------------------------------------------------------------------------- */

static void
find_controlled(const vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  submission->has_control = false;
  submission->first_controlled = UINT32_MAX;
  for (uint32_t i = sequence->repeat_count; i-- > 0;) {
    if (sequence->repeats[i].until.buffer.id)
      submission->first_controlled = sequence->repeats[i].first;
  }
  for (uint32_t i = 0; i < sequence->step_count && !submission->has_control; i++)
    submission->has_control = cuda_is_told(target, submission, i);
}

static vyre_status
prepare(vyre_target *target, const vyre_sequence *sequence, bool is_begun, cuda_submission *submission)
{
  submission->sequence = *sequence;
  submission->at = (cuda_position){0};
  submission->is_first = true;
  submission->is_done = false;
  submission->timing = (vyre_timing){0};
  for (uint32_t i = 0; i < sequence->step_count; i++)
    VYRE_TRY(vyre_status_note(cuda_check_step(target, &sequence->steps[i]), "while looking at step %u", i));
  find_controlled(target, submission);
  if (is_begun)
    VYRE_TRY(target_sequence_copy(target, sequence, &submission->copy, &submission->copy_size, &submission->sequence));
  if (sequence->step_ns) {
    if (!vyre_grow(&target->base.allocator, &submission->step_ns, &submission->step_ns_capacity, sequence->step_count,
                   sizeof *submission->step_ns))
      return VYRE_OUT_OF_MEMORY("for the times of steps");
    memset(submission->step_ns, 0, sizeof *submission->step_ns * sequence->step_count);
  }
  if (submission->has_control)
    VYRE_TRY(cuda_control_ensure(target, submission));
  return cuda_plan_copies(target, submission);
}

/* The unused one that knows the shape, else the one that was used last. */
static cuda_submission *
find_unused(vyre_target *target)
{
  cuda_submission **at = &target->unused;
  while (*at && !cuda_shape_is_known(target, *at))
    at = &(*at)->next;
  if (!*at)
    at = &target->unused;
  cuda_submission *found = *at;
  if (found)
    *at = found->next;
  return found;
}

vyre_status
cuda_submission_take(vyre_target *target, const vyre_sequence *sequence, bool is_begun, cuda_submission **out)
{
  const cuda_submission wanted = {.sequence = *sequence, .is_first = true};
  VYRE_TRY(cuda_shape_make(target, &wanted));
  cuda_submission *submission = find_unused(target);
  if (!submission)
    VYRE_TRY(make_submission(target, &submission));
  vyre_status status = prepare(target, sequence, is_begun, submission);
  if (status)
    cuda_submission_give(target, submission);
  else
    *out = submission;
  return status;
}
