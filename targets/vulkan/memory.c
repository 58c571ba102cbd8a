/* Device buffers and staging buffers.
 *
 * Each buffer has its own allocation. Buffers are few and large, and drivers allow 4,096 allocations. If the host accesses device
 * memory as fast as its own (integrated GPUs, lavapipe), buffers stay mapped, and the host copies data directly (copies.c).
 * Otherwise copies go through staging buffers. Each submission has its own, which are reused with it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

/* ---- the memory budget --------------------------------------------------------------------------------------------------- */

typedef struct heaps {
  uint32_t count;
  VkMemoryHeapFlags flags[VK_MAX_MEMORY_HEAPS];
  uint64_t size[VK_MAX_MEMORY_HEAPS];
  uint64_t budget[VK_MAX_MEMORY_HEAPS]; /* bytes that this process may use, including `usage`, or the heap's size if unknown */
  uint64_t usage[VK_MAX_MEMORY_HEAPS];  /* bytes that this process uses, or 0 if unknown */
} heaps;

static void
query_heaps(const vulkan_instance *instance, const vulkan_device_choice *choice, heaps *out)
{
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  const bool is_known = choice->extensions >> VULKAN_EXTENSION_MEMORY_BUDGET & 1u;
  memory.pNext = is_known ? &budget : NULL;
  instance->call.vkGetPhysicalDeviceMemoryProperties2(choice->handle, &memory);
  *out = (heaps){.count = memory.memoryProperties.memoryHeapCount};
  for (uint32_t i = 0; i < out->count; i++) {
    const VkMemoryHeap *heap = &memory.memoryProperties.memoryHeaps[i];
    out->flags[i] = heap->flags;
    out->size[i] = heap->size;
    out->budget[i] = is_known && budget.heapBudget[i] < heap->size ? budget.heapBudget[i] : heap->size;
    out->usage[i] = is_known ? budget.heapUsage[i] : 0;
  }
}

void
vulkan_budget_describe(const vulkan_instance *instance, vulkan_device_choice *choice)
{
  heaps found;
  query_heaps(instance, choice, &found);
  for (uint32_t i = 0; i < found.count; i++)
    if (found.flags[i] & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) {
      choice->info.memory += found.size[i];
      choice->info.budget += found.budget[i];
    }
}

vyre_status
vulkan_check_budget(vyre_target *target, uint32_t memory_type, uint64_t size)
{
  heaps found;
  query_heaps(&target->instance, &target->choice, &found);
  const uint32_t heap = target->memory.memoryTypes[memory_type].heapIndex;
  const uint64_t left = found.budget[heap] > found.usage[heap] ? found.budget[heap] - found.usage[heap] : 0;
  if (size <= left)
    return VYRE_OK;
  return vyre_status_mark_out_of_memory(VYRE_ERROR(VYRE_CODE_DEVICE,
                                                   "vulkan: the device '%s' has %" PRIu64
                                                   " bytes left for this process in memory heap %u, of %" PRIu64
                                                   " (vkGetPhysicalDeviceMemoryProperties2), but %" PRIu64 " are needed\n"
                                                   "Fix: use smaller buffers, or a device with more memory",
                                                   target->base.info.name, left, heap, found.size[heap], size));
}

/* ---- Vulkan buffers ------------------------------------------------------------------------------------------------------ */

/* Returns the first memory type of `types` with all of `needed`, preferably with all of `liked`. UINT32_MAX if there is none. */
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

static vyre_status
allocate(vyre_target *target, const VkMemoryAllocateInfo *info, uint64_t size, VkDeviceMemory *out)
{
  VYRE_TRY(vulkan_check_budget(target, info->memoryTypeIndex, info->allocationSize));
  target->base.counters.allocations++;
  return VULKAN_CALL(target, vkAllocateMemory, (target->device, info, NULL, out), "allocating %" PRIu64 " bytes", size);
}

vyre_status
vulkan_memory_allocate(vyre_target *target, const VkMemoryRequirements *needs, VkMemoryPropertyFlags needed,
                       VkMemoryPropertyFlags liked, uint64_t size, VkDeviceMemory *out, VkMemoryPropertyFlags *out_flags)
{
  uint32_t type = find_memory(target, needs->memoryTypeBits, needed, liked);
  if (type == UINT32_MAX)
    return vulkan_status(target, VK_ERROR_FEATURE_NOT_PRESENT, "vkAllocateMemory", "no memory type fits %" PRIu64 " bytes", size);
  *out_flags = target->memory.memoryTypes[type].propertyFlags;
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
  vyre_status status = allocate(target, &memory, size, out);
  if (!status || target->base.lost || !target->base.unused)
    return status;
  target_works_destroy(target);
  vyre_status again = allocate(target, &memory, size, out);
  vyre_status_free(again ? again : status);
  return again ? status : VYRE_OK;
}

bool
vulkan_buffer_is_idle(const vyre_target *target, const vulkan_buffer *buffer)
{
  bool is_idle = target->addresses_batch <= target->queues[VULKAN_COMPUTE].done;
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    is_idle = is_idle && buffer->batches[i] <= target->queues[i].done;
  return is_idle;
}

void
vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer)
{
  vulkan_settle(target);
  if (target->base.hangs)
    return; /* the device may still write the buffer */
  for (uint32_t i = 0; i < VULKAN_QUEUES && buffer->handle; i++)
    vulkan_hazards_forget(&target->queues[i].hazards, buffer->handle, 0, UINT64_MAX); /* a new buffer may get this handle */
  if (buffer->handle)
    target->call.vkDestroyBuffer(target->device, buffer->handle, NULL);
  if (buffer->memory)
    target->call.vkFreeMemory(target->device, buffer->memory, NULL); /* also unmaps it */
  *buffer = (vulkan_buffer){0};
}

static vyre_status
map_buffer(vyre_target *target, vulkan_buffer *buffer)
{
  return VULKAN_CALL(target, vkMapMemory, (target->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped),
                     "for %" PRIu64 " bytes", buffer->size);
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
      .sharingMode = target->choice.has_transfer ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
      .queueFamilyIndexCount = target->choice.has_transfer ? VULKAN_QUEUES : 0,
      .pQueueFamilyIndices = target->choice.queue_families,
  };
  VYRE_TRY(VULKAN_CALL(target, vkCreateBuffer, (target->device, &info, NULL, &buffer->handle), "for a buffer of %" PRIu64 " bytes",
                       size));
  VkMemoryRequirements needs;
  VkMemoryPropertyFlags flags;
  call->vkGetBufferMemoryRequirements(target->device, buffer->handle, &needs);
  VYRE_TRY(vulkan_memory_allocate(target, &needs, needed, liked, size, &buffer->memory, &flags));
  VYRE_TRY(VULKAN_CALL(target, vkBindBufferMemory, (target->device, buffer->handle, buffer->memory, 0),
                       "for a buffer of %" PRIu64 " bytes", size));
  buffer->size = size;
  buffer->serial = ++target->serials;
  const bool is_wanted =
      (needed & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) || (target->is_shared && (flags & VULKAN_SHARED) == VULKAN_SHARED);
  return is_wanted ? map_buffer(target, buffer) : VYRE_OK;
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
  vulkan_buffer *buffer = vyre_allocate(&target->base.allocator, sizeof *buffer);
  if (!buffer)
    return VYRE_OUT_OF_MEMORY("for a Vulkan buffer");
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                             (target->features.v12.bufferDeviceAddress ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0);
  vyre_status status =
      vulkan_buffer_create(target, size, usage, 0, target->is_shared ? VULKAN_SHARED : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, buffer);
  const bool is_made = !status;
  status = vulkan_collect_messages(target->instance.messages, status);
  if (!status) {
    *out = buffer;
    return VYRE_OK;
  }
  if (is_made)
    vulkan_buffer_destroy(target, buffer);
  vyre_release(&target->base.allocator, buffer, sizeof *buffer);
  return status;
}

vyre_status
vulkan_destroy(vyre_target *target, void *memory)
{
  vulkan_buffer *buffer = memory;
  vulkan_buffer_destroy(target, buffer);
  vyre_release(&target->base.allocator, buffer, sizeof *buffer);
  return vulkan_collect_messages(target->instance.messages, VYRE_OK);
}

vyre_status
vulkan_address(vyre_target *target, vyre_device_buffer handle, uint64_t *out)
{
  *out = 0;
  if (!target_buffer_get(target, handle))
    return target_no_such_buffer(target, handle.id);
  if (!target->features.v12.bufferDeviceAddress)
    return TARGET_REJECTED("vulkan: the device '%s' does not support addresses of buffers (bufferDeviceAddress)\n"
                           "Fix: choose another device",
                           target->base.info.name);
  VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                    .buffer = vulkan_buffer_get(target, handle)->handle};
  *out = target->call.vkGetBufferDeviceAddress(target->device, &info);
  return VYRE_OK;
}

/* ---- staging ------------------------------------------------------------------------------------------------------------- */

vyre_status
vulkan_staging_ensure(vyre_target *target, vulkan_buffer *staging, uint64_t size, bool for_reading)
{
  if (size <= staging->size)
    return VYRE_OK;
  uint64_t grown = target_staging_size(size);
  if (grown > target->base.info.max_buffer)
    grown = size;
  vulkan_buffer_destroy(target, staging);
  return vulkan_buffer_create(target, grown, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                              for_reading ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0, staging);
}
