/* A Vulkan library for tests: the real one, but for one function, which is missing or fails, or for the devices that there are.
 *
 * A function that fails is called with the arguments of any; that works with the calling conventions there are, and is for tests
 * alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include "discrete.h"
#include "watcher.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char chosen[64];
static VkResult chosen_result;
static bool fails_once, has_failed;
static int32_t passes; /* calls that go well before */
static PFN_vkGetDeviceProcAddr real_device;
static const fake_vulkan_list *listed;
static uint32_t asked; /* how many devices' properties were asked for since they were listed */
static PFN_vkEnumeratePhysicalDevices real_enumerate;
static PFN_vkGetPhysicalDeviceProperties real_properties;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkEnumerateDeviceExtensionProperties real_extensions;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkCreateDevice real_create;
static PFN_vkQueueSubmit real_submit;
static fake_vulkan_says says;
static uint32_t lose_first, lose_count, submitted;

void
fake_vulkan_set(const char *name, VkResult result)
{
  strncpy(chosen, name, sizeof chosen - 1);
  chosen_result = result;
  fails_once = has_failed = false;
}

void
fake_vulkan_set_once(const char *name, VkResult result, int32_t count)
{
  fake_vulkan_set(name, result);
  fails_once = true;
  passes = count;
}

bool
fake_vulkan_has_failed(void)
{
  return has_failed;
}

void
fake_vulkan_devices(const fake_vulkan_list *list)
{
  listed = list;
}

void
fake_vulkan_say(const fake_vulkan_says *what)
{
  says = *what;
}

void
fake_vulkan_lose(uint32_t first, uint32_t count)
{
  lose_first = first;
  lose_count = count;
  submitted = 0;
}

__attribute__((constructor)) static void
read_environment(void)
{
  const char *lose = getenv("FAKE_VULKAN_LOSE"), *storage = getenv("FAKE_VULKAN_STORAGE");
  if (lose && sscanf(lose, "%u,%u", &lose_first, &lose_count) != 2)
    abort();
  if (storage)
    says.max_storage = (uint32_t)strtoul(storage, NULL, 10);
}

const struct watcher *
fake_vulkan_watcher(void)
{
  return &the_watcher;
}

static VKAPI_ATTR VkResult VKAPI_CALL
enumerate(VkInstance instance, uint32_t *count, VkPhysicalDevice *out)
{
  asked = 0;
  if (!listed)
    return real_enumerate(instance, count, out);
  const uint32_t there = out ? listed->count_again : listed->count;
  if (out) {
    VkPhysicalDevice first;
    uint32_t one = 1;
    const VkResult result = real_enumerate(instance, &one, &first);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
      return result;
    for (uint32_t i = 0; i < there && i < *count; i++)
      out[i] = first;
  }
  *count = there;
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
  real_properties(device, out);
  if (says.max_storage)
    out->limits.maxStorageBufferRange = says.max_storage;
  if (!listed || asked >= listed->count)
    return;
  const fake_vulkan_device *fake = &listed->devices[asked++];
  out->deviceType = fake->type;
  out->apiVersion = fake->version;
  strncpy(out->deviceName, fake->name, sizeof out->deviceName - 1);
}

static VKAPI_ATTR void VKAPI_CALL
families(VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *out)
{
  const uint32_t room = *count;
  real_families(device, count, out);
  static const VkQueueFlags more[] = {VK_QUEUE_TRANSFER_BIT | VK_QUEUE_VIDEO_DECODE_BIT_KHR, VK_QUEUE_TRANSFER_BIT};
  for (uint32_t i = 0; says.transfers && i < 2 && (!out || *count < room); i++, ++*count)
    if (out)
      out[*count] = (VkQueueFamilyProperties){.queueFlags = more[i], .queueCount = 1};
  for (uint32_t i = 0; listed && out && i < *count; i++)
    if (asked && !listed->devices[asked - 1].computes)
      out[i].queueFlags &= ~(VkQueueFlags)VK_QUEUE_COMPUTE_BIT;
}

/* The real device may have the extension, too: it is listed twice then. */
static VKAPI_ATTR VkResult VKAPI_CALL
extensions(VkPhysicalDevice device, const char *layer, uint32_t *count, VkExtensionProperties *out)
{
  const uint32_t room = *count;
  const VkResult result = real_extensions(device, layer, count, out);
  if (!says.heap_budget || result != VK_SUCCESS)
    return result;
  if (out && *count == room)
    return VK_INCOMPLETE;
  if (out)
    out[*count] = (VkExtensionProperties){VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 1};
  ++*count;
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *out)
{
  VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = out->pNext;
  if (!says.heap_budget) {
    real_memory(device, out);
    return;
  }
  out->pNext = NULL;
  real_memory(device, out);
  out->pNext = budget;
  for (uint32_t i = 0; budget && i < out->memoryProperties.memoryHeapCount; i++) {
    budget->heapBudget[i] = says.heap_budget;
    budget->heapUsage[i] = says.heap_usage;
  }
}

/* The real device may know nothing of the extension. */
static VKAPI_ATTR VkResult VKAPI_CALL
create(VkPhysicalDevice device, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *out)
{
  const char *names[16];
  VkDeviceCreateInfo real = *info;
  real.enabledExtensionCount = 0;
  for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
    if (!says.heap_budget || strcmp(info->ppEnabledExtensionNames[i], VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) != 0)
      names[real.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
  real.ppEnabledExtensionNames = names;
  return real_create(device, &real, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
submit(VkQueue queue, uint32_t count, const VkSubmitInfo *info, VkFence fence)
{
  const uint32_t number = submitted++;
  return number >= lose_first && number - lose_first < lose_count ? VK_ERROR_DEVICE_LOST : real_submit(queue, count, info, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL
parts(VkDevice device, const VkPipelineInfoKHR *info, uint32_t *count, VkPipelineExecutablePropertiesKHR *out)
{
  (void)device;
  (void)info;
  *count = says.parts;
  for (uint32_t i = 0; out && i < says.parts; i++) {
    snprintf(out[i].name, sizeof out[i].name, "part %u", i);
    out[i].subgroupSize = i * 8; /* of the first it is not known */
  }
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
figures(VkDevice device, const VkPipelineExecutableInfoKHR *info, uint32_t *count, VkPipelineExecutableStatisticKHR *out)
{
  static const struct {
    const char *name;
    VkPipelineExecutableStatisticFormatKHR format;
    VkPipelineExecutableStatisticValueKHR value;
  } made[] = {{"yes", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR, {.b32 = VK_TRUE}},
              {"below", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR, {.i64 = -3}},
              {"large", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR, {.u64 = UINT64_MAX}},
              {"half", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR, {.f64 = 0.5}}};
  (void)device;
  *count = sizeof made / sizeof *made;
  for (uint32_t i = 0; out && i < *count; i++) {
    snprintf(out[i].name, sizeof out[i].name, "%s", made[i].name);
    snprintf(out[i].description, sizeof out[i].description, "of part %u", info->executableIndex);
    out[i].format = made[i].format;
    out[i].value = made[i].value;
  }
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fail(void)
{
  return chosen_result;
}

/* Hands on what it is given, as counted.c does. */
typedef uint64_t any_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h);
static any_function *passed;

static uint64_t
fail_once(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
  if (has_failed || passes-- > 0)
    return passed(a, b, c, d, e, f, g, h);
  has_failed = true;
  return (uint64_t)(int64_t)chosen_result;
}

static PFN_vkVoidFunction
replace(const char *name, PFN_vkVoidFunction real)
{
  if (strcmp(name, chosen) != 0)
    return real;
  if (fails_once && real) {
    any_function *function = fail_once;
    memcpy(&passed, &real, sizeof real);
    memcpy(&real, &function, sizeof real);
    return real;
  }
  return chosen_result == VK_SUCCESS ? NULL : (PFN_vkVoidFunction)fail;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_device(VkDevice device, const char *name)
{
  PFN_vkVoidFunction found = real_device(device, name);
  if (FAKE_DISCRETE)
    found = discrete_wrap_device(device, name, found);
  if (says.parts && strcmp(name, "vkGetPipelineExecutablePropertiesKHR") == 0)
    found = (PFN_vkVoidFunction)parts;
  if (says.parts && strcmp(name, "vkGetPipelineExecutableStatisticsKHR") == 0)
    found = (PFN_vkVoidFunction)figures;
  found = replace(name, found);
  if (!FAKE_DISCRETE && found && found != (PFN_vkVoidFunction)fail && strcmp(name, "vkQueueSubmit") == 0) {
    real_submit = (PFN_vkQueueSubmit)found;
    found = (PFN_vkVoidFunction)submit;
  }
  return counted_wrap(name, watcher_wrap(name, found));
}

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
  static PFN_vkGetInstanceProcAddr real;
  if (!real) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!symbol)
      return NULL;
    memcpy(&real, &symbol, sizeof real);
  }
  PFN_vkVoidFunction found = real(instance, name);
  found = replace(name, FAKE_DISCRETE ? discrete_wrap(name, found) : found);
#define WRAP(function, real, ours)                                                  \
  if (found && strcmp(name, #function) == 0 && found != (PFN_vkVoidFunction)fail) { \
    real = (PFN_##function)found;                                                   \
    found = (PFN_vkVoidFunction)ours;                                               \
  }
  WRAP(vkEnumeratePhysicalDevices, real_enumerate, enumerate)
  WRAP(vkGetPhysicalDeviceProperties, real_properties, properties)
  WRAP(vkGetPhysicalDeviceQueueFamilyProperties, real_families, families)
  WRAP(vkEnumerateDeviceExtensionProperties, real_extensions, extensions)
  WRAP(vkGetPhysicalDeviceMemoryProperties2, real_memory, memory)
  WRAP(vkCreateDevice, real_create, create)
  if (!found || strcmp(name, "vkGetDeviceProcAddr") != 0)
    return counted_wrap(name, found);
  real_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)get_device;
}
