/* Buffers of a device, and the staging buffers that everything goes up and down through.
 *
 * A buffer is an allocation of its own.  Staging is one path for every device: where the host sees device memory it costs a copy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

/* ---- Vulkan buffers ------------------------------------------------------------------------------------------------------ */

/* The first memory type among `types` with all of `needed`, and with all of `liked` too if there is one.  UINT32_MAX: none. */
static uint32_t
find_memory(const vyre_target *target, uint32_t types, VkMemoryPropertyFlags needed, VkMemoryPropertyFlags liked)
{
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < target->memory.memoryTypeCount; i++) {
    VkMemoryPropertyFlags has = target->memory.memoryTypes[i].propertyFlags;
    if (!(types >> i & 1u) || (has & needed) != needed)
      continue;
    if ((has & liked) == liked)
      return i;
    if (found == UINT32_MAX)
      found = i;
  }
  return found;
}

vyre_status
vulkan_memory_allocate(vyre_target *target, const VkMemoryRequirements *needs, VkMemoryPropertyFlags needed,
                       VkMemoryPropertyFlags liked, uint64_t size, VkDeviceMemory *out)
{
  uint32_t type = find_memory(target, needs->memoryTypeBits, needed, liked);
  if (type == UINT32_MAX)
    return vulkan_status(target, VK_ERROR_FEATURE_NOT_PRESENT, "vkAllocateMemory", "no memory type fits %" PRIu64 " bytes", size);
  VkMemoryAllocateFlagsInfo flags = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .flags = target->features.v12.bufferDeviceAddress ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0,
  };
  VkMemoryAllocateInfo memory = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .pNext = &flags,
      .allocationSize = needs->size,
      .memoryTypeIndex = type,
  };
  target->base.counters.allocations++;
  return vulkan_status(target, target->call.vkAllocateMemory(target->device, &memory, NULL, out), "vkAllocateMemory",
                       "asking for %" PRIu64 " bytes", size);
}

void
vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer)
{
  vulkan_settle(target);
  if (target->hangs)
    return; /* it may be written still */
  if (buffer->handle)
    target->call.vkDestroyBuffer(target->device, buffer->handle, NULL);
  if (buffer->memory)
    target->call.vkFreeMemory(target->device, buffer->memory, NULL);
  *buffer = (vulkan_buffer){0};
}

static vyre_status
fill_buffer(vyre_target *target, uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags needed, VkMemoryPropertyFlags liked,
            vulkan_buffer *buffer)
{
  const struct VolkDeviceTable *call = &target->call;
  VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = (size + 3u) & ~(uint64_t)3u,
      .usage = usage,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
  };
  VYRE_TRY(vulkan_status(target, call->vkCreateBuffer(target->device, &info, NULL, &buffer->handle), "vkCreateBuffer",
                         "asking for %" PRIu64 " bytes", size));
  VkMemoryRequirements needs;
  call->vkGetBufferMemoryRequirements(target->device, buffer->handle, &needs);
  VYRE_TRY(vulkan_memory_allocate(target, &needs, needed, liked, size, &buffer->memory));
  VYRE_TRY(vulkan_status(target, call->vkBindBufferMemory(target->device, buffer->handle, buffer->memory, 0), "vkBindBufferMemory",
                         "for a buffer of %" PRIu64 " bytes", size));
  buffer->size = size;
  return VYRE_OK;
}

vyre_status
vulkan_buffer_create(vyre_target *target, uint64_t size, VkBufferUsageFlags usage, VkMemoryPropertyFlags needed,
                     VkMemoryPropertyFlags liked, vulkan_buffer *out)
{
  *out = (vulkan_buffer){0};
  vulkan_buffer buffer = {0};
  vyre_status status = fill_buffer(target, size, usage, needed, liked, &buffer);
  if (status)
    vulkan_buffer_destroy(target, &buffer);
  else
    *out = buffer;
  return status;
}

/* ---- buffers of the target ----------------------------------------------------------------------------------------------- */

vyre_status
vulkan_create(vyre_target *target, uint64_t size, void **out)
{
  vulkan_buffer *buffer = target_resize(&target->base.allocator, NULL, 0, sizeof *buffer);
  if (!buffer)
    return VYRE_OUT_OF_MEMORY("for a Vulkan buffer");
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                             (target->features.v12.bufferDeviceAddress ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0);
  vyre_status status = vulkan_buffer_create(target, size, usage, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, buffer);
  const bool is_made = !status;
  status = vulkan_take_messages(target->instance.messages, status);
  if (!status) {
    *out = buffer;
    return VYRE_OK;
  }
  if (is_made)
    vulkan_buffer_destroy(target, buffer);
  target_resize(&target->base.allocator, buffer, sizeof *buffer, 0);
  return status;
}

vyre_status
vulkan_destroy(vyre_target *target, void *memory)
{
  vulkan_buffer *buffer = memory;
  vulkan_buffer_destroy(target, buffer);
  target_resize(&target->base.allocator, buffer, sizeof *buffer, 0);
  return vulkan_take_messages(target->instance.messages, VYRE_OK);
}

vyre_status
vulkan_address(vyre_target *target, vyre_device_buffer handle, uint64_t *out)
{
  *out = 0;
  if (!target_buffer_get(target, handle))
    return target_no_such_buffer(target, handle.id);
  if (!target->features.v12.bufferDeviceAddress)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: the device '%s' gives no addresses of buffers (bufferDeviceAddress)\n"
                      "Fix: choose another device",
                      target->base.info.name);
  VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                    .buffer = vulkan_buffer_get(target, handle)->handle};
  *out = target->call.vkGetBufferDeviceAddress(target->device, &info);
  return VYRE_OK;
}

/* ---- staging ------------------------------------------------------------------------------------------------------------- */

void
vulkan_staging_destroy(vyre_target *target, vulkan_staging *staging)
{
  vulkan_buffer_destroy(target, &staging->buffer); /* freeing memory unmaps it */
  staging->mapped = NULL;
}

vyre_status
vulkan_staging_ensure(vyre_target *target, vulkan_staging *staging, uint64_t size, bool for_reading)
{
  if (size <= staging->buffer.size)
    return VYRE_OK;
  uint64_t grown = 4096;
  while (grown < size && grown <= UINT64_MAX / 2)
    grown *= 2;
  if (grown < size || grown > target->base.info.max_buffer)
    grown = size;
  vulkan_staging_destroy(target, staging);
  VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VYRE_TRY(vulkan_buffer_create(target, grown, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, needed,
                                for_reading ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0, &staging->buffer));
  vyre_status status =
      vulkan_status(target, target->call.vkMapMemory(target->device, staging->buffer.memory, 0, VK_WHOLE_SIZE, 0, &staging->mapped),
                    "vkMapMemory", "for %" PRIu64 " bytes of staging memory", grown);
  if (status)
    vulkan_staging_destroy(target, staging);
  return status;
}
