/* A sequence runs: its commands are given to a stream of its own, and the host waits once for the event after them.  Only repeats
 * until a word is 0 that go on for very long take more waits.
 *
 * What was begun before and names one of its buffers comes first: its stream waits for their events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <time.h>

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* The buffer is this submission's from now on; whoever had it last has to be waited for. */
static vyre_status
follow(vyre_target *target, cuda_submission *submission, const vyre_range *range)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  cuda_buffer *memory = buffer ? buffer->memory : NULL;
  if (!memory || memory->last == submission->number)
    return VYRE_OK;
  for (const cuda_submission *other = target->running; other && memory->last; other = other->next)
    if (other->number == memory->last)
      VYRE_TRY(
          CUDA_CALL(target, cuStreamWaitEvent, (submission->stream, other->end, 0), "to follow a sequence that was begun before"));
  memory->last = submission->number;
  return VYRE_OK;
}

/* Kernels that know an address may use any buffer. */
static vyre_status
follow_all(vyre_target *target, const cuda_submission *submission)
{
  for (const cuda_submission *other = target->running; other; other = other->next)
    VYRE_TRY(
        CUDA_CALL(target, cuStreamWaitEvent, (submission->stream, other->end, 0), "to follow a sequence that was begun before"));
  return VYRE_OK;
}

static vyre_status
follow_others(vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  if (target->has_addresses)
    VYRE_TRY(follow_all(target, submission));
  for (uint32_t i = 0; i < sequence->fill_count; i++)
    VYRE_TRY(follow(target, submission, &sequence->fills[i].range));
  for (uint32_t i = 0; i < sequence->upload_count; i++)
    VYRE_TRY(follow(target, submission, &sequence->uploads[i].range));
  for (uint32_t i = 0; i < sequence->read_count; i++)
    VYRE_TRY(follow(target, submission, &sequence->reads[i].range));
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    for (uint32_t k = 0; k < sequence->steps[i].buffer_count; k++)
      VYRE_TRY(follow(target, submission, &sequence->steps[i].buffers[k]));
    VYRE_TRY(follow(target, submission, &sequence->steps[i].indirect));
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++)
    VYRE_TRY(follow(target, submission, &sequence->repeats[i].until));
  return VYRE_OK;
}

static void
leave_running(vyre_target *target, const cuda_submission *submission)
{
  cuda_submission **at = &target->running;
  while (*at && *at != submission)
    at = &(*at)->next;
  if (*at)
    *at = submission->next;
}

/* ---- given and waited for ------------------------------------------------------------------------------------------------ */

static vyre_status
give_next(vyre_target *target, cuda_submission *submission)
{
  const uint64_t begun = clock_now();
  if (!submission->is_first) /* whose shape it was taken by */
    VYRE_TRY(cuda_shape_make(target, submission));
  if (submission->is_first)
    cuda_stage_uploads(target, submission);
  if (submission->has_control)
    cuda_control_write(target, submission);
  VYRE_TRY(cuda_stamps_prepare(target, submission));
  VYRE_TRY(CUDA_CALL(target, cuEventRecord, (submission->start, submission->stream), "starting a sequence"));
  VYRE_TRY(cuda_give(target, submission));
  VYRE_TRY(CUDA_CALL(target, cuEventRecord, (submission->end, submission->stream), "ending a sequence"));
  submission->is_first = false;
  submission->timing.batches++;
  submission->timing.record_ns += clock_now() - begun;
  return VYRE_OK;
}

/* Looks until it is done or the time is over: CUDA has no wait with a limit. */
static cuda_result
look_until(const vyre_target *target, const cuda_submission *submission)
{
  const uint64_t begun = clock_now(), limit = (uint64_t)target->timeout * 1000000000u;
  const struct timespec pause = {.tv_nsec = 20000};
  cuda_result result = target->library.call.cuEventQuery(submission->end);
  while (result == CUDA_NOT_READY) {
    const uint64_t passed = clock_now() - begun;
    if (passed > limit)
      return CUDA_TIMEOUT;
    if (passed > 1000000) /* what is short is not slept for */
      nanosleep(&pause, NULL);
    result = target->library.call.cuEventQuery(submission->end);
  }
  return result;
}

static vyre_status
wait_for(vyre_target *target, cuda_submission *submission)
{
  const uint64_t begun = clock_now();
  cuda_result result = target->timeout ? look_until(target, submission) : CUDA_OK;
  const char *api = "cuEventQuery";
  target->hangs = target->hangs || result == CUDA_TIMEOUT;
  if (result == CUDA_OK) {
    api = "cuEventSynchronize";
    result = target->library.call.cuEventSynchronize(submission->end);
    submission->timing.waits++;
  }
  if (result != CUDA_OK)
    target->base.lost = true; /* what was given may still be running: its buffers may not be used again */
  submission->timing.wait_ns += clock_now() - begun;
  return cuda_status(target, result, api, "waiting for %u steps", submission->sequence.step_count);
}

/* Where what is left begins, now that what was given is done.  False: nothing is left. */
static bool
find_next(cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    if (!repeat->until.buffer.id)
      continue;
    const vyre_repeat_end end = cuda_control_repeat(submission, i);
    if (end.word == 0)
      continue;
    if (end.iterations == repeat->times)
      return false;
    submission->at = (cuda_position){repeat->first, i, end.iterations};
    return true;
  }
  return false;
}

/* `status`, after which nothing of the submission runs any more if it is an error: what it was given may have been a part of it. */
static vyre_status
end_failed(vyre_target *target, const cuda_submission *submission, vyre_status status)
{
  if (!status || target->base.lost)
    return status;
  return vyre_status_join(status, CUDA_CALL(target, cuStreamSynchronize, (submission->stream), "ending a sequence that failed"));
}

/* What was given is done: gives what is left. */
static void
go_on(vyre_target *target, cuda_submission *submission)
{
  vyre_status status = cuda_stamps_read(target, submission);
  if (!status)
    status = cuda_control_status(target, submission);
  if (!status && find_next(submission)) {
    status = end_failed(target, submission, give_next(target, submission));
    if (!status)
      return;
  }
  submission->status = status;
  submission->is_done = true;
}

/* A target that is lost is asked nothing more, and what is not done stays so. */
static vyre_status
complete(vyre_target *target, cuda_submission *submission)
{
  while (!submission->is_done && !target->base.lost) {
    VYRE_TRY(wait_for(target, submission));
    go_on(target, submission);
  }
  return VYRE_OK;
}

/* Where the host is to give more of it once a part is done, whoever comes after would come between. */
static bool
may_go_on(const vyre_target *target, const cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  bool may = false;
  for (uint32_t i = 0; i < sequence->repeat_count && !submission->is_done; i++)
    may = may || (sequence->repeats[i].until.buffer.id && sequence->repeats[i].times > target->most_iterations);
  return may;
}

/* ---- hooks --------------------------------------------------------------------------------------------------------------- */

/* Where it fails, nothing of it runs any more. */
static vyre_status
start(vyre_target *target, const vyre_sequence *sequence, bool is_begun, cuda_submission **out)
{
  cuda_submission *submission = NULL;
  for (cuda_submission *other = target->running; other; other = other->next)
    if (may_go_on(target, other))
      VYRE_TRY(complete(target, other));
  VYRE_TRY(target_ready(target)); /* the other may have lost it */
  VYRE_TRY(cuda_submission_take(target, sequence, is_begun, &submission));
  submission->number = ++target->numbers;
  vyre_status status = follow_others(target, submission);
  if (!status)
    status = give_next(target, submission);
  status = end_failed(target, submission, status);
  if (status) {
    cuda_submission_give(target, submission);
    return status;
  }
  submission->next = target->running;
  target->running = submission;
  *out = submission;
  return VYRE_OK;
}

vyre_status
cuda_start(vyre_target *target, const vyre_sequence *sequence, void **out)
{
  cuda_submission *submission;
  VYRE_TRY(start(target, sequence, true, &submission));
  *out = submission;
  return VYRE_OK;
}

vyre_status
cuda_poll(vyre_target *target, void *work, bool *out_done)
{
  cuda_submission *submission = work;
  if (!submission->is_done && !target->base.lost) {
    const cuda_result result = target->library.call.cuEventQuery(submission->end);
    if (result == CUDA_NOT_READY)
      return VYRE_OK;
    VYRE_TRY(cuda_status(target, result, "cuEventQuery", "asking whether %u steps are done", submission->sequence.step_count));
    VYRE_TRY(wait_for(target, submission));
    go_on(target, submission);
  }
  *out_done = submission->is_done || target->base.lost; /* waiting for it has its error */
  return VYRE_OK;
}

static void
take_results(const vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  cuda_take_reads(target, submission);
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    sequence->ends[i] = sequence->repeats[i].until.buffer.id ? cuda_control_repeat(submission, i) : (vyre_repeat_end){0};
    submission->timing.bytes_down += sizeof sequence->ends[i];
  }
  for (uint32_t i = 0; i < sequence->step_count && sequence->step_ns; i++)
    sequence->step_ns[i] = submission->step_ns[i];
  submission->timing.launches =
      target_sequence_end(sequence, sequence->ends) + (submission->has_control ? cuda_control_launches(submission) : 0);
}

vyre_status
cuda_finish(vyre_target *target, void *work, vyre_timing *timing)
{
  cuda_submission *submission = work;
  vyre_status status = complete(target, submission);
  if (!status && submission->is_done) {
    status = submission->status;
    submission->status = VYRE_OK;
  } else if (!status)
    status = VYRE_ERROR(VYRE_CODE_DEVICE,
                        "cuda: the device '%s' was lost before %u steps that had been begun were done\n"
                        "Fix: recover it, and begin them again",
                        target->base.info.name, submission->sequence.step_count);
  if (!status)
    take_results(target, submission);
  const uint32_t allocations = timing->allocations; /* whoever calls counts them */
  *timing = submission->timing;
  timing->allocations = allocations;
  leave_running(target, submission);
  cuda_submission_give(target, submission);
  return status;
}

vyre_status
cuda_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  cuda_submission *submission;
  VYRE_TRY(start(target, sequence, false, &submission));
  return cuda_finish(target, submission, timing);
}
