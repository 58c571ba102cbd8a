/* Buffers of a device, the staging buffers that everything goes up and down through, and handle numbers.
 *
 * A buffer is an allocation of its own.  Staging is one path for every device: where the host sees device memory it costs a copy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>
#include <string.h>

/* ---- handles ------------------------------------------------------------------------------------------------------------- */

static vyre_status
grow_handles(const vyre_allocator *allocator, vulkan_handles *handles)
{
  uint32_t capacity = handles->capacity ? handles->capacity * 2 : 16;
  size_t old_size = sizeof(vulkan_place) * handles->capacity;
  vulkan_place *places = vulkan_resize(allocator, handles->places, old_size, sizeof(vulkan_place) * capacity);
  if (!places)
    return VYRE_OUT_OF_MEMORY("for a Vulkan handle");
  memset(places + handles->capacity, 0, sizeof(vulkan_place) * (capacity - handles->capacity));
  handles->places = places;
  handles->capacity = capacity;
  return VYRE_OK;
}

vyre_status
vulkan_handles_add(const vyre_allocator *allocator, vulkan_handles *handles, void *item, uint64_t *out)
{
  uint32_t place = handles->first_free;
  if (place) {
    handles->first_free = handles->places[place - 1].next_free;
  } else {
    if (handles->count == handles->capacity)
      VYRE_TRY(grow_handles(allocator, handles));
    place = ++handles->count;
  }
  handles->places[place - 1].item = item;
  *out = (uint64_t)handles->places[place - 1].generation << 32 | place;
  return VYRE_OK;
}

void *
vulkan_handles_get(const vulkan_handles *handles, uint64_t id)
{
  uint32_t place = (uint32_t)id;
  if (place == 0 || place > handles->count || handles->places[place - 1].generation != (uint32_t)(id >> 32))
    return NULL;
  return handles->places[place - 1].item;
}

void
vulkan_handles_remove(vulkan_handles *handles, uint64_t id)
{
  vulkan_place *place = &handles->places[(uint32_t)id - 1];
  *place = (vulkan_place){.generation = place->generation + 1, .next_free = handles->first_free};
  handles->first_free = (uint32_t)id;
}

void
vulkan_handles_free(const vyre_allocator *allocator, vulkan_handles *handles)
{
  if (handles->places)
    vulkan_resize(allocator, handles->places, sizeof(vulkan_place) * handles->capacity, 0);
  *handles = (vulkan_handles){0};
}

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
  target->allocations++;
  return vulkan_status(target, target->call.vkAllocateMemory(target->device, &memory, NULL, out), "vkAllocateMemory",
                       "asking for %" PRIu64 " bytes", size);
}

void
vulkan_buffer_destroy(vyre_target *target, vulkan_buffer *buffer)
{
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

vyre_status
vulkan_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out)
{
  *out = (vyre_device_buffer){0};
  VYRE_TRY(vulkan_check_lost(target));
  if (size == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "vulkan: a buffer of 0 bytes\nFix: give it a size of at least 1 byte");
  if (size > target->choice.info.max_buffer)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: a buffer of %" PRIu64 " bytes, the device '%s' allocates at most %" PRIu64 " at once\n"
                      "Fix: use smaller buffers, or another device",
                      size, target->choice.info.name, target->choice.info.max_buffer);
  vulkan_buffer *buffer = vulkan_resize(&target->allocator, NULL, 0, sizeof *buffer);
  if (!buffer)
    return VYRE_OUT_OF_MEMORY("for a Vulkan buffer");
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                             (target->features.v12.bufferDeviceAddress ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0);
  vyre_status status = vulkan_buffer_create(target, size, usage, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, buffer);
  if (!status)
    status = vulkan_handles_add(&target->allocator, &target->buffers, buffer, &out->id);
  status = vulkan_take_messages(target->instance.messages, status);
  if (!status)
    return VYRE_OK;
  if (out->id)
    vulkan_handles_remove(&target->buffers, out->id);
  *out = (vyre_device_buffer){0};
  vulkan_buffer_destroy(target, buffer);
  vulkan_resize(&target->allocator, buffer, sizeof *buffer, 0);
  return status;
}

static vyre_status
no_such_buffer(uint64_t id)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "vulkan: %" PRIu64 " is no buffer of this target, or it was freed\n"
                    "Fix: use what allocate gave, until it is freed",
                    id);
}

vyre_status
vulkan_free(vyre_target *target, vyre_device_buffer handle)
{
  vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, handle.id);
  if (!buffer)
    return no_such_buffer(handle.id);
  vulkan_handles_remove(&target->buffers, handle.id);
  vulkan_buffer_destroy(target, buffer);
  vulkan_resize(&target->allocator, buffer, sizeof *buffer, 0);
  return vulkan_take_messages(target->instance.messages, VYRE_OK);
}

vyre_status
vulkan_address(vyre_target *target, vyre_device_buffer handle, uint64_t *out)
{
  *out = 0;
  const vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, handle.id);
  if (!buffer)
    return no_such_buffer(handle.id);
  if (!target->features.v12.bufferDeviceAddress)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: the device '%s' gives no addresses of buffers (bufferDeviceAddress)\n"
                      "Fix: choose another device",
                      target->choice.info.name);
  VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer->handle};
  *out = target->call.vkGetBufferDeviceAddress(target->device, &info);
  return VYRE_OK;
}

vyre_status
vulkan_range_get(const vyre_target *target, const vyre_range *range, const char *what, uint32_t index, vulkan_buffer **out,
                 uint64_t *out_size)
{
  *out = NULL;
  *out_size = 0;
  vulkan_buffer *buffer = vulkan_handles_get(&target->buffers, range->buffer.id);
  if (!buffer)
    return vyre_status_note(no_such_buffer(range->buffer.id), "while looking at %s %u", what, index);
  uint64_t size = range->size || range->offset > buffer->size ? range->size : buffer->size - range->offset;
  if (size == 0 || range->offset > buffer->size || size > buffer->size - range->offset)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: %s %u wants %" PRIu64 " bytes from offset %" PRIu64 " of a buffer of %" PRIu64 "\n"
                      "Fix: keep the range inside its buffer, and not empty",
                      what, index, size, range->offset, buffer->size);
  *out = buffer;
  *out_size = size;
  return VYRE_OK;
}

/* ---- staging ------------------------------------------------------------------------------------------------------------- */

static void
destroy_staging(vyre_target *target, vulkan_staging *staging)
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
  if (grown < size || grown > target->choice.info.max_buffer)
    grown = size;
  destroy_staging(target, staging);
  VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VYRE_TRY(vulkan_buffer_create(target, grown, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, needed,
                                for_reading ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0, &staging->buffer));
  vyre_status status =
      vulkan_status(target, target->call.vkMapMemory(target->device, staging->buffer.memory, 0, VK_WHOLE_SIZE, 0, &staging->mapped),
                    "vkMapMemory", "for %" PRIu64 " bytes of staging memory", grown);
  if (status)
    destroy_staging(target, staging);
  return status;
}

void
vulkan_memory_close(vyre_target *target)
{
  for (uint32_t i = 0; i < target->buffers.count; i++) {
    vulkan_buffer *buffer = target->buffers.places[i].item;
    if (!buffer)
      continue;
    vulkan_buffer_destroy(target, buffer);
    vulkan_resize(&target->allocator, buffer, sizeof *buffer, 0);
  }
  vulkan_handles_free(&target->allocator, &target->buffers);
  destroy_staging(target, &target->up);
  destroy_staging(target, &target->down);
}
