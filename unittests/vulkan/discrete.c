/* A simulated discrete device on lavapipe: memory that is not host-visible, memory of the host, a queue family that only copies,
 * and storage ranges of 64 KiB.  Both queues are the same real queue.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include <pthread.h>
#include <string.h>

enum { DEVICE_MEMORY, HOST_MEMORY, MEMORIES, COMPUTE_FAMILY = 0, TRANSFER_FAMILY, FAMILIES, MOST_HIDDEN = 4096 };

/* Hooks of an instance call the loader's functions.  Hooks of a device call its own functions, which depend on the layers. */
/* clang-format off */
#define INSTANCE_HOOKS(X)                \
  X(vkGetPhysicalDeviceMemoryProperties) X(vkGetPhysicalDeviceMemoryProperties2) \
  X(vkGetPhysicalDeviceQueueFamilyProperties) X(vkGetPhysicalDeviceProperties) X(vkCreateDevice)
#define DEVICE_HOOKS(X)  \
  X(vkGetDeviceQueue)    \
  X(vkCreateCommandPool) \
  X(vkCreateBuffer)      \
  X(vkGetBufferMemoryRequirements) X(vkGetImageMemoryRequirements) X(vkAllocateMemory) X(vkFreeMemory) X(vkMapMemory)
/* clang-format on */
#define X(name) PFN_##name name;
static struct {
  INSTANCE_HOOKS(X)
} real;
typedef struct device_functions {
  VkDevice device;
  DEVICE_HOOKS(X)
} device_functions;
#undef X

enum { MOST_DEVICES = 64 };
static device_functions devices[MOST_DEVICES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Returns the functions of a device.  The handle may be that of an earlier device.  Entries of old devices are reused. */
static device_functions *
functions_of(VkDevice device)
{
  static uint32_t next;
  pthread_mutex_lock(&mutex);
  uint32_t i = 0;
  while (i < MOST_DEVICES && devices[i].device != device)
    i++;
  i = i < MOST_DEVICES ? i : next++ % MOST_DEVICES;
  devices[i].device = device;
  pthread_mutex_unlock(&mutex);
  return &devices[i];
}

/* Memory that is not host-visible. */
static VkDeviceMemory hidden[MOST_HIDDEN];

/* Replaces `old` by `new` in the hidden memory.  Returns false if `old` is not in it. */
static bool
replace_hidden(VkDeviceMemory old, VkDeviceMemory new)
{
  pthread_mutex_lock(&mutex);
  uint32_t i = 0;
  while (i < MOST_HIDDEN && hidden[i] != old)
    i++;
  if (i < MOST_HIDDEN)
    hidden[i] = new;
  pthread_mutex_unlock(&mutex);
  return i < MOST_HIDDEN;
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out)
{
  real.vkGetPhysicalDeviceMemoryProperties(device, out);
  out->memoryTypeCount = out->memoryHeapCount = MEMORIES;
  out->memoryHeaps[HOST_MEMORY] = (VkMemoryHeap){.size = out->memoryHeaps[DEVICE_MEMORY].size};
  out->memoryTypes[DEVICE_MEMORY] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, DEVICE_MEMORY};
  out->memoryTypes[HOST_MEMORY] = (VkMemoryType){
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, HOST_MEMORY};
}

/* Replaces the heaps and types.  Budgets in the chain of structs are the driver's. */
static VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *out)
{
  real.vkGetPhysicalDeviceMemoryProperties2(device, out);
  fake_vkGetPhysicalDeviceMemoryProperties(device, &out->memoryProperties);
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *out)
{
  if (!out) {
    real.vkGetPhysicalDeviceQueueFamilyProperties(device, count, NULL);
    *count = FAMILIES;
    return;
  }
  *count = 1;
  real.vkGetPhysicalDeviceQueueFamilyProperties(device, count, out);
  *count = FAMILIES;
  out[TRANSFER_FAMILY] = out[COMPUTE_FAMILY];
  out[TRANSFER_FAMILY].queueFlags = VK_QUEUE_TRANSFER_BIT;
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceProperties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
  real.vkGetPhysicalDeviceProperties(device, out);
  out->limits.maxStorageBufferRange = 1 << 16;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateDevice(VkPhysicalDevice device, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *out)
{
  VkDeviceCreateInfo changed = *info;
  changed.queueCreateInfoCount = 1; /* the first one is the compute queue's */
  return real.vkCreateDevice(device, &changed, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out)
{
  (void)family;
  functions_of(device)->vkGetDeviceQueue(device, COMPUTE_FAMILY, index, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info, const VkAllocationCallbacks *allocator,
                         VkCommandPool *out)
{
  VkCommandPoolCreateInfo changed = *info;
  changed.queueFamilyIndex = COMPUTE_FAMILY;
  return functions_of(device)->vkCreateCommandPool(device, &changed, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *allocator, VkBuffer *out)
{
  if (info->sharingMode != VK_SHARING_MODE_CONCURRENT || info->queueFamilyIndexCount != FAMILIES)
    return VK_ERROR_UNKNOWN; /* both queues must be able to use it */
  VkBufferCreateInfo changed = *info;
  changed.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  changed.queueFamilyIndexCount = 0;
  return functions_of(device)->vkCreateBuffer(device, &changed, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out)
{
  functions_of(device)->vkGetBufferMemoryRequirements(device, buffer, out);
  out->memoryTypeBits = 1u << DEVICE_MEMORY | 1u << HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkGetImageMemoryRequirements(VkDevice device, VkImage image, VkMemoryRequirements *out)
{
  functions_of(device)->vkGetImageMemoryRequirements(device, image, out);
  out->memoryTypeBits = 1u << DEVICE_MEMORY;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *allocator,
                      VkDeviceMemory *out)
{
  VkMemoryAllocateInfo changed = *info;
  changed.memoryTypeIndex = 0;
  const VkResult result = functions_of(device)->vkAllocateMemory(device, &changed, allocator, out);
  if (result == VK_SUCCESS && info->memoryTypeIndex == DEVICE_MEMORY)
    replace_hidden(VK_NULL_HANDLE, *out);
  return result;
}

static VKAPI_ATTR void VKAPI_CALL
fake_vkFreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *allocator)
{
  replace_hidden(memory, VK_NULL_HANDLE);
  functions_of(device)->vkFreeMemory(device, memory, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
  if (replace_hidden(memory, memory))
    return VK_ERROR_MEMORY_MAP_FAILED;
  return functions_of(device)->vkMapMemory(device, memory, offset, size, flags, out);
}

PFN_vkVoidFunction
discrete_wrap(const char *name, PFN_vkVoidFunction function)
{
#define X(hook)                               \
  if (function && strcmp(name, #hook) == 0) { \
    real.hook = (PFN_##hook)function;         \
    return (PFN_vkVoidFunction)fake_##hook;   \
  }
  INSTANCE_HOOKS(X)
#undef X
  return function;
}

PFN_vkVoidFunction
discrete_wrap_device(VkDevice device, const char *name, PFN_vkVoidFunction function)
{
#define X(hook)                                        \
  if (function && strcmp(name, #hook) == 0) {          \
    functions_of(device)->hook = (PFN_##hook)function; \
    return (PFN_vkVoidFunction)fake_##hook;            \
  }
  DEVICE_HOOKS(X)
#undef X
  return function;
}
