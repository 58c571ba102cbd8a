/* Controlled steps, which depend on data on the device: repeats until a word is 0, and steps with group counts from a buffer.
 *
 * Controlled steps are dispatched indirectly with group counts from the submission's control buffer. A small kernel (control.comp)
 * runs between them and changes the counts. Before a step, the kernel copies counts from the step's buffer. After an iteration, the
 * kernel reads the word and counts the iteration. If the word is 0, the kernel sets its own counts and those of the repeat's steps
 * to 0. So the remaining recorded iterations do nothing. If the word is not 0 after the last recorded iteration, the kernel sets
 * the counts of all later steps to 0. The host detects that with the results. So a repeat costs one submission and one wait up to
 * the limit below.
 *
 * The control buffer, in words:
 *
 *     stopped | fault | launches | - | for each repeat: iterations, word, the kernel's groups | for each step: its groups
 *
 * limits: VULKAN_MOST_ITERATIONS of a repeat in one submission. Further iterations need another submission and wait.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include "control.inc"

#include <inttypes.h>
#include <string.h>

enum { STOPPED, FAULT, LAUNCHES, HEAD_WORDS = 4, REPEAT_WORDS = 5, GROUPS = 2, STEP_WORDS = 3, PREPARE = 0, END = 1 };

/* The push constants of control.comp. */
typedef struct control_task {
  uint32_t kind, from, state;
  uint32_t first, count, later, later_count;
  uint32_t is_last, step;
  uint32_t most[3];
} control_task;

static uint64_t
repeat_word(uint32_t repeat)
{
  return HEAD_WORDS + REPEAT_WORDS * (uint64_t)repeat;
}

static uint64_t
step_word(const vyre_sequence *sequence, uint32_t step)
{
  return repeat_word(sequence->repeat_count) + STEP_WORDS * (uint64_t)step;
}

uint64_t
vulkan_control_size(const vyre_sequence *sequence)
{
  return 4 * step_word(sequence, sequence->step_count);
}

uint64_t
vulkan_control_read_size(const vyre_sequence *sequence)
{
  return 4 * repeat_word(sequence->repeat_count);
}

uint64_t
vulkan_control_groups(const vyre_sequence *sequence, uint32_t step)
{
  return 4 * step_word(sequence, step);
}

vyre_status
vulkan_control_ensure(vyre_target *target)
{
  static const vyre_kernel_slot slots[] = {{.binding = 0, .kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}};
  if (target->control)
    return VYRE_OK;
  const vyre_kernel_desc desc = {
      .label = "control of the Vulkan target",
      .form = VYRE_KERNEL_SPIRV,
      .code = vulkan_control_words,
      .size = sizeof vulkan_control_words,
      .entry = "main",
      .workgroup = {64, 1, 1},
      .slots = slots,
      .slot_count = 2,
      .push_size = sizeof(control_task),
  };
  return vulkan_compile(target, &desc, &target->control);
}

/* ---- descriptors --------------------------------------------------------------------------------------------------------- */

/* Rounds an offset down to the alignment of bound buffers. The task's `from` has the remainder in words. */
static uint64_t
align_down(const vyre_target *target, uint64_t offset)
{
  const uint32_t align = target->base.info.storage_align;
  return align ? offset - offset % align : offset;
}

static VkDescriptorBufferInfo
bound_source(const vyre_target *target, const vyre_range *source)
{
  const uint64_t first = align_down(target, source->offset), end = source->offset + 12,
                 size = target_buffer_get(target, source->buffer)->size;
  return (VkDescriptorBufferInfo){vulkan_buffer_get(target, source->buffer)->handle, first, (end < size ? end : size) - first};
}

void
vulkan_control_write_set(vyre_target *target, const vulkan_submission *submission, const vyre_range *source, VkDescriptorSet set)
{
  const VkDescriptorBufferInfo ranges[] = {
      {submission->control.handle, 0, vulkan_control_size(&submission->work.sequence)},
      bound_source(target, source),
  };
  const VkWriteDescriptorSet write = {
      .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
      .dstSet = set,
      .dstBinding = 0,
      .descriptorCount = 1,
      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
      .pBufferInfo = &ranges[0],
  };
  VkWriteDescriptorSet writes[] = {write, write};
  writes[1].dstBinding = 1;
  writes[1].pBufferInfo = &ranges[1];
  target->call.vkUpdateDescriptorSets(target->device, 2, writes, 0, NULL);
}

/* ---- recording ----------------------------------------------------------------------------------------------------------- */

/* Records the initial values of words of the control buffer, in several updates because one may have at most 64 KiB. */
static void
record_words(vyre_target *target, const vulkan_submission *submission, uint64_t first, uint64_t end)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const uint64_t steps = step_word(sequence, 0);
  uint32_t words[1024];
  vulkan_uses(target, submission->control.handle, 4 * first, 4 * (end - first), VK_PIPELINE_STAGE_TRANSFER_BIT,
              VK_ACCESS_TRANSFER_WRITE_BIT);
  vulkan_sync(target, false);
  for (uint64_t at = first; at < end;) {
    uint32_t count = 0;
    const uint64_t from = at;
    for (; count < 1024 && at < end; at++, count++) {
      if (at < steps) /* the kernel's groups of each repeat are 1, 1, 1; the other words are 0 */
        words[count] = at >= HEAD_WORDS && (at - HEAD_WORDS) % REPEAT_WORDS >= GROUPS;
      else
        words[count] = sequence->steps[(at - steps) / STEP_WORDS].groups[(at - steps) % STEP_WORDS];
    }
    target->call.vkCmdUpdateBuffer(target->command, submission->control.handle, 4 * from, 4 * (VkDeviceSize)count, words);
  }
}

void
vulkan_control_record_start(vyre_target *target, const vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const target_position *at = &submission->work.at;
  const uint64_t end = step_word(sequence, sequence->step_count);
  if (at->step == 0 && at->iteration == 0) {
    record_words(target, submission, 0, end);
  } else if (at->repeat < sequence->repeat_count && sequence->repeats[at->repeat].until.buffer.id && at->iteration) {
    record_words(target, submission, STOPPED, STOPPED + 1); /* resumes the repeat and the steps after it */
    record_words(target, submission, step_word(sequence, at->step), end);
  }
}

static void
record_task(vyre_target *target, const vulkan_submission *submission, const vyre_range *source, VkDescriptorSet set,
            const control_task *task)
{
  const struct VolkDeviceTable *call = &target->call;
  const vulkan_kernel *kernel = (vulkan_kernel *)(void *)target->control;
  const VkDescriptorBufferInfo bound = bound_source(target, source);
  vulkan_uses(target, submission->control.handle, 0, vulkan_control_size(&submission->work.sequence),
              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  vulkan_uses(target, bound.buffer, bound.offset, bound.range, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
  if (task->state)
    vulkan_control_use_groups(target, submission);
  vulkan_sync(target, false);
  call->vkCmdBindPipeline(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
  call->vkCmdBindDescriptorSets(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set, 0, NULL);
  call->vkCmdPushConstants(target->command, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *task, task);
  if (task->state)
    call->vkCmdDispatchIndirect(target->command, submission->control.handle, 4 * ((uint64_t)task->state + GROUPS));
  else
    call->vkCmdDispatch(target->command, 1, 1, 1);
}

void
vulkan_control_use_groups(vyre_target *target, const vulkan_submission *submission)
{
  vulkan_uses(target, submission->control.handle, 0, vulkan_control_size(&submission->work.sequence),
              VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
}

static uint32_t
source_word(const vyre_target *target, const vyre_range *source)
{
  return (uint32_t)((source->offset - align_down(target, source->offset)) / 4);
}

void
vulkan_control_record_prepare(vyre_target *target, const vulkan_submission *submission, uint32_t index)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const vyre_step *step = &sequence->steps[index];
  control_task task = {
      .kind = PREPARE,
      .from = source_word(target, &step->indirect),
      .first = (uint32_t)step_word(sequence, index),
      .step = index + 1,
      .most = {step->groups[0], step->groups[1], step->groups[2]},
  };
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    if (repeat->until.buffer.id && index >= repeat->first && index - repeat->first < repeat->count)
      task.state = (uint32_t)repeat_word(i);
  }
  const uint32_t set_count = vulkan_kernel_get(target, step->kernel)->set_count;
  record_task(target, submission, &step->indirect, submission->sets[submission->first_sets[index] + set_count], &task);
}

void
vulkan_control_record_end(vyre_target *target, const vulkan_submission *submission, uint32_t index, bool is_last)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const vyre_repeat *repeat = &sequence->repeats[index];
  const uint32_t end = repeat->first + repeat->count;
  const control_task task = {
      .kind = END,
      .from = source_word(target, &repeat->until),
      .state = (uint32_t)repeat_word(index),
      .first = (uint32_t)step_word(sequence, repeat->first),
      .count = STEP_WORDS * repeat->count,
      .later = (uint32_t)step_word(sequence, end),
      .later_count = STEP_WORDS * (sequence->step_count - end),
      .is_last = is_last,
  };
  record_task(target, submission, &repeat->until, submission->sets[submission->first_sets[sequence->step_count] + index], &task);
}

/* ---- results ------------------------------------------------------------------------------------------------------------- */

static uint32_t
word_read(const target_work *work, uint64_t index)
{
  const vulkan_submission *submission = (const vulkan_submission *)(const void *)work;
  uint32_t word;
  memcpy(&word, (const char *)submission->down.mapped + submission->down_size + 4 * index, sizeof word);
  return word;
}

vyre_repeat_end
vulkan_control_repeat(const target_work *work, uint32_t repeat)
{
  const uint64_t word = repeat_word(repeat);
  return (vyre_repeat_end){word_read(work, word), word_read(work, word + 1)};
}

uint32_t
vulkan_control_launches(const target_work *work)
{
  return word_read(work, LAUNCHES);
}

vyre_status
vulkan_control_status(const vyre_target *target, const vulkan_submission *submission)
{
  const target_work *work = &submission->work;
  const uint32_t fault = work->is_controlled ? word_read(work, FAULT) : 0;
  if (fault == 0 || fault > work->sequence.step_count)
    return VYRE_OK;
  return target_too_many_groups(target, &work->sequence, fault - 1);
}
