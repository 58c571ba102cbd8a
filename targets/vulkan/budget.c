/* What memory a device has, and what of it this process may have now.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <inttypes.h>

typedef struct heaps {
  uint32_t count;
  VkMemoryHeapFlags flags[VK_MAX_MEMORY_HEAPS];
  uint64_t size[VK_MAX_MEMORY_HEAPS];
  uint64_t budget[VK_MAX_MEMORY_HEAPS]; /* what it has before others need theirs, with what this process already uses */
  uint64_t usage[VK_MAX_MEMORY_HEAPS];  /* 0 where the driver does not say */
} heaps;

static void
ask(const vulkan_instance *instance, const vulkan_device_choice *choice, heaps *out)
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
  ask(instance, choice, &found);
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
  ask(&target->instance, &target->choice, &found);
  const uint32_t heap = target->memory.memoryTypes[memory_type].heapIndex;
  const uint64_t left = found.budget[heap] > found.usage[heap] ? found.budget[heap] - found.usage[heap] : 0;
  if (size <= left)
    return VYRE_OK;
  return vyre_status_mark_out_of_memory(VYRE_ERROR(VYRE_CODE_DEVICE,
                                                   "vulkan: the device '%s' has %" PRIu64
                                                   " bytes left for this process in memory heap %u, of %" PRIu64
                                                   " (vkGetPhysicalDeviceMemoryProperties2), asking for %" PRIu64 "\n"
                                                   "Fix: use smaller buffers, or a device with more memory",
                                                   target->base.info.name, left, heap, found.size[heap], size));
}
