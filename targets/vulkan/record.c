/* A sequence as commands: fills, uploads, steps and their repeats, reads.
 *
 * Between the kinds of commands, and between steps that are not beside each other, there is a full memory barrier: each sees all
 * that came before, of earlier submissions too.
 *
 * limits: MOST_LAUNCHES of repeats with a fixed number of iterations in one command buffer; then there is another one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

enum { MOST_LAUNCHES = 1 << 16 };

void
vulkan_barrier(vyre_target *target, VkPipelineStageFlags to, VkAccessFlags access)
{
  VkMemoryBarrier memory = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT,
      .dstAccessMask = access,
  };
  target->call.vkCmdPipelineBarrier(target->command, VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, to, 0,
                                    1, &memory, 0, NULL, 0, NULL);
}

static void
copy_barrier(vyre_target *target)
{
  vulkan_barrier(target, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

/* ---- copies -------------------------------------------------------------------------------------------------------------- */

static void
record_fills(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    const vyre_range *range = &sequence->fills[i].range;
    const target_buffer *buffer = target_buffer_get(target, range->buffer);
    const uint64_t size = target_range_size(buffer, range);
    copy_barrier(target);
    target->call.vkCmdFillBuffer(target->command, ((vulkan_buffer *)buffer->memory)->handle, range->offset,
                                 (size + 3u) & ~(uint64_t)3u, sequence->fills[i].value);
    timing->bytes_filled += size;
  }
}

/* Copies between a range and its part of a staging buffer; returns the range's size. */
static uint64_t
record_copy(vyre_target *target, const vyre_range *range, const vulkan_staging *staging, uint64_t place, bool is_upload)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  const VkBuffer handle = ((vulkan_buffer *)buffer->memory)->handle;
  VkBufferCopy copy = {
      .srcOffset = is_upload ? place : range->offset,
      .dstOffset = is_upload ? range->offset : place,
      .size = target_range_size(buffer, range),
  };
  copy_barrier(target);
  target->call.vkCmdCopyBuffer(target->command, is_upload ? staging->buffer.handle : handle,
                               is_upload ? handle : staging->buffer.handle, 1, &copy);
  return copy.size;
}

static void
record_uploads(vyre_target *target, const vulkan_submission *submission, vyre_timing *timing)
{
  const vyre_sequence *sequence = &submission->sequence;
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    uint64_t size = record_copy(target, &sequence->uploads[i].range, &submission->up, place, true);
    memcpy((char *)submission->up.mapped + place, sequence->uploads[i].data, size);
    place += vulkan_padded(size);
    timing->bytes_up += size;
  }
}

static void
record_reads(vyre_target *target, const vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->read_count; i++)
    place += vulkan_padded(record_copy(target, &sequence->reads[i].range, &submission->down, place, false));
}

static void
record_control_read(vyre_target *target, const vulkan_submission *submission)
{
  VkBufferCopy copy = {.dstOffset = submission->plan.down_size, .size = vulkan_control_read_size(&submission->sequence)};
  copy_barrier(target);
  target->call.vkCmdCopyBuffer(target->command, submission->control.handle, submission->down.buffer.handle, 1, &copy);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* `may_be_beside`: the step before it is of the same repeat, or both are of none. */
static void
record_step(vyre_target *target, const vulkan_submission *submission, uint32_t index, bool may_be_beside)
{
  const struct VolkDeviceTable *call = &target->call;
  const vyre_sequence *sequence = &submission->sequence;
  const vyre_step *step = &sequence->steps[index];
  const vulkan_kernel *kernel = vulkan_kernel_get(target, step->kernel);
  const bool takes_groups = step->indirect.buffer.id != 0;
  const bool is_controlled = takes_groups || index >= submission->plan.first_controlled;
  if (takes_groups)
    vulkan_control_record_prepare(target, submission, index);
  if (kernel->has_images) {
    copy_barrier(target);
    vulkan_record_images(target, kernel, step, true);
  }
  if (!step->beside || !may_be_beside || takes_groups || kernel->has_images)
    vulkan_barrier(target, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | (is_controlled ? VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT : 0),
                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_UNIFORM_READ_BIT |
                       (is_controlled ? VK_ACCESS_INDIRECT_COMMAND_READ_BIT : 0));
  call->vkCmdBindPipeline(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
  for (uint32_t set = 0; set < kernel->set_count; set++)
    call->vkCmdBindDescriptorSets(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, set, 1,
                                  &submission->sets[submission->first_sets[index] + set], 0, NULL);
  if (step->push_size)
    call->vkCmdPushConstants(target->command, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, step->push_size, step->push);
  if (is_controlled)
    call->vkCmdDispatchIndirect(target->command, submission->control.handle, vulkan_control_groups(sequence, index));
  else
    call->vkCmdDispatch(target->command, step->groups[0], step->groups[1], step->groups[2]);
  if (kernel->has_images) {
    copy_barrier(target);
    vulkan_record_images(target, kernel, step, false);
  }
}

static void
record_iteration(vyre_target *target, const vulkan_submission *submission, const vyre_repeat *repeat)
{
  for (uint32_t i = 0; i < repeat->count; i++)
    record_step(target, submission, repeat->first + i, i > 0);
}

/* Iterations until a word is 0: as many as may come, up to a bound; the host looks whether that was enough. */
static void
record_until(vyre_target *target, vulkan_submission *submission, const vyre_repeat *repeat)
{
  vulkan_position *at = &submission->at;
  const uint32_t left = repeat->times - at->iteration;
  const uint32_t count = left < VULKAN_MOST_ITERATIONS ? left : VULKAN_MOST_ITERATIONS;
  for (uint32_t i = 0; i < count; i++) {
    record_iteration(target, submission, repeat);
    vulkan_control_record_end(target, submission, at->repeat, i + 1 == count);
  }
  at->iteration = repeat->times;
}

static void
record_steps(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  vulkan_position *at = &submission->at;
  uint64_t launches = 0;
  bool may_be_beside = false;
  while (at->step < sequence->step_count) {
    if (at->repeat == sequence->repeat_count || at->step != sequence->repeats[at->repeat].first) {
      record_step(target, submission, at->step++, may_be_beside);
      may_be_beside = true;
      continue;
    }
    const vyre_repeat *repeat = &sequence->repeats[at->repeat];
    if (repeat->until.buffer.id)
      record_until(target, submission, repeat);
    for (; at->iteration < repeat->times; at->iteration++, launches += repeat->count) {
      if (launches >= MOST_LAUNCHES)
        return;
      record_iteration(target, submission, repeat);
    }
    *at = (vulkan_position){repeat->first + repeat->count, at->repeat + 1, 0};
    may_be_beside = false;
  }
}

/* ---- command buffers ----------------------------------------------------------------------------------------------------- */

vyre_status
vulkan_record(vyre_target *target, vulkan_submission *submission)
{
  const struct VolkDeviceTable *call = &target->call;
  const vyre_sequence *sequence = &submission->sequence;
  const bool is_first = submission->timing.waits == 0;
  target->command = submission->command;
  VYRE_TRY(vulkan_status(target, call->vkResetCommandPool(target->device, submission->commands, 0), "vkResetCommandPool",
                         "to record a sequence"));
  VkCommandBufferBeginInfo begin = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
  };
  VYRE_TRY(
      vulkan_status(target, call->vkBeginCommandBuffer(target->command, &begin), "vkBeginCommandBuffer", "to record a sequence"));
  if (submission->queries) {
    call->vkCmdResetQueryPool(target->command, submission->queries, 0, 2);
    call->vkCmdWriteTimestamp(target->command, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, submission->queries, 0);
  }
  if (is_first) {
    record_fills(target, sequence, &submission->timing);
    record_uploads(target, submission, &submission->timing);
  }
  if (submission->plan.is_controlled)
    vulkan_control_record_start(target, submission);
  record_steps(target, submission);
  if (submission->at.step == sequence->step_count)
    record_reads(target, submission);
  if (submission->plan.is_controlled)
    record_control_read(target, submission);
  vulkan_barrier(target, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  if (submission->queries)
    call->vkCmdWriteTimestamp(target->command, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, submission->queries, 1);
  return vulkan_status(target, call->vkEndCommandBuffer(target->command), "vkEndCommandBuffer", "for a sequence of %u steps",
                       sequence->step_count);
}
