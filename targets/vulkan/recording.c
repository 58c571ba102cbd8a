/* The steps of a sequence as commands that are recorded once, and submitted again whenever the same steps come again.
 *
 * A recording is found by its shape: all that its commands depend on, word by word, so that two sequences of one shape are the same
 * commands.  What goes up and comes down is no part of it, and neither is what is in the buffers.  Descriptor sets are the
 * recording's own, written when it is made: a set for each step costs nothing afterwards, needs no extension, and keeps each step's
 * ranges where validation sees them.  A submission has a few recordings, and those that were not used for longest go.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

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
put(vulkan_shape *shape, uint64_t word)
{
  shape->words[shape->count++] = word;
}

static void
put_range(const vyre_target *target, vulkan_shape *shape, const vyre_range *range)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  put(shape, buffer ? ((const vulkan_buffer *)buffer->memory)->serial : 0);
  put(shape, range->offset);
  put(shape, buffer ? target_range_size(buffer, range) : 0);
}

static void
put_step(const vyre_target *target, vulkan_shape *shape, const vyre_step *step)
{
  put(shape, vulkan_kernel_get(target, step->kernel)->serial);
  for (uint32_t i = 0; i < 3; i++)
    put(shape, step->groups[i]);
  put(shape, step->beside);
  put_range(target, shape, &step->indirect);
  for (uint32_t i = 0; i < step->buffer_count; i++)
    put_range(target, shape, &step->buffers[i]);
  if (step->push_size) {
    const size_t words = words_of(step->push_size);
    shape->words[shape->count + words - 1] = 0;
    memcpy(&shape->words[shape->count], step->push, step->push_size);
    shape->count += (uint32_t)words;
  }
}

vyre_status
vulkan_shape_make(vyre_target *target, const vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  vulkan_shape *shape = &target->shape;
  const size_t count = count_words(sequence);
  if (count > UINT32_MAX ||
      !vyre_grow(&target->base.allocator, &shape->words, &shape->capacity, (uint32_t)count, sizeof *shape->words))
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  shape->count = 0;
  put(shape, submission->at.step);
  put(shape, (uint64_t)submission->at.repeat << 32 | submission->at.iteration);
  put(shape, (uint64_t)sequence->step_count << 32 | sequence->repeat_count);
  put(shape, sequence->step_ns != NULL);
  for (uint32_t i = 0; i < sequence->step_count; i++)
    put_step(target, shape, &sequence->steps[i]);
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    const vyre_repeat *repeat = &sequence->repeats[i];
    put(shape, (uint64_t)repeat->first << 32 | repeat->count);
    put(shape, repeat->times);
    put_range(target, shape, &repeat->until);
  }
  shape->hash = XXH3_64bits(shape->words, sizeof *shape->words * shape->count);
  return VYRE_OK;
}

void
vulkan_shape_free(vyre_target *target, vulkan_shape *shape)
{
  vyre_release(&target->base.allocator, shape->words, sizeof *shape->words * shape->capacity);
  *shape = (vulkan_shape){0};
}

static bool
is_of_shape(const vulkan_recording *recording, const vulkan_shape *shape)
{
  return recording->shape.hash == shape->hash && recording->shape.count == shape->count &&
         memcmp(recording->shape.words, shape->words, sizeof *shape->words * shape->count) == 0;
}

vulkan_recording *
vulkan_recording_find(const vyre_target *target, const vulkan_submission *submission)
{
  vulkan_recording *found = submission->recordings;
  while (found && !is_of_shape(found, &target->shape))
    found = found->next;
  return found;
}

/* ---- destroyed ----------------------------------------------------------------------------------------------------------- */

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

static void
destroy_recording(vyre_target *target, vulkan_recording *recording)
{
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_settle(target);
  if (!target->hangs)
    destroy_objects(target, recording);
  vulkan_hazards_free(&recording->needs);
  vulkan_hazards_free(&recording->left);
  vulkan_shape_free(target, &recording->shape);
  vyre_release(allocator, recording->commands, sizeof *recording->commands * recording->command_capacity);
  vyre_release(allocator, recording->stamped, sizeof *recording->stamped * recording->stamp_capacity);
  vyre_release(allocator, recording, sizeof *recording);
}

/* All from there on. */
static void
destroy_from(vyre_target *target, vulkan_recording **at)
{
  while (*at) {
    vulkan_recording *recording = *at;
    *at = recording->next;
    destroy_recording(target, recording);
  }
}

void
vulkan_recordings_destroy(vyre_target *target, vulkan_submission *submission)
{
  destroy_from(target, &submission->recordings);
}

/* ---- descriptors --------------------------------------------------------------------------------------------------------- */

/* Sets and descriptors of all steps and of what control.c looks at. */
static vyre_status
create_pool(vyre_target *target, const vulkan_submission *submission, VkDescriptorPool *out)
{
  const vyre_sequence *sequence = &submission->sequence;
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
    if (kinds[kind] || kind == 0) /* a pool of nothing is none */
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

/* Sets of steps in order, a step's own and then the one for its groups; then one for each repeat, of some nothing. */
static vyre_status
write_sets(vyre_target *target, vulkan_submission *submission, VkDescriptorPool pool)
{
  const vyre_sequence *sequence = &submission->sequence;
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

/* ---- recorded ------------------------------------------------------------------------------------------------------------ */

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
  submission->recorded_from = submission->at;
  for (bool is_first = true, more = true; more; is_first = false) {
    VkCommandBuffer command;
    VYRE_TRY(add_commands(target, recording, &command));
    VYRE_TRY(vulkan_record_begin(target, command, false, &recording->left));
    if (is_first) {
      vulkan_stamps_begin(target, recording);
      if (submission->is_controlled)
        vulkan_control_record_start(target, submission);
    }
    vulkan_record_steps(target, submission, recording, &launches, &more);
    VYRE_TRY(vulkan_record_end(target, submission));
  }
  recording->end = submission->at;
  return recording->needs.no_memory ? VYRE_OUT_OF_MEMORY("for the barriers of a Vulkan submission") : VYRE_OK;
}

static vyre_status
copy_shape(const vyre_target *target, vulkan_shape *out)
{
  *out = target->shape;
  out->capacity = out->count;
  out->words = vyre_take(&target->base.allocator, sizeof *out->words * out->count);
  if (!out->words)
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  memcpy(out->words, target->shape.words, sizeof *out->words * out->count);
  return VYRE_OK;
}

static vyre_status
make_recording(vyre_target *target, vulkan_submission *submission, vulkan_recording **out)
{
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_recording *recording = vyre_take(allocator, sizeof *recording);
  if (!recording)
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  vulkan_hazards_init(&recording->needs, allocator, NULL);
  vulkan_hazards_init(&recording->left, allocator, &recording->needs);
  vyre_status status = copy_shape(target, &recording->shape);
  if (!status)
    status = record(target, submission, recording);
  if (status)
    destroy_recording(target, recording);
  else
    *out = recording;
  return status;
}

vyre_status
vulkan_recording_take(vyre_target *target, vulkan_submission *submission)
{
  vulkan_recording *found = vulkan_recording_find(target, submission);
  if (found) {
    vulkan_recording **at = &submission->recordings;
    while (*at != found)
      at = &(*at)->next;
    *at = found->next;
    submission->at = found->end;
  } else {
    vulkan_recording **at = &submission->recordings;
    for (uint32_t i = 1; *at && i < VULKAN_MOST_RECORDINGS; i++)
      at = &(*at)->next;
    destroy_from(target, at);
    VYRE_TRY(make_recording(target, submission, &found));
    target->base.counters.recordings++;
  }
  found->next = submission->recordings;
  submission->recording = submission->recordings = found;
  return VYRE_OK;
}
