/* Records commands for a sequence's steps and repeats.
 *
 * limits: MOST_LAUNCHES of repeats with a fixed number of iterations before the host has to wait. A command buffer ends after
 * MOST_IN_COMMANDS launches or MOST_GROUPS workgroups, because drivers limit its run time. Each further command buffer is
 * another batch, without a wait.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

enum { MOST_LAUNCHES = 1 << 16, MOST_IN_COMMANDS = 1 << 12, MOST_GROUPS = 1 << 20 };

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

void
vulkan_uses(vyre_target *target, VkBuffer buffer, uint64_t first, uint64_t size, VkPipelineStageFlags stages, VkAccessFlags access)
{
  vulkan_hazards_use(target->hazards, buffer, first, size, stages, access);
}

void
vulkan_uses_range(vyre_target *target, const vyre_range *range, VkPipelineStageFlags stages, VkAccessFlags access)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  vulkan_uses(target, ((const vulkan_buffer *)buffer->memory)->handle, range->offset, target_range_size(buffer, range), stages,
              access);
}

void
vulkan_sync(vyre_target *target, bool is_beside)
{
  vulkan_hazards_sync(target->hazards, target->call.vkCmdPipelineBarrier, target->command, is_beside);
}

vyre_status
vulkan_record_begin(vyre_target *target, VkCommandBuffer command, bool is_once, vulkan_hazards *hazards)
{
  const VkCommandBufferBeginInfo begin = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      .flags = is_once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0,
  };
  target->command = command;
  target->hazards = hazards;
  return VULKAN_CALL(target, vkBeginCommandBuffer, (command, &begin), "to record a sequence");
}

vyre_status
vulkan_record_end(vyre_target *target, const vulkan_submission *submission)
{
  VYRE_TRY(VULKAN_CALL(target, vkEndCommandBuffer, (target->command), "for a sequence of %u steps",
                       submission->work.sequence.step_count));
  return target->hazards->no_memory ? VYRE_OUT_OF_MEMORY("for the barriers of a Vulkan submission") : VYRE_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

static void
use_buffers(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step)
{
  for (uint32_t i = 0; i < kernel->base.descriptor_count; i++) {
    const vulkan_descriptor *descriptor = &kernel->descriptors[i];
    const vyre_kernel_slot *slot = &kernel->base.slots[descriptor->slot];
    if (slot->kind > VYRE_SLOT_UNIFORM)
      continue;
    const VkAccessFlags access = slot->kind == VYRE_SLOT_UNIFORM ? VK_ACCESS_UNIFORM_READ_BIT
                                 : slot->is_read_only            ? VK_ACCESS_SHADER_READ_BIT
                                                                 : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    vulkan_uses_range(target, &step->buffers[descriptor->range], VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access);
  }
  if (kernel->has_addresses) /* the kernel may use any buffer */
    vulkan_uses(target, VK_NULL_HANDLE, 0, UINT64_MAX, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

/* Records a step. `may_be_beside`: the step before it is in the same iteration, or both are outside of repeats. */
static void
record_step(vyre_target *target, const vulkan_submission *submission, uint32_t index, bool may_be_beside)
{
  const struct VolkDeviceTable *call = &target->call;
  const vyre_step *step = &submission->work.sequence.steps[index];
  const vulkan_kernel *kernel = vulkan_kernel_get(target, step->kernel);
  const bool takes_groups = step->indirect.buffer.id != 0;
  const bool is_controlled = takes_groups || index >= submission->work.first_controlled;
  const bool is_beside = step->beside && may_be_beside && !takes_groups && !kernel->has_images;
  if (takes_groups)
    vulkan_control_record_prepare(target, submission, index);
  if (kernel->has_images)
    vulkan_record_images(target, kernel, step, true);
  use_buffers(target, kernel, step);
  vulkan_use_images(target, kernel);
  if (is_controlled)
    vulkan_control_use_groups(target, submission);
  vulkan_sync(target, is_beside);
  call->vkCmdBindPipeline(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
  for (uint32_t set = 0; set < kernel->set_count; set++)
    call->vkCmdBindDescriptorSets(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, set, 1,
                                  &submission->sets[submission->first_sets[index] + set], 0, NULL);
  if (step->push_size)
    call->vkCmdPushConstants(target->command, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, step->push_size, step->push);
  const bool is_empty = step->groups[0] == 0 || step->groups[1] == 0 || step->groups[2] == 0;
  if (is_controlled)
    call->vkCmdDispatchIndirect(target->command, submission->control.handle,
                                vulkan_control_groups(&submission->work.sequence, index));
  else if (!is_empty)
    call->vkCmdDispatch(target->command, step->groups[0], step->groups[1], step->groups[2]);
  if (kernel->has_images)
    vulkan_record_images(target, kernel, step, false);
}

/* The state while a command buffer of a recording is filled. */
typedef struct progress {
  vyre_target *target;
  vulkan_submission *submission;
  vulkan_recording *recording;
  uint64_t launches;                   /* in earlier command buffers */
  uint64_t launches_here, groups_here; /* in this command buffer */
} progress;

static void
add_step(progress *p, uint32_t index, bool may_be_beside)
{
  const vyre_step *step = &p->submission->work.sequence.steps[index];
  record_step(p->target, p->submission, index, may_be_beside);
  vulkan_stamp_step(p->target, p->recording, index);
  p->launches_here++;
  p->groups_here += (uint64_t)step->groups[0] * step->groups[1] * step->groups[2];
}

static void
add_iteration(progress *p, const vyre_repeat *repeat)
{
  for (uint32_t i = 0; i < repeat->count; i++)
    add_step(p, repeat->first + i, i > 0);
}

/* Records the next iteration of the current repeat and advances the position. Returns false if the host has to wait first. */
static bool
add_repeat(progress *p)
{
  target_position *at = &p->submission->work.at;
  const vyre_repeat *repeat = &p->submission->work.sequence.repeats[at->repeat];
  const bool has_until = repeat->until.buffer.id != 0;
  if (!has_until && p->launches + p->launches_here >= MOST_LAUNCHES) {
    p->recording->is_part = true;
    return false;
  }
  const uint32_t begun = p->submission->recorded_from.repeat == at->repeat ? p->submission->recorded_from.iteration : 0;
  const uint32_t left = repeat->times - begun, most = p->target->most_iterations,
                 end = begun + (has_until && left > most ? most : left);
  p->recording->is_part |= end != repeat->times;
  add_iteration(p, repeat);
  at->iteration++;
  /* All possible iterations up to a bound are recorded. The host checks whether more are needed. */
  if (has_until)
    vulkan_control_record_end(p->target, p->submission, at->repeat, at->iteration == end);
  if (at->iteration == end)
    *at = (target_position){repeat->first + repeat->count, at->repeat + 1, 0};
  return true;
}

void
vulkan_record_steps(vyre_target *target, vulkan_submission *submission, vulkan_recording *recording, uint64_t *launches,
                    bool *out_more)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  target_position *at = &submission->work.at;
  progress p = {target, submission, recording, *launches, 0, 0};
  bool may_be_beside = false;
  *out_more = false;
  while (at->step < sequence->step_count && !*out_more) {
    if (at->repeat == sequence->repeat_count || at->step != sequence->repeats[at->repeat].first) {
      add_step(&p, at->step++, may_be_beside);
      may_be_beside = true;
    } else {
      if (!add_repeat(&p))
        break;
      may_be_beside = false;
    }
    *out_more = at->step < sequence->step_count && (p.launches_here >= MOST_IN_COMMANDS || p.groups_here >= MOST_GROUPS);
  }
  *launches += p.launches_here;
}
