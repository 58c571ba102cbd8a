/* What a sequence needs while it runs: command buffer, fence, descriptors, staging, a copy of what it is.
 *
 * They stay for the next sequence, and grow when it needs more.  Several that were begun have one each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

/* ---- made and destroyed -------------------------------------------------------------------------------------------------- */

static vyre_status
fill_submission(vyre_target *target, vulkan_submission *submission)
{
  const struct VolkDeviceTable *call = &target->call;
  VkCommandPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
      .queueFamilyIndex = target->choice.queue_family,
  };
  VYRE_TRY(vulkan_status(target, call->vkCreateCommandPool(target->device, &pool, NULL, &submission->commands),
                         "vkCreateCommandPool", "for one sequence"));
  VkCommandBufferAllocateInfo command = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = submission->commands,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1,
  };
  VYRE_TRY(vulkan_status(target, call->vkAllocateCommandBuffers(target->device, &command, &submission->command),
                         "vkAllocateCommandBuffers", "for one sequence"));
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VYRE_TRY(vulkan_status(target, call->vkCreateFence(target->device, &fence, NULL, &submission->fence), "vkCreateFence",
                         "for one sequence"));
  if (!target->choice.timestamp_mask)
    return VYRE_OK;
  VkQueryPoolCreateInfo queries = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
      .queryType = VK_QUERY_TYPE_TIMESTAMP,
      .queryCount = 2,
  };
  return vulkan_status(target, call->vkCreateQueryPool(target->device, &queries, NULL, &submission->queries), "vkCreateQueryPool",
                       "for two timestamps");
}

static void
destroy_objects(vyre_target *target, vulkan_submission *submission)
{
  const struct VolkDeviceTable *call = &target->call;
  if (submission->descriptors)
    call->vkDestroyDescriptorPool(target->device, submission->descriptors, NULL);
  if (submission->queries)
    call->vkDestroyQueryPool(target->device, submission->queries, NULL);
  if (submission->fence)
    call->vkDestroyFence(target->device, submission->fence, NULL);
  if (submission->commands)
    call->vkDestroyCommandPool(target->device, submission->commands, NULL);
  vulkan_staging_destroy(target, &submission->up);
  vulkan_staging_destroy(target, &submission->down);
  vulkan_buffer_destroy(target, &submission->control);
}

static void
forget_sequence(const vyre_allocator *allocator, vulkan_submission *submission)
{
  if (submission->copy)
    target_resize(allocator, submission->copy, submission->copy_size, 0);
  vyre_status_free(submission->status);
  submission->copy = NULL;
  submission->status = VYRE_OK;
  submission->sequence = (vyre_sequence){0};
}

static void
destroy_submission(vyre_target *target, vulkan_submission *submission)
{
  const vyre_allocator *allocator = &target->base.allocator;
  vulkan_settle(target);
  if (!target->hangs)
    destroy_objects(target, submission);
  forget_sequence(allocator, submission);
  if (submission->sets)
    target_resize(allocator, submission->sets, sizeof *submission->sets * submission->set_capacity, 0);
  if (submission->first_sets)
    target_resize(allocator, submission->first_sets, sizeof *submission->first_sets * submission->step_capacity, 0);
  target_resize(allocator, submission, sizeof *submission, 0);
}

static vyre_status
make_submission(vyre_target *target, vulkan_submission **out)
{
  vulkan_submission *submission = target_resize(&target->base.allocator, NULL, 0, sizeof *submission);
  if (!submission)
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  *submission = (vulkan_submission){0};
  vyre_status status = fill_submission(target, submission);
  if (status)
    destroy_submission(target, submission);
  else
    *out = submission;
  return status;
}

void
vulkan_submission_give(vyre_target *target, vulkan_submission *submission)
{
  if (target->hangs) {
    destroy_submission(target, submission); /* its objects stay */
    return;
  }
  forget_sequence(&target->base.allocator, submission);
  submission->next = target->unused;
  target->unused = submission;
}

void
vulkan_submissions_destroy(vyre_target *target)
{
  while (target->unused) {
    vulkan_submission *submission = target->unused;
    target->unused = submission->next;
    destroy_submission(target, submission);
  }
}

/* ---- the sequence -------------------------------------------------------------------------------------------------------- */

static size_t
rounded(size_t size)
{
  return (size + 15u) & ~(size_t)15u;
}

/* The next `size` bytes of the copy, with what is there. */
static void *
place(vulkan_submission *submission, size_t *at, const void *from, size_t size)
{
  void *to = (char *)submission->copy + *at;
  *at += rounded(size);
  if (size)
    memcpy(to, from, size);
  return to;
}

/* Of fills and uploads nothing is needed once they are recorded. */
static vyre_status
copy_sequence(vyre_target *target, vulkan_submission *submission)
{
  vyre_sequence *sequence = &submission->sequence;
  const vyre_sequence from = *sequence;
  size_t size = 16 + rounded(sizeof *from.steps * from.step_count) + rounded(sizeof *from.reads * from.read_count) +
                rounded(sizeof *from.repeats * from.repeat_count);
  for (uint32_t i = 0; i < from.step_count; i++)
    size += rounded(sizeof(vyre_range) * from.steps[i].buffer_count) + rounded(from.steps[i].push_size);
  submission->copy = target_resize(&target->base.allocator, NULL, 0, size);
  if (!submission->copy)
    return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
  submission->copy_size = size;
  size_t at = 0;
  vyre_step *steps = place(submission, &at, from.steps, sizeof *from.steps * from.step_count);
  for (uint32_t i = 0; i < from.step_count; i++) {
    steps[i].buffers = place(submission, &at, from.steps[i].buffers, sizeof(vyre_range) * from.steps[i].buffer_count);
    steps[i].push = place(submission, &at, from.steps[i].push, from.steps[i].push_size);
  }
  sequence->steps = steps;
  sequence->reads = place(submission, &at, from.reads, sizeof *from.reads * from.read_count);
  sequence->repeats = place(submission, &at, from.repeats, sizeof *from.repeats * from.repeat_count);
  return VYRE_OK;
}

static uint64_t
size_of(const vyre_target *target, const vyre_range *range)
{
  return target_range_size(target_buffer_get(target, range->buffer), range);
}

static vulkan_plan
make_plan(const vyre_target *target, const vyre_sequence *sequence)
{
  vulkan_plan plan = {.first_controlled = UINT32_MAX};
  uint32_t controls = 0;
  for (uint32_t i = 0; i < sequence->upload_count; i++)
    plan.up_size += vulkan_padded(size_of(target, &sequence->uploads[i].range));
  for (uint32_t i = 0; i < sequence->read_count; i++)
    plan.down_size += vulkan_padded(size_of(target, &sequence->reads[i].range));
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    const vulkan_kernel *kernel = vulkan_kernel_get(target, sequence->steps[i].kernel);
    plan.sets += kernel->set_count;
    for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
      plan.kinds[kind] += kernel->kinds[kind];
    controls += sequence->steps[i].indirect.buffer.id != 0;
  }
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    if (!sequence->repeats[i].until.buffer.id)
      continue;
    if (plan.first_controlled == UINT32_MAX)
      plan.first_controlled = sequence->repeats[i].first;
    controls++;
  }
  plan.sets += controls;
  plan.kinds[VYRE_SLOT_STORAGE] += 2 * controls;
  plan.is_controlled = controls != 0;
  return plan;
}

/* ---- descriptors --------------------------------------------------------------------------------------------------------- */

static uint32_t
at_least(uint32_t wanted, uint32_t had)
{
  return wanted > had ? wanted : had;
}

/* An empty pool that is large enough for the plan; made anew when it is too small. */
static vyre_status
ensure_descriptors(vyre_target *target, vulkan_submission *submission)
{
  const vulkan_plan *plan = &submission->plan;
  if (plan->sets == 0)
    return VYRE_OK;
  bool fits = submission->descriptors && plan->sets <= submission->descriptor_sets;
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
    fits = fits && plan->kinds[kind] <= submission->descriptor_kinds[kind];
  if (fits)
    return vulkan_status(target, target->call.vkResetDescriptorPool(target->device, submission->descriptors, 0),
                         "vkResetDescriptorPool", "for %u descriptor sets", plan->sets);
  if (submission->descriptors)
    target->call.vkDestroyDescriptorPool(target->device, submission->descriptors, NULL);
  submission->descriptors = VK_NULL_HANDLE;
  submission->descriptor_sets = at_least(plan->sets, submission->descriptor_sets);
  VkDescriptorPoolSize sizes[VYRE_SLOT__COUNT];
  uint32_t size_count = 0;
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++) {
    submission->descriptor_kinds[kind] = at_least(plan->kinds[kind], submission->descriptor_kinds[kind]);
    if (submission->descriptor_kinds[kind] || kind == 0) /* a pool of nothing is none */
      sizes[size_count++] = (VkDescriptorPoolSize){vulkan_descriptor_type(kind), at_least(1, submission->descriptor_kinds[kind])};
  }
  VkDescriptorPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = submission->descriptor_sets,
      .poolSizeCount = size_count,
      .pPoolSizes = sizes,
  };
  return vulkan_status(target, target->call.vkCreateDescriptorPool(target->device, &info, NULL, &submission->descriptors),
                       "vkCreateDescriptorPool", "for %u descriptor sets", plan->sets);
}

static vyre_status
ensure_arrays(vyre_target *target, vulkan_submission *submission)
{
  const vyre_allocator *allocator = &target->base.allocator;
  const uint32_t sets = submission->plan.sets + submission->sequence.repeat_count, steps = submission->sequence.step_count + 1;
  if (sets > submission->set_capacity) {
    void *grown = target_resize(allocator, submission->sets, sizeof *submission->sets * submission->set_capacity,
                                sizeof *submission->sets * sets);
    if (!grown)
      return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
    submission->sets = grown;
    submission->set_capacity = sets;
  }
  if (steps > submission->step_capacity) {
    void *grown = target_resize(allocator, submission->first_sets, sizeof *submission->first_sets * submission->step_capacity,
                                sizeof *submission->first_sets * steps);
    if (!grown)
      return VYRE_OUT_OF_MEMORY("for a Vulkan submission");
    submission->first_sets = grown;
    submission->step_capacity = steps;
  }
  return VYRE_OK;
}

static vyre_status
allocate_set(vyre_target *target, const vulkan_submission *submission, const vulkan_kernel *kernel, uint32_t set,
             VkDescriptorSet *out)
{
  VkDescriptorSetAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = submission->descriptors,
      .descriptorSetCount = 1,
      .pSetLayouts = &kernel->sets[set],
  };
  return vulkan_status(target, target->call.vkAllocateDescriptorSets(target->device, &info, out), "vkAllocateDescriptorSets",
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
      range = (VkDescriptorBufferInfo){vulkan_buffer_get(target, given->buffer)->handle, given->offset, size_of(target, given)};
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

/* Sets are written once, however often their steps run. */
static vyre_status
write_sets(vyre_target *target, vulkan_submission *submission)
{
  const vyre_sequence *sequence = &submission->sequence;
  const vulkan_kernel *control = (const vulkan_kernel *)(const void *)target->control;
  uint32_t at = 0;
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    const vyre_step *step = &sequence->steps[i];
    const vulkan_kernel *kernel = vulkan_kernel_get(target, step->kernel);
    submission->first_sets[i] = at;
    for (uint32_t set = 0; set < kernel->set_count; set++, at++) {
      VYRE_TRY(allocate_set(target, submission, kernel, set, &submission->sets[at]));
      write_set(target, kernel, step, set, submission->sets[at]);
    }
    if (!step->indirect.buffer.id)
      continue;
    VYRE_TRY(allocate_set(target, submission, control, 0, &submission->sets[at]));
    vulkan_control_write_set(target, submission, &step->indirect, submission->sets[at++]);
  }
  submission->first_sets[sequence->step_count] = at;
  for (uint32_t i = 0; i < sequence->repeat_count; i++) {
    if (!sequence->repeats[i].until.buffer.id)
      continue;
    VYRE_TRY(allocate_set(target, submission, control, 0, &submission->sets[at + i]));
    vulkan_control_write_set(target, submission, &sequence->repeats[i].until, submission->sets[at + i]);
  }
  return VYRE_OK;
}

/* ---- taken --------------------------------------------------------------------------------------------------------------- */

static vyre_status
ensure_control(vyre_target *target, vulkan_submission *submission)
{
  VYRE_TRY(vulkan_control_ensure(target));
  const uint64_t size = vulkan_control_size(&submission->sequence);
  if (size <= submission->control.size)
    return VYRE_OK;
  vulkan_buffer_destroy(target, &submission->control);
  return vulkan_buffer_create(target, 2 * size,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &submission->control);
}

static vyre_status
prepare(vyre_target *target, const vyre_sequence *sequence, bool is_kept, vulkan_submission *submission)
{
  submission->sequence = *sequence;
  submission->at = (vulkan_position){0};
  submission->is_done = false;
  submission->timing = (vyre_timing){0};
  submission->plan = make_plan(target, sequence);
  if (is_kept)
    VYRE_TRY(copy_sequence(target, submission));
  if (submission->plan.is_controlled)
    VYRE_TRY(ensure_control(target, submission));
  const uint64_t control = submission->plan.is_controlled ? vulkan_control_read_size(sequence) : 0;
  VYRE_TRY(vulkan_staging_ensure(target, &submission->up, submission->plan.up_size, false));
  VYRE_TRY(vulkan_staging_ensure(target, &submission->down, submission->plan.down_size + control, true));
  VYRE_TRY(ensure_arrays(target, submission));
  VYRE_TRY(ensure_descriptors(target, submission));
  return write_sets(target, submission);
}

vyre_status
vulkan_submission_take(vyre_target *target, const vyre_sequence *sequence, bool is_kept, vulkan_submission **out)
{
  vulkan_submission *submission = target->unused;
  if (submission)
    target->unused = submission->next;
  else
    VYRE_TRY(make_submission(target, &submission));
  vyre_status status = prepare(target, sequence, is_kept, submission);
  if (status)
    vulkan_submission_give(target, submission);
  else
    *out = submission;
  return status;
}
