/* One sequence: checked whole, recorded into one command buffer, submitted once, waited for once.
 *
 * Between the kinds of commands, and between steps, there is a full memory barrier: each sees all that came before.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Results of the check, for the rest of the submission. */
typedef struct submit_plan {
  uint64_t up_size, down_size;            /* staging */
  uint32_t sets, kinds[VYRE_SLOT__COUNT]; /* descriptors */
} submit_plan;

static uint64_t
now_ns(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Sizes in staging buffers: multiples of 16 bytes. */
static uint64_t
padded(uint64_t size)
{
  return (size + 15u) & ~(uint64_t)15u;
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static vyre_status
check_fill(const vyre_target *target, const vyre_fill *fill, uint32_t index)
{
  vulkan_buffer *buffer;
  uint64_t size;
  VYRE_TRY(vulkan_range_get(target, &fill->range, "fill", index, &buffer, &size));
  if (fill->range.offset % 4 || (size % 4 && fill->range.offset + size != buffer->size))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: fill %u has offset %" PRIu64 " and size %" PRIu64 "\n"
                      "Fix: fill whole words: multiples of 4, or up to the buffer's end",
                      index, fill->range.offset, size);
  return VYRE_OK;
}

static vyre_status
check_binding(const vyre_target *target, const vulkan_kernel *kernel, const vulkan_descriptor *descriptor, const vyre_range *range)
{
  vulkan_buffer *buffer;
  uint64_t size;
  VYRE_TRY(vulkan_range_get(target, range, "buffer", descriptor->range, &buffer, &size));
  const vyre_kernel_slot *slot = &kernel->slots[descriptor->slot];
  if (vulkan_slot_has_images(slot->kind))
    return vulkan_check_texels(kernel, descriptor, range->offset, size);
  const vyre_device_info *info = &target->choice.info;
  bool is_uniform = slot->kind == VYRE_SLOT_UNIFORM;
  uint64_t limit = is_uniform ? info->max_uniform : info->max_storage;
  uint32_t align = is_uniform ? info->uniform_align : info->storage_align;
  if (size > limit)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: set %u binding %u is given %" PRIu64 " bytes, the device '%s' binds at most %" PRIu64
                      " as a %s buffer\n"
                      "Fix: use a smaller buffer, or another device",
                      slot->set, slot->binding, size, info->name, limit, is_uniform ? "uniform" : "storage");
  if (align && range->offset % align)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: set %u binding %u starts at byte %" PRIu64 " of its buffer, the device '%s' wants a multiple of %u\n"
                      "Fix: align the range, or give the kernel a buffer of its own",
                      slot->set, slot->binding, range->offset, info->name, align);
  return VYRE_OK;
}

static vyre_status
check_step(const vyre_target *target, const vyre_step *step, submit_plan *plan)
{
  const vulkan_kernel *kernel = vulkan_handles_get(&target->kernels, step->kernel.id);
  if (!kernel)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: %" PRIu64 " is no kernel of this target, or it was released\n"
                      "Fix: use what compile gave, until it is released",
                      step->kernel.id);
  if (step->buffer_count != kernel->range_count || step->push_size != kernel->push_size)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' takes %u buffers and %u bytes of push constants, and is given %u and %u\n"
                      "Fix: give one buffer for each descriptor but samplers, and all push constants",
                      kernel->label, kernel->range_count, kernel->push_size, step->buffer_count, step->push_size);
  for (uint32_t i = 0; i < kernel->descriptor_count; i++) {
    const vulkan_descriptor *descriptor = &kernel->descriptors[i];
    if (kernel->slots[descriptor->slot].kind != VYRE_SLOT_SAMPLER)
      VYRE_TRY(vyre_status_note(check_binding(target, kernel, descriptor, &step->buffers[descriptor->range]), "in kernel '%s'",
                                kernel->label));
  }
  for (uint32_t i = 0; i < 3; i++) {
    if (step->groups[i] > target->choice.info.max_groups[i])
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "vulkan: kernel '%s' is given %u workgroups in %c, the device '%s' allows %u\n"
                        "Fix: use fewer workgroups",
                        kernel->label, step->groups[i], "xyz"[i], target -> choice.info.name, target->choice.info.max_groups[i]);
  }
  plan->sets += kernel->set_count;
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
    plan->kinds[kind] += kernel->kinds[kind];
  return VYRE_OK;
}

static vyre_status
check_sequence(const vyre_target *target, const vyre_sequence *sequence, submit_plan *plan)
{
  vulkan_buffer *buffer;
  uint64_t size;
  for (uint32_t i = 0; i < sequence->fill_count; i++)
    VYRE_TRY(check_fill(target, &sequence->fills[i], i));
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    VYRE_TRY(vulkan_range_get(target, &sequence->uploads[i].range, "upload", i, &buffer, &size));
    plan->up_size += padded(size);
  }
  for (uint32_t i = 0; i < sequence->step_count; i++)
    VYRE_TRY(vyre_status_note(check_step(target, &sequence->steps[i], plan), "while looking at step %u", i));
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    VYRE_TRY(vulkan_range_get(target, &sequence->reads[i].range, "read", i, &buffer, &size));
    plan->down_size += padded(size);
  }
  return VYRE_OK;
}

/* ---- descriptors --------------------------------------------------------------------------------------------------------- */

static uint32_t
at_least(uint32_t wanted, uint32_t had)
{
  return wanted > had ? wanted : had;
}

/* An empty pool that is large enough for the plan; kept from one submission to the next, made anew when it is too small. */
static vyre_status
ensure_descriptors(vyre_target *target, const submit_plan *plan)
{
  if (plan->sets == 0)
    return VYRE_OK;
  bool fits = target->descriptors && plan->sets <= target->descriptor_sets;
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
    fits = fits && plan->kinds[kind] <= target->descriptor_kinds[kind];
  if (fits)
    return vulkan_status(target, target->call.vkResetDescriptorPool(target->device, target->descriptors, 0),
                         "vkResetDescriptorPool", "for %u descriptor sets", plan->sets);
  if (target->descriptors)
    target->call.vkDestroyDescriptorPool(target->device, target->descriptors, NULL);
  target->descriptors = VK_NULL_HANDLE;
  target->descriptor_sets = at_least(plan->sets, target->descriptor_sets);
  VkDescriptorPoolSize sizes[VYRE_SLOT__COUNT];
  uint32_t size_count = 0;
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++) {
    target->descriptor_kinds[kind] = at_least(plan->kinds[kind], target->descriptor_kinds[kind]);
    if (target->descriptor_kinds[kind] || kind == 0) /* a pool of nothing is none */
      sizes[size_count++] = (VkDescriptorPoolSize){vulkan_descriptor_type(kind), at_least(1, target->descriptor_kinds[kind])};
  }
  VkDescriptorPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = target->descriptor_sets,
      .poolSizeCount = size_count,
      .pPoolSizes = sizes,
  };
  return vulkan_status(target, target->call.vkCreateDescriptorPool(target->device, &info, NULL, &target->descriptors),
                       "vkCreateDescriptorPool", "for %u descriptor sets", plan->sets);
}

static void
write_set(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, uint32_t set, VkDescriptorSet handle)
{
  VkSampler sampler = VK_NULL_HANDLE;
  for (uint32_t i = 0; i < kernel->descriptor_count; i++) {
    const vulkan_descriptor *descriptor = &kernel->descriptors[i];
    const vyre_kernel_slot *slot = &kernel->slots[descriptor->slot];
    if (slot->set != set)
      continue;
    sampler = descriptor->element == 0 ? descriptor->sampler : sampler;
    VkDescriptorImageInfo image = {sampler, descriptor->image.view, VK_IMAGE_LAYOUT_GENERAL};
    VkDescriptorBufferInfo range = {0};
    if (slot->kind <= VYRE_SLOT_UNIFORM) {
      const vyre_range *given = &step->buffers[descriptor->range];
      const vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, given->buffer.id);
      range = (VkDescriptorBufferInfo){buffer->handle, given->offset, given->size ? given->size : buffer->size - given->offset};
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

/* ---- recording ----------------------------------------------------------------------------------------------------------- */

static void
barrier(vyre_target *target, VkPipelineStageFlags to, VkAccessFlags access)
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
record_fills(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  for (uint32_t i = 0; i < sequence->fill_count; i++) {
    const vyre_range *range = &sequence->fills[i].range;
    vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, range->buffer.id);
    uint64_t size = range->size ? range->size : buffer->size - range->offset;
    barrier(target, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    target->call.vkCmdFillBuffer(target->command, buffer->handle, range->offset, (size + 3u) & ~(uint64_t)3u,
                                 sequence->fills[i].value);
    timing->bytes_filled += size;
  }
}

/* Copies between a range and its part of a staging buffer; returns the range's size. */
static uint64_t
record_copy(vyre_target *target, const vyre_range *range, const vulkan_staging *staging, uint64_t place, bool is_upload)
{
  vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, range->buffer.id);
  uint64_t size = range->size ? range->size : buffer->size - range->offset;
  VkBufferCopy copy = {
      .srcOffset = is_upload ? place : range->offset,
      .dstOffset = is_upload ? range->offset : place,
      .size = size,
  };
  barrier(target, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
  target->call.vkCmdCopyBuffer(target->command, is_upload ? staging->buffer.handle : buffer->handle,
                               is_upload ? buffer->handle : staging->buffer.handle, 1, &copy);
  return size;
}

static void
record_uploads(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->upload_count; i++) {
    uint64_t size = record_copy(target, &sequence->uploads[i].range, &target->up, place, true);
    memcpy((char *)target->up.mapped + place, sequence->uploads[i].data, size);
    place += padded(size);
    timing->bytes_up += size;
  }
}

static void
record_images(vyre_target *target, const vulkan_kernel *kernel, const vyre_step *step, bool is_filled)
{
  barrier(target, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
  vulkan_record_images(target, kernel, step, is_filled);
}

static vyre_status
record_step(vyre_target *target, const vyre_step *step, vyre_timing *timing)
{
  const struct VolkDeviceTable *call = &target->call;
  vulkan_kernel *kernel = vulkan_handles_get(&target->kernels, step->kernel.id);
  if (kernel->has_images)
    record_images(target, kernel, step, true);
  barrier(target, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_UNIFORM_READ_BIT);
  call->vkCmdBindPipeline(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
  for (uint32_t set = 0; set < kernel->set_count; set++) {
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = target->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &kernel->sets[set],
    };
    VkDescriptorSet handle;
    VYRE_TRY(vulkan_status(target, call->vkAllocateDescriptorSets(target->device, &info, &handle), "vkAllocateDescriptorSets",
                           "for set %u of kernel '%s'", set, kernel->label));
    write_set(target, kernel, step, set, handle);
    call->vkCmdBindDescriptorSets(target->command, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, set, 1, &handle, 0, NULL);
  }
  if (step->push_size)
    call->vkCmdPushConstants(target->command, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, step->push_size, step->push);
  call->vkCmdDispatch(target->command, step->groups[0], step->groups[1], step->groups[2]);
  if (kernel->has_images)
    record_images(target, kernel, step, false);
  timing->launches++;
  return VYRE_OK;
}

static void
record_reads(vyre_target *target, const vyre_sequence *sequence)
{
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->read_count; i++)
    place += padded(record_copy(target, &sequence->reads[i].range, &target->down, place, false));
  barrier(target, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

static vyre_status
record(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  const struct VolkDeviceTable *call = &target->call;
  VYRE_TRY(vulkan_status(target, call->vkResetCommandPool(target->device, target->commands, 0), "vkResetCommandPool",
                         "to record a sequence"));
  VkCommandBufferBeginInfo begin = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
  };
  VYRE_TRY(
      vulkan_status(target, call->vkBeginCommandBuffer(target->command, &begin), "vkBeginCommandBuffer", "to record a sequence"));
  if (target->queries) {
    call->vkCmdResetQueryPool(target->command, target->queries, 0, 2);
    call->vkCmdWriteTimestamp(target->command, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, target->queries, 0);
  }
  record_fills(target, sequence, timing);
  record_uploads(target, sequence, timing);
  for (uint32_t i = 0; i < sequence->step_count; i++)
    VYRE_TRY(vyre_status_note(record_step(target, &sequence->steps[i], timing), "while recording step %u", i));
  record_reads(target, sequence);
  if (target->queries)
    call->vkCmdWriteTimestamp(target->command, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, target->queries, 1);
  return vulkan_status(target, call->vkEndCommandBuffer(target->command), "vkEndCommandBuffer", "for a sequence of %u steps",
                       sequence->step_count);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static vyre_status
run(vyre_target *target, vyre_timing *timing)
{
  const struct VolkDeviceTable *call = &target->call;
  VYRE_TRY(vulkan_status(target, call->vkResetFences(target->device, 1, &target->fence), "vkResetFences", "to submit a sequence"));
  VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &target->command,
  };
  VYRE_TRY(vulkan_status(target, call->vkQueueSubmit(target->queue, 1, &info, target->fence), "vkQueueSubmit",
                         "submitting %u kernels", timing->launches));
  timing->waits++;
  const uint64_t limit = target->timeout ? (uint64_t)target->timeout * 1000000000u : UINT64_MAX;
  VkResult result = call->vkWaitForFences(target->device, 1, &target->fence, VK_TRUE, limit);
  if (result != VK_SUCCESS)
    target->lost = true; /* what was submitted may still be running: its buffers may not be used again */
  target->hangs = result == VK_TIMEOUT;
  return vulkan_status(target, result, "vkWaitForFences", "waiting for %u kernels", timing->launches);
}

static vyre_status
read_timestamps(vyre_target *target, vyre_timing *timing)
{
  if (!target->queries)
    return VYRE_OK;
  uint64_t stamps[2];
  VYRE_TRY(vulkan_status(target,
                         target->call.vkGetQueryPoolResults(target->device, target->queries, 0, 2, sizeof stamps, stamps,
                                                            sizeof stamps[0], VK_QUERY_RESULT_64_BIT),
                         "vkGetQueryPoolResults", "for two timestamps"));
  uint64_t ticks = (stamps[1] - stamps[0]) & target->choice.timestamp_mask;
  timing->device_ns = (uint64_t)((double)ticks * (double)target->choice.limits.timestampPeriod);
  return VYRE_OK;
}

static void
copy_reads(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  uint64_t place = 0;
  for (uint32_t i = 0; i < sequence->read_count; i++) {
    const vyre_range *range = &sequence->reads[i].range;
    vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, range->buffer.id);
    uint64_t size = range->size ? range->size : buffer->size - range->offset;
    memcpy(sequence->reads[i].data, (const char *)target->down.mapped + place, size);
    place += padded(size);
    timing->bytes_down += size;
  }
}

static vyre_status
submit_checked(vyre_target *target, const vyre_sequence *sequence, const submit_plan *plan, vyre_timing *timing)
{
  VYRE_TRY(vulkan_staging_ensure(target, &target->up, plan->up_size, false));
  VYRE_TRY(vulkan_staging_ensure(target, &target->down, plan->down_size, true));
  VYRE_TRY(ensure_descriptors(target, plan));
  vyre_status status = record(target, sequence, timing);
  /* The driver does not run what the validation layer refuses. */
  VYRE_TRY(vulkan_take_messages(target->instance.messages, status));
  VYRE_TRY(run(target, timing));
  return read_timestamps(target, timing);
}

vyre_status
vulkan_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  vyre_timing own = {0};
  if (timing)
    *timing = own;
  uint64_t start = now_ns();
  uint32_t allocations = target->allocations;
  VYRE_TRY(vulkan_check_lost(target));
  submit_plan plan = {0};
  VYRE_TRY(check_sequence(target, sequence, &plan));
  vyre_status status = submit_checked(target, sequence, &plan, &own);
  VYRE_TRY(vulkan_take_messages(target->instance.messages, status));
  copy_reads(target, sequence, &own);
  own.allocations = target->allocations - allocations;
  own.host_ns = now_ns() - start;
  if (timing)
    *timing = own;
  return VYRE_OK;
}
