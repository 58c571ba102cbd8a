/* Records the steps of a sequence once and submits the commands again for each sequence with the same steps.
 *
 * A recording is found by its shape, the words that determine its commands. Sequences with the same shape have the same commands.
 * The shape does not include fills, uploads, reads and contents of buffers. Each recording has its own descriptor sets, which are
 * written when it is made. A set for each step costs nothing later, needs no extension, and lets validation check each step's
 * ranges. A submission keeps a few recordings and removes the least recently used one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

/* ---- shapes -------------------------------------------------------------------------------------------------------------- */

enum { RANGE_WORDS = 3, STEP_WORDS = 5 + RANGE_WORDS, REPEAT_WORDS = 2 + RANGE_WORDS, SEQUENCE_WORDS = 4 };

static size_t
words_of(size_t bytes)
{
  return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static size_t
count_words(const vyre_sequence *sequence)
{
  size_t count = SEQUENCE_WORDS + (size_t)REPEAT_WORDS * sequence->repeat_count;
  for (uint32_t i = 0; i < sequence->step_count; i++)
    count += STEP_WORDS + (size_t)RANGE_WORDS * sequence->steps[i].buffer_count + words_of(sequence->steps[i].push_size);
  return count;
}

static void
put_range(vyre_target *target, const vyre_range *range)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  target_shape_put(target, buffer ? ((const vulkan_buffer *)buffer->memory)->serial : 0);
  target_shape_put(target, range->offset);
  target_shape_put(target, buffer ? target_range_size(buffer, range) : 0);
}

static void
put_step(vyre_target *target, const vyre_step *step)
{
  target_shape_put(target, vulkan_kernel_get(target, step->kernel)->serial);
  for (uint32_t i = 0; i < 3; i++)
    target_shape_put(target, step->groups[i]);
  target_shape_put(target, step->beside);
  put_range(target, &step->indirect);
  for (uint32_t i = 0; i < step->buffer_count; i++)
    put_range(target, &step->buffers[i]);
  target_shape_put_bytes(target, step->push, step->push_size);
}

vyre_status
vulkan_shape_make(vyre_target *target, const target_work *work)
{
  const vyre_sequence *sequence = &work->sequence;
  VYRE_TRY(target_shape_begin(target, count_words(sequence)));
  target_shape_put(target, work->at.step);
  target_shape_put(target, (uint64_t)work->at.repeat << 32 | work->at.iteration);
  target_shape_put(target, (uint64_t)sequence->step_count << 32 | sequence->repeat_count);
  target_shape_put(target, sequence->step_ns != NULL);
  for (uint32_t i = 0; i < sequence->step_count; i++)
    put_step(target, &sequence->steps[i]);
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    target_shape_put(target, (uint64_t)repeat->first << 32 | repeat->count);
    target_shape_put(target, repeat->times);
    put_range(target, &repeat->until);
  }
  target_shape_end(target);
  return VYRE_OK;
}

/* ---- destruction --------------------------------------------------------------------------------------------------------- */

static void
destroy_objects(vyre_target *target, vulkan_recording *recording)
{
  const struct VolkDeviceTable *call = &target->call;
  if (recording->descriptors)
    call->vkDestroyDescriptorPool(target->device, recording->descriptors, NULL);
  if (recording->queries)
    call->vkDestroyQueryPool(target->device, recording->queries, NULL);
  if (recording->pool)
    call->vkDestroyCommandPool(target->device, recording->pool, NULL);
}

void
vulkan_recording_destroy(vyre_target *target, target_recorded *recorded)
{
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_recording *recording = (vulkan_recording *)(void *)recorded;
  vulkan_settle(target);
  if (!target->base.hangs)
    destroy_objects(target, recording);
  vulkan_hazards_free(&recording->needs);
  vulkan_hazards_free(&recording->left);
  vyre_release(allocator, recording->commands, sizeof *recording->commands * recording->command_capacity);
  vyre_release(allocator, recording->stamped, sizeof *recording->stamped * recording->stamp_capacity);
}

/* ---- descriptors --------------------------------------------------------------------------------------------------------- */

/* Creates a descriptor pool with room for the sets of all steps and of the control kernel. */
static vyre_status
create_pool(vyre_target *target, const vulkan_submission *submission, VkDescriptorPool *out)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  uint32_t sets = 0, kinds[VYRE_SLOT__COUNT] = {0}, controls = 0, size_count = 0;
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    const vulkan_kernel *kernel = vulkan_kernel_get(target, sequence->steps[i].kernel);
    sets += kernel->set_count;
    for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
      kinds[kind] += kernel->kinds[kind];
    controls += sequence->steps[i].indirect.buffer.id != 0;
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++)
    controls += sequence->repeats[i].until.buffer.id != 0;
  sets += controls;
  kinds[VYRE_SLOT_STORAGE] += 2 * controls;
  if (sets == 0)
    return VYRE_OK;
  VkDescriptorPoolSize sizes[VYRE_SLOT__COUNT];
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
    if (kinds[kind] || kind == 0) /* a pool must have at least one descriptor */
      sizes[size_count++] = (VkDescriptorPoolSize){vulkan_descriptor_type(kind), kinds[kind] ? kinds[kind] : 1};
  const VkDescriptorPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = sets,
      .poolSizeCount = size_count,
      .pPoolSizes = sizes,
  };
  return VULKAN_CALL(target, vkCreateDescriptorPool, (target->device, &info, NULL, out), "for %u descriptor sets", sets);
}

static vyre_status
add_set(vyre_target *target, vulkan_submission *submission, VkDescriptorPool pool, const vulkan_kernel *kernel, uint32_t set,
        uint32_t *at)
{
  if (!vyre_grow(&target->base.allocator, &submission->sets, &submission->set_capacity, *at + 1, sizeof *submission->sets))
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  const VkDescriptorSetAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = pool,
      .descriptorSetCount = 1,
      .pSetLayouts = &kernel->sets[set],
  };
  return VULKAN_CALL(target, vkAllocateDescriptorSets, (target->device, &info, &submission->sets[(*at)++]),
                     "for set %u of kernel '%s'", set, kernel->base.label);
}

static void
write_set(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, uint32_t set, VkDescriptorSet handle)
{
  VkSampler sampler = VK_NULL_HANDLE;
  for (uint32_t i = 0; i < kernel->base.descriptor_count; i++) {
    const vulkan_descriptor *descriptor = &kernel->descriptors[i];
    const vyre_kernel_slot *slot = &kernel->base.slots[descriptor->slot];
    if (slot->set != set)
      continue;
    sampler = descriptor->element == 0 ? descriptor->sampler : sampler;
    VkDescriptorImageInfo image = {sampler, descriptor->image.view, VK_IMAGE_LAYOUT_GENERAL};
    VkDescriptorBufferInfo range = {0};
    if (slot->kind <= VYRE_SLOT_UNIFORM) {
      const vyre_range *given = &step->buffers[descriptor->range];
      const target_buffer *buffer = target_buffer_get(target, given->buffer);
      range = (VkDescriptorBufferInfo){((const vulkan_buffer *)buffer->memory)->handle, given->offset,
                                       target_range_size(buffer, given)};
    }
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = handle,
        .dstBinding = slot->binding,
        .dstArrayElement = descriptor->element,
        .descriptorCount = 1,
        .descriptorType = vulkan_descriptor_type(slot->kind),
        .pImageInfo = &image,
        .pBufferInfo = &range,
        .pTexelBufferView = &descriptor->image.texel_view,
    };
    target->call.vkUpdateDescriptorSets(target->device, 1, &write, 0, NULL);
  }
}

/* Allocates and writes the sets of each step in order, with the set for its indirect groups last. An element for each repeat
 * follows, which is unset without `until`. */
static vyre_status
write_sets(vyre_target *target, vulkan_submission *submission, VkDescriptorPool pool)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const vulkan_kernel *control = (const vulkan_kernel *)(const void *)target->control;
  uint32_t at = 0;
  if (!vyre_grow(&target->base.allocator, &submission->first_sets, &submission->step_capacity, sequence->step_count + 1,
                 sizeof *submission->first_sets))
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    const vyre_step *step = &sequence->steps[i];
    const vulkan_kernel *kernel = vulkan_kernel_get(target, step->kernel);
    submission->first_sets[i] = at;
    for (uint32_t set = 0; set < kernel->set_count; set++) {
      VYRE_TRY(add_set(target, submission, pool, kernel, set, &at));
      write_set(target, kernel, step, set, submission->sets[at - 1]);
    }
    if (!step->indirect.buffer.id)
      continue;
    VYRE_TRY(add_set(target, submission, pool, control, 0, &at));
    vulkan_control_write_set(target, submission, &step->indirect, submission->sets[at - 1]);
  }
  submission->first_sets[sequence->step_count] = at;
  if (!vyre_grow(&target->base.allocator, &submission->sets, &submission->set_capacity, at + sequence->repeat_count,
                 sizeof *submission->sets))
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    uint32_t place = at + i;
    if (!sequence->repeats[i].until.buffer.id)
      continue;
    VYRE_TRY(add_set(target, submission, pool, control, 0, &place));
    vulkan_control_write_set(target, submission, &sequence->repeats[i].until, submission->sets[place - 1]);
  }
  return VYRE_OK;
}

/* ---- recording ----------------------------------------------------------------------------------------------------------- */

static vyre_status
add_commands(vyre_target *target, vulkan_recording *recording, VkCommandBuffer *out)
{
  if (!vyre_grow(&target->base.allocator, &recording->commands, &recording->command_capacity, recording->command_count + 1,
                 sizeof *recording->commands))
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  const VkCommandBufferAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = recording->pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1,
  };
  VYRE_TRY(VULKAN_CALL(target, vkAllocateCommandBuffers, (target->device, &info, out), "for the steps of a sequence"));
  recording->commands[recording->command_count++] = *out;
  return VYRE_OK;
}

static vyre_status
record(vyre_target *target, vulkan_submission *submission, vulkan_recording *recording)
{
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = target->choice.queue_families[VULKAN_COMPUTE]};
  uint64_t launches = 0;
  VYRE_TRY(create_pool(target, submission, &recording->descriptors));
  VYRE_TRY(write_sets(target, submission, recording->descriptors));
  VYRE_TRY(vulkan_stamps_prepare(target, submission, recording));
  VYRE_TRY(
      VULKAN_CALL(target, vkCreateCommandPool, (target->device, &pool, NULL, &recording->pool), "for the steps of a sequence"));
  submission->recorded_from = submission->work.at;
  for (bool is_first = true, more = true; more; is_first = false) {
    VkCommandBuffer command;
    VYRE_TRY(add_commands(target, recording, &command));
    VYRE_TRY(vulkan_record_begin(target, command, false, &recording->left));
    if (is_first) {
      vulkan_stamps_begin(target, recording);
      if (submission->work.is_controlled)
        vulkan_control_record_start(target, submission);
    }
    vulkan_record_steps(target, submission, recording, &launches, &more);
    VYRE_TRY(vulkan_record_end(target, submission));
  }
  recording->end = submission->work.at;
  return recording->needs.no_memory ? VYRE_OUT_OF_MEMORY("for the barriers of a Vulkan submission") : VYRE_OK;
}

static vyre_status
make_recording(vyre_target *target, vulkan_submission *submission, target_recorded **out)
{
  VYRE_TRY(target_recorded_make(target, &submission->work, out));
  vulkan_recording *recording = (vulkan_recording *)(void *)*out;
  vulkan_hazards_init(&recording->needs, &target->base.allocator, NULL);
  vulkan_hazards_init(&recording->left, &target->base.allocator, &recording->needs);
  vyre_status status = record(target, submission, recording);
  if (status)
    target_recorded_destroy(target, *out);
  return status;
}

vyre_status
vulkan_recording_acquire(vyre_target *target, vulkan_submission *submission)
{
  target_recorded *found = target_recorded_find(&target->base, &submission->work);
  if (!found) {
    VYRE_TRY(make_recording(target, submission, &found));
    target->base.counters.recordings++;
  }
  target_recorded_use(&submission->work, found);
  submission->recording = (vulkan_recording *)(void *)found;
  submission->work.at = submission->recording->end;
  return VYRE_OK;
}
