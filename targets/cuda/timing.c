/* Device times: events around the submitted commands, and after each step if step times are wanted.
 *
 * All times count from the first event. A step's time is the difference of two such times, so rounding errors cancel and the sum
 * of the steps does not exceed the whole.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

static uint64_t
nanoseconds(float milliseconds)
{
  return milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
}

static vyre_status
read_elapsed(vyre_target *target, const cuda_submission *submission, cuda_event event, uint64_t *out)
{
  float milliseconds = 0;
  VYRE_TRY(CUDA_CALL(target, cuEventElapsedTime, (&milliseconds, submission->start, event), "reading the time of a sequence"));
  *out = nanoseconds(milliseconds);
  return VYRE_OK;
}

vyre_status
cuda_stamps_prepare(vyre_target *target, cuda_submission *submission)
{
  submission->stamp_count = 0;
  submission->stamps_wanted = 0;
  if (!submission->work.sequence.step_ns)
    return VYRE_OK;
  const uint64_t launches = target_sequence_launches(&submission->work.sequence, submission->work.at.step,
                                                     submission->work.at.repeat, target->most_iterations);
  if (launches > CUDA_MOST_STAMPS)
    return VYRE_OK; /* step times stay 0 */
  submission->stamps_wanted = (uint32_t)launches + 1;
  if (!vyre_grow(&target->base.allocator, &submission->stamps, &submission->stamp_capacity, submission->stamps_wanted,
                 sizeof(cuda_event)) ||
      !vyre_grow(&target->base.allocator, &submission->stamped, &submission->stamped_capacity, submission->stamps_wanted,
                 sizeof(uint32_t)))
    return VYRE_OUT_OF_MEMORY("for the times of steps");
  while (submission->stamps_made < submission->stamps_wanted) {
    VYRE_TRY(CUDA_CALL(target, cuEventCreate, (&submission->stamps[submission->stamps_made], CUDA_EVENT_DEFAULT),
                       "for the times of %u launches", submission->stamps_wanted));
    submission->stamps_made++;
  }
  return VYRE_OK;
}

static vyre_status
record(vyre_target *target, cuda_submission *submission, uint32_t step)
{
  const uint32_t index = submission->stamp_count++;
  submission->stamped[index] = step;
  return CUDA_CALL(target, cuEventRecord, (submission->stamps[index], submission->stream), "for the time of step %u", step);
}

vyre_status
cuda_stamps_begin(vyre_target *target, cuda_submission *submission)
{
  return submission->stamps_wanted ? record(target, submission, UINT32_MAX) : VYRE_OK;
}

vyre_status
cuda_stamp_step(vyre_target *target, cuda_submission *submission, uint32_t step)
{
  return submission->stamps_wanted ? record(target, submission, step) : VYRE_OK;
}

vyre_status
cuda_stamps_read(vyre_target *target, cuda_submission *submission)
{
  uint64_t end, before = 0;
  VYRE_TRY(read_elapsed(target, submission, submission->end, &end));
  submission->work.timing.device_ns += end;
  for (uint32_t i = 0; i < submission->stamp_count; i++) {
    uint64_t now;
    VYRE_TRY(read_elapsed(target, submission, submission->stamps[i], &now));
    if (i)
      submission->work.step_ns[submission->stamped[i]] += now - before;
    before = now;
  }
  return VYRE_OK;
}

void
cuda_stamps_destroy(vyre_target *target, cuda_submission *submission)
{
  for (uint32_t i = 0; i < submission->stamps_made && !target->base.lost && !target->base.hangs; i++)
    target->library.call.cuEventDestroy_v2(submission->stamps[i]);
  submission->stamps_made = 0;
}
