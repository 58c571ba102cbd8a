/* Device timestamps around each submission and, if requested, after each step.
 *
 * A step's time is the difference between its timestamp and the previous one. So it includes the wait for its dependencies, and the
 * times of all steps add up to the total. With VK_EXT_calibrated_timestamps, the start is also converted to the host's clock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

static uint64_t
nanoseconds(const vyre_target *target, uint64_t from, uint64_t to)
{
  const uint64_t ticks = (to - from) & target->choice.timestamp_mask;
  return (uint64_t)((double)ticks * (double)target->choice.limits.timestampPeriod);
}

void
vulkan_stamp(vyre_target *target, const vulkan_submission *submission, bool is_end)
{
  if (!submission->queries)
    return;
  if (!is_end)
    target->call.vkCmdResetQueryPool(target->command, submission->queries, 0, 2);
  target->call.vkCmdWriteTimestamp(target->command,
                                   is_end ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                   submission->queries, is_end);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

vyre_status
vulkan_stamps_prepare(vyre_target *target, const vulkan_submission *submission, vulkan_recording *recording)
{
  if (!submission->work.sequence.step_ns || !target->choice.timestamp_mask)
    return VYRE_OK;
  const uint64_t launches = target_sequence_launches(&submission->work.sequence, submission->work.at.step,
                                                     submission->work.at.repeat, target->most_iterations);
  if (launches > VULKAN_MOST_STAMPS)
    return VYRE_OK; /* the step times stay 0 */
  recording->query_count = (uint32_t)launches + 1;
  if (!vyre_grow(&target->base.allocator, &recording->stamped, &recording->stamp_capacity, recording->query_count,
                 sizeof *recording->stamped))
    return VYRE_OUT_OF_MEMORY("for the times of steps");
  const VkQueryPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
      .queryType = VK_QUERY_TYPE_TIMESTAMP,
      .queryCount = recording->query_count,
  };
  return VULKAN_CALL(target, vkCreateQueryPool, (target->device, &info, NULL, &recording->queries), "for %u timestamps",
                     recording->query_count);
}

void
vulkan_stamps_begin(vyre_target *target, const vulkan_recording *recording)
{
  if (!recording->queries)
    return;
  target->call.vkCmdResetQueryPool(target->command, recording->queries, 0, recording->query_count);
  target->call.vkCmdWriteTimestamp(target->command, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, recording->queries, 0);
}

void
vulkan_stamp_step(vyre_target *target, vulkan_recording *recording, uint32_t step)
{
  if (!recording->queries)
    return;
  recording->stamped[recording->stamp_count++] = step;
  target->call.vkCmdWriteTimestamp(target->command, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, recording->queries,
                                   recording->stamp_count);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static vyre_status
read_steps(vyre_target *target, const vulkan_submission *submission)
{
  const vulkan_recording *recording = submission->recording;
  if (!recording || !recording->queries)
    return VYRE_OK;
  const size_t count = (size_t)recording->stamp_count + 1, size = sizeof(uint64_t) * count;
  uint64_t *stamps = vyre_allocate(&target->base.allocator, size);
  if (!stamps)
    return VYRE_OUT_OF_MEMORY("for the times of steps");
  vyre_status status =
      VULKAN_CALL(target, vkGetQueryPoolResults,
                  (target->device, recording->queries, 0, (uint32_t)count, size, stamps, sizeof *stamps, VK_QUERY_RESULT_64_BIT),
                  "for %u timestamps", (uint32_t)count);
  for (uint32_t i = 0; i < recording->stamp_count && !status; i++)
    submission->work.step_ns[recording->stamped[i]] += nanoseconds(target, stamps[i], stamps[i + 1]);
  vyre_release(&target->base.allocator, stamps, size);
  return status;
}

/* Converts a timestamp to the host's clock. */
static vyre_status
host_time(vyre_target *target, uint64_t stamp, uint64_t *out)
{
  const VkCalibratedTimestampInfoEXT clocks[] = {
      {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
      {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
  uint64_t now[2], deviation;
  VYRE_TRY(VULKAN_CALL(target, vkGetCalibratedTimestampsEXT, (target->device, 2, clocks, now, &deviation),
                       "reading the device's and the host's clock"));
  *out = now[1] - nanoseconds(target, stamp, now[0]);
  return VYRE_OK;
}

vyre_status
vulkan_stamps_read(vyre_target *target, vulkan_submission *submission)
{
  if (!submission->queries)
    return VYRE_OK;
  uint64_t stamps[2];
  VYRE_TRY(VULKAN_CALL(target, vkGetQueryPoolResults,
                       (target->device, submission->queries, 0, 2, sizeof stamps, stamps, sizeof stamps[0], VK_QUERY_RESULT_64_BIT),
                       "for two timestamps"));
  submission->work.timing.device_ns += nanoseconds(target, stamps[0], stamps[1]);
  if (target->has_host_time && submission->work.timing.device_start_ns == 0)
    VYRE_TRY(host_time(target, stamps[0], &submission->work.timing.device_start_ns));
  return read_steps(target, submission);
}
