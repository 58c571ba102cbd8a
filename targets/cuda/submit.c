/* Runs a sequence: enqueues its commands in a stream of its own, and waits once for the event after them. Only repeats with
 * `until` and very many iterations need more waits.
 *
 * The stream first waits for earlier submissions in flight that use one of its buffers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <time.h>

/* ---- order --------------------------------------------------------------------------------------------------------------- */

typedef struct follower {
  vyre_target *target;
  cuda_submission *submission;
  vyre_status status;
} follower;

/* Waits for the last submission that uses the buffer, and marks the buffer as used by the current submission. */
static void
follow(void *user, const vyre_range *range, bool is_step)
{
  (void)is_step;
  follower *f = user;
  const target_buffer *buffer = target_buffer_get(f->target, range->buffer);
  cuda_buffer *memory = buffer ? buffer->memory : NULL;
  if (f->status || !memory || memory->last == f->submission->number)
    return;
  for (const cuda_submission *other = f->target->running; other && memory->last && !f->status; other = other->next)
    if (other->number == memory->last)
      f->status =
          CUDA_CALL(f->target, cuStreamWaitEvent, (f->submission->stream, other->end, 0), "waiting for an earlier sequence");
  if (!f->status)
    memory->last = f->submission->number;
}

/* Waits for all submissions in flight, because kernels with addresses may use any buffer. */
static vyre_status
follow_all(vyre_target *target, const cuda_submission *submission)
{
  for (const cuda_submission *other = target->running; other; other = other->next)
    VYRE_TRY(CUDA_CALL(target, cuStreamWaitEvent, (submission->stream, other->end, 0), "waiting for an earlier sequence"));
  return VYRE_OK;
}

static vyre_status
follow_others(vyre_target *target, cuda_submission *submission)
{
  follower f = {.target = target, .submission = submission};
  if (target->has_addresses)
    VYRE_TRY(follow_all(target, submission));
  target_each_range(&submission->work.sequence, follow, &f);
  return f.status;
}

static void
remove_running(vyre_target *target, const cuda_submission *submission)
{
  cuda_submission **at = &target->running;
  while (*at && *at != submission)
    at = &(*at)->next;
  if (*at)
    *at = submission->next;
}

/* ---- submission and waiting ---------------------------------------------------------------------------------------------- */

static vyre_status
submit_next(vyre_target *target, cuda_submission *submission)
{
  const uint64_t begun = clock_now();
  if (!submission->work.is_first) /* the first commands have the shape from target_work_acquire */
    VYRE_TRY(cuda_shape_make(target, &submission->work));
  if (submission->work.is_first)
    cuda_stage_uploads(target, submission);
  if (submission->work.is_controlled)
    cuda_control_write(target, submission);
  VYRE_TRY(cuda_stamps_prepare(target, submission));
  VYRE_TRY(CUDA_CALL(target, cuEventRecord, (submission->start, submission->stream), "starting a sequence"));
  VYRE_TRY(cuda_enqueue(target, submission));
  VYRE_TRY(CUDA_CALL(target, cuEventRecord, (submission->end, submission->stream), "ending a sequence"));
  submission->work.is_first = false;
  submission->work.timing.batches++;
  submission->work.timing.record_ns += clock_now() - begun;
  return VYRE_OK;
}

/* Polls until the commands are done or the timeout has passed: CUDA has no wait with a timeout. */
static cuda_result
poll_end(const vyre_target *target, const cuda_submission *submission)
{
  const uint64_t begun = clock_now(), limit = (uint64_t)target->base.timeout * 1000000000u;
  const struct timespec pause = {.tv_nsec = 20000};
  cuda_result result = target->library.call.cuEventQuery(submission->end);
  while (result == CUDA_NOT_READY) {
    const uint64_t passed = clock_now() - begun;
    if (passed > limit)
      return CUDA_TIMEOUT;
    if (passed > 1000000) /* no sleep during the first millisecond */
      nanosleep(&pause, NULL);
    result = target->library.call.cuEventQuery(submission->end);
  }
  return result;
}

static vyre_status
wait_for(vyre_target *target, cuda_submission *submission)
{
  const uint64_t begun = clock_now();
  cuda_result result = target->base.timeout ? poll_end(target, submission) : CUDA_OK;
  const char *api = "cuEventQuery";
  target->base.hangs = target->base.hangs || result == CUDA_TIMEOUT;
  if (result == CUDA_OK) {
    api = "cuEventSynchronize";
    result = target->library.call.cuEventSynchronize(submission->end);
    submission->work.timing.waits++;
  }
  if (result != CUDA_OK)
    target->base.lost = true; /* the commands may still run, so their buffers must not be reused */
  submission->work.timing.wait_ns += clock_now() - begun;
  return cuda_status(target, result, api, "waiting for %u steps", submission->work.sequence.step_count);
}

/* Finds the position of the unfinished repeat, now that the commands are done. Returns false if there is none. */
static bool
find_next(cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    if (!repeat->until.buffer.id)
      continue;
    const vyre_repeat_end end = cuda_control_repeat(&submission->work, i);
    if (end.word == 0)
      continue;
    if (end.iterations == repeat->times)
      return false;
    submission->work.at = (target_position){repeat->first, i, end.iterations};
    return true;
  }
  return false;
}

/* Returns `status`. If it is an error, waits for commands that are already enqueued. */
static vyre_status
end_failed(vyre_target *target, const cuda_submission *submission, vyre_status status)
{
  if (!status || target->base.lost)
    return status;
  return vyre_status_join(status, CUDA_CALL(target, cuStreamSynchronize, (submission->stream), "ending a failed sequence"));
}

/* Handles the results of finished commands, and submits the rest of the sequence. */
static void
continue_sequence(vyre_target *target, cuda_submission *submission)
{
  vyre_status status = cuda_stamps_read(target, submission);
  if (!status)
    status = cuda_control_status(target, submission);
  if (!status && find_next(submission)) {
    status = end_failed(target, submission, submit_next(target, submission));
    if (!status)
      return;
  }
  submission->work.status = status;
  submission->work.is_done = true;
}

/* Waits for all commands of the sequence. A lost target makes no driver calls, and unfinished work stays unfinished. */
static vyre_status
complete(vyre_target *target, cuda_submission *submission)
{
  while (!submission->work.is_done && !target->base.lost) {
    VYRE_TRY(wait_for(target, submission));
    continue_sequence(target, submission);
  }
  return VYRE_OK;
}

/* Returns whether more commands may be submitted after a wait. Commands of a later submission must not run before them. */
static bool
may_continue(const vyre_target *target, const cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  bool may = false;
  for (uint32_t i = 0; i < sequence->repeat_count && !submission->work.is_done; i++)
    may = may || (sequence->repeats[i].until.buffer.id && sequence->repeats[i].times > target->most_iterations);
  return may;
}

/* ---- hooks --------------------------------------------------------------------------------------------------------------- */

/* Begins a sequence. After a failure, none of its commands run any more. */
vyre_status
cuda_begin(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out)
{
  for (cuda_submission *other = target->running; other; other = other->next)
    if (may_continue(target, other))
      VYRE_TRY(complete(target, other));
  VYRE_TRY(target_ready(target)); /* completing the other one may have lost the device */
  target_work *work;
  VYRE_TRY(target_work_acquire(target, sequence, is_begun, &work));
  cuda_submission *submission = cuda_submission_of(work);
  submission->number = ++target->numbers;
  vyre_status status = follow_others(target, submission);
  if (!status)
    status = submit_next(target, submission);
  status = end_failed(target, submission, status);
  if (status) {
    target_work_release(target, &submission->work);
    return status;
  }
  submission->next = target->running;
  target->running = submission;
  *out = work;
  return VYRE_OK;
}

vyre_status
cuda_poll(vyre_target *target, void *work, bool *out_done)
{
  cuda_submission *submission = work;
  if (!submission->work.is_done && !target->base.lost) {
    const cuda_result result = target->library.call.cuEventQuery(submission->end);
    if (result == CUDA_NOT_READY)
      return VYRE_OK;
    VYRE_TRY(cuda_status(target, result, "cuEventQuery", "polling %u steps", submission->work.sequence.step_count));
    VYRE_TRY(wait_for(target, submission));
    continue_sequence(target, submission);
  }
  *out_done = submission->work.is_done || target->base.lost; /* `wait` returns the error */
  return VYRE_OK;
}

vyre_status
cuda_complete(vyre_target *target, target_work *work)
{
  cuda_submission *submission = cuda_submission_of(work);
  vyre_status status = complete(target, submission);
  if (!status && work->is_done)
    status = target_work_status(work);
  else if (!status)
    status = VYRE_ERROR(VYRE_CODE_DEVICE,
                        "cuda: the device '%s' was lost before %u steps in flight were finished\n"
                        "Fix: recover the device, and submit the steps again",
                        target->base.info.name, work->sequence.step_count);
  remove_running(target, submission);
  return status;
}
