/* A sequence runs: recorded into one command buffer, submitted once, waited for once.  Only repeats of very many iterations take
 * more of each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

/* ---- results ------------------------------------------------------------------------------------------------------------- */

/* Where the steps ended: after the first repeat whose word did not become 0. */
static uint32_t
find_end(const vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    if (sequence->repeats[i].until.buffer.id && vulkan_control_repeat(submission, i).word != 0)
      return sequence->repeats[i].first + sequence->repeats[i].count;
  }
  return sequence->step_count;
}

static vyre_repeat_end
end_of(const vulkan_submission *submission, uint32_t index, uint32_t end)
{
  const vyre_repeat *repeat = &submission->sequence.repeats[index];
  if (repeat->until.buffer.id)
    return vulkan_control_repeat(submission, index);
  return (vyre_repeat_end){repeat->first < end ? repeat->times : 0, 0};
}

/* Those of steps that took their groups from a buffer were counted on the device. */
static uint32_t
count_launches(const vulkan_submission *submission, uint32_t end)
{
  const vyre_sequence *sequence = &submission->sequence;
  uint32_t launches = submission->plan.is_controlled ? vulkan_control_launches(submission) : 0;
  uint32_t repeat = 0;
  for (uint32_t i = 0; i < end; i++) {
    const vyre_step *step = &sequence->steps[i];
    while (repeat < sequence->repeat_count && i >= sequence->repeats[repeat].first + sequence->repeats[repeat].count)
      repeat++;
    const bool repeats = repeat < sequence->repeat_count && i >= sequence->repeats[repeat].first;
    if (!step->indirect.buffer.id && step->groups[0] && step->groups[1] && step->groups[2])
      launches += repeats ? end_of(submission, repeat, end).iterations : 1;
  }
  return launches;
}

static void
copy_results(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  vyre_timing *timing = &submission->timing;
  const uint32_t end = find_end(submission);
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    const vyre_range *range = &sequence->reads[i].range;
    const uint64_t size = target_range_size(target_buffer_get(target, range->buffer), range);
    memcpy(sequence->reads[i].data, (const char *)submission->down.mapped + place, size);
    place += vulkan_padded(size);
    timing->bytes_down += size;
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    sequence->ends[i] = end_of(submission, i, end);
    timing->bytes_down += sizeof sequence->ends[i];
  }
  timing->launches = count_launches(submission, end);
}

static vyre_status
read_timestamps(vyre_target *target, vulkan_submission *submission)
{
  if (!submission->queries)
    return VYRE_OK;
  uint64_t stamps[2];
  VYRE_TRY(vulkan_status(target,
                         target->call.vkGetQueryPoolResults(target->device, submission->queries, 0, 2, sizeof stamps, stamps,
                                                            sizeof stamps[0], VK_QUERY_RESULT_64_BIT),
                         "vkGetQueryPoolResults", "for two timestamps"));
  uint64_t ticks = (stamps[1] - stamps[0]) & target->choice.timestamp_mask;
  submission->timing.device_ns += (uint64_t)((double)ticks * (double)target->choice.limits.timestampPeriod);
  return VYRE_OK;
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* Records and submits what comes next. */
static vyre_status
submit_next(vyre_target *target, vulkan_submission *submission)
{
  const struct VolkDeviceTable *call = &target->call;
  vyre_status status = vulkan_record(target, submission);
  /* The driver does not run what the validation layer refuses. */
  VYRE_TRY(vulkan_take_messages(target->instance.messages, status));
  VYRE_TRY(
      vulkan_status(target, call->vkResetFences(target->device, 1, &submission->fence), "vkResetFences", "to submit a sequence"));
  VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &submission->command,
  };
  VYRE_TRY(vulkan_status(target, call->vkQueueSubmit(target->queue, 1, &info, submission->fence), "vkQueueSubmit",
                         "submitting %u steps", submission->sequence.step_count));
  submission->timing.waits++;
  return VYRE_OK;
}

/* Where what is left begins, now that what was submitted is done.  False: nothing is left. */
static bool
find_next(vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  vulkan_position *at = &submission->at;
  for (uint32_t i = 0; submission->plan.is_controlled && i < sequence->repeat_count; i++) {
    const vyre_repeat_end end = vulkan_control_repeat(submission, i);
    if (end.word == 0)
      continue;
    if (end.iterations < sequence->repeats[i].times) {
      *at = (vulkan_position){sequence->repeats[i].first, i, end.iterations};
      return true;
    }
    if (at->step == sequence->step_count)
      return false;
    *at = (vulkan_position){sequence->step_count, sequence->repeat_count, 0}; /* the reads are left */
    return true;
  }
  return at->step != sequence->step_count;
}

/* What was submitted is done: submits what is left. */
static void
go_on(vyre_target *target, vulkan_submission *submission)
{
  vyre_status status = read_timestamps(target, submission);
  if (!status)
    status = vulkan_control_status(target, submission);
  if (!status && find_next(submission)) {
    status = submit_next(target, submission);
    if (!status)
      return;
  }
  submission->status = status;
  submission->is_done = true;
}

static vyre_status
wait_for(vyre_target *target, vulkan_submission *submission)
{
  const uint64_t limit = target->timeout ? (uint64_t)target->timeout * 1000000000u : UINT64_MAX;
  VkResult result = target->call.vkWaitForFences(target->device, 1, &submission->fence, VK_TRUE, limit);
  if (result != VK_SUCCESS)
    target->base.lost = true; /* what was submitted may still be running: its buffers may not be used again */
  target->hangs = target->hangs || result == VK_TIMEOUT;
  return vulkan_status(target, result, "vkWaitForFences", "waiting for %u steps", submission->sequence.step_count);
}

static vyre_status
start(vyre_target *target, const vyre_sequence *sequence, bool is_kept, vulkan_submission **out)
{
  vulkan_submission *submission = *out = NULL;
  vyre_status status = vulkan_submission_take(target, sequence, is_kept, &submission);
  if (status)
    return vulkan_take_messages(target->instance.messages, status);
  status = submit_next(target, submission);
  status = vulkan_take_messages(target->instance.messages, status);
  if (status)
    vulkan_submission_give(target, submission);
  else
    *out = submission;
  return status;
}

vyre_status
vulkan_start(vyre_target *target, const vyre_sequence *sequence, void **out)
{
  vulkan_submission *submission;
  VYRE_TRY(start(target, sequence, true, &submission));
  *out = submission;
  return VYRE_OK;
}

vyre_status
vulkan_poll(vyre_target *target, void *work, bool *out_done)
{
  vulkan_submission *submission = work;
  if (!submission->is_done) {
    VkResult result = target->call.vkGetFenceStatus(target->device, submission->fence);
    if (result == VK_NOT_READY)
      return VYRE_OK;
    VYRE_TRY(vulkan_status(target, result, "vkGetFenceStatus", "asking for %u steps", submission->sequence.step_count));
    go_on(target, submission);
  }
  *out_done = submission->is_done;
  return VYRE_OK;
}

vyre_status
vulkan_finish(vyre_target *target, void *work, vyre_timing *timing)
{
  vulkan_submission *submission = work;
  vyre_status status = VYRE_OK;
  while (!status && !submission->is_done && !target->hangs) {
    status = wait_for(target, submission);
    if (!status)
      go_on(target, submission);
  }
  if (!status && submission->is_done) {
    status = submission->status;
    submission->status = VYRE_OK;
  } else if (!status)
    status = VYRE_ERROR(VYRE_CODE_DEVICE, "vulkan: the device '%s' does not finish what was submitted earlier\nFix: recover it",
                        target->base.info.name);
  status = vulkan_take_messages(target->instance.messages, status);
  if (!status)
    copy_results(target, submission);
  timing->waits = submission->timing.waits;
  timing->launches = submission->timing.launches;
  timing->bytes_up = submission->timing.bytes_up;
  timing->bytes_down = submission->timing.bytes_down;
  timing->bytes_filled = submission->timing.bytes_filled;
  timing->device_ns = submission->timing.device_ns;
  vulkan_submission_give(target, submission);
  return status;
}

vyre_status
vulkan_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  vulkan_submission *submission;
  VYRE_TRY(start(target, sequence, false, &submission));
  return vulkan_finish(target, submission, timing);
}
