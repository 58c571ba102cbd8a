/* A Vulkan library for tests that wraps the real one: calls are counted and can fail, devices can be replaced, and commands can
 * be watched.
 *
 * A function that is counted or may fail has its own entry point, which passes all arguments on.  Passing them on works with the
 * usual calling conventions for up to ten arguments that are not floats, and is only for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PFN_vkGetDeviceProcAddr real_device;
static const fake_vulkan_list *listed;
static uint32_t queried; /* queries of devices' properties since the devices were listed */
static PFN_vkEnumeratePhysicalDevices real_enumerate;
static PFN_vkGetPhysicalDeviceProperties real_properties;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkEnumerateDeviceExtensionProperties real_extensions;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkCreateDevice real_create;
static fake_vulkan_says says;

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

typedef uint64_t any_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h,
                              uint64_t i, uint64_t j);

/* The functions that the target calls, and their numbers.  Their calls are counted, and can fail. */
#define MORE_FUNCTIONS(X)       \
  X(vkCreateInstance)           \
  X(vkEnumerateInstanceVersion) \
  X(vkEnumerateInstanceLayerProperties) X(vkGetPipelineExecutablePropertiesKHR) X(vkGetPipelineExecutableStatisticsKHR)
enum {
#define VULKAN_INSTANCE_SYM(name) NUMBER_##name,
#define VULKAN_DEVICE_SYM(name)   NUMBER_##name,
#define X(name)                   NUMBER_##name,
#include "symbols.def"
  MORE_FUNCTIONS(X) FUNCTIONS
#undef X
};

static any_function *reals[FUNCTIONS];
static uint32_t calls[FUNCTIONS], objects[FUNCTIONS + 1]; /* objects: created or destroyed; 0 for an unknown function */
static bool counts;

/* The failing function: `count` of its calls fail, beginning with number `first`. */
static struct {
  char name[64];
  VkResult result;
  uint32_t first, count, calls;
  bool has_failed;
} failure;

static void
set_failure(const char *name, VkResult result, uint32_t first, uint32_t count)
{
  memset(&failure, 0, sizeof failure);
  strncpy(failure.name, name, sizeof failure.name - 1);
  failure.result = result;
  failure.first = first;
  failure.count = count;
}

static void
set(const char *name, VkResult result)
{
  set_failure(name, result, 0, UINT32_MAX);
}

static void
set_once(const char *name, VkResult result, uint32_t passes)
{
  set_failure(name, result, passes, 1);
}

static void
lose(uint32_t first, uint32_t count)
{
  set_failure("vkQueueSubmit", VK_ERROR_DEVICE_LOST, first, count);
}

static bool
has_failed(void)
{
  return failure.has_failed;
}

static bool
fails(const char *name)
{
  if (strcmp(name, failure.name) != 0)
    return false;
  const uint32_t number = failure.calls++;
  const bool is_failing = number >= failure.first && number - failure.first < failure.count;
  failure.has_failed |= is_failing;
  return is_failing;
}

static bool
begins(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns whether a call created or destroyed an object. */
static bool
has_effect(const char *name, uint64_t result, uint64_t a, uint64_t b)
{
  if (begins(name, "vkCreate") || strcmp(name, "vkAllocateMemory") == 0)
    return (int32_t)result == VK_SUCCESS;
  if (strcmp(name, "vkDestroyDevice") == 0 || strcmp(name, "vkDestroyInstance") == 0)
    return a != 0;
  return (begins(name, "vkDestroy") || strcmp(name, "vkFreeMemory") == 0) && b != 0;
}

#define ENTRY(name)                                                                                                            \
  static uint64_t entry_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, \
                               uint64_t i, uint64_t j)                                                                         \
  {                                                                                                                            \
    calls[NUMBER_##name]++;                                                                                                    \
    if (fails(#name))                                                                                                          \
      return (uint64_t)(int64_t)failure.result;                                                                                \
    const uint64_t result = reals[NUMBER_##name](a, b, c, d, e, f, g, h, i, j);                                                \
    objects[NUMBER_##name] += has_effect(#name, result, a, b);                                                                 \
    return result;                                                                                                             \
  }
#define VULKAN_INSTANCE_SYM ENTRY
#define VULKAN_DEVICE_SYM   ENTRY
#include "symbols.def"
MORE_FUNCTIONS(ENTRY)

static const struct {
  const char *name;
  any_function *entry;
} functions[FUNCTIONS] = {
#define VULKAN_INSTANCE_SYM(name) {#name, entry_##name},
#define VULKAN_DEVICE_SYM(name)   {#name, entry_##name},
#define X(name)                   {#name, entry_##name},
#include "symbols.def"
    MORE_FUNCTIONS(X)
#undef X
};

static uint32_t
find(const char *name)
{
  uint32_t n = 0;
  while (n < FUNCTIONS && strcmp(functions[n].name, name) != 0)
    n++;
  return n;
}

/* Returns NULL if the function is missing, its entry point if its calls are counted or may fail, and `real` otherwise. */
static PFN_vkVoidFunction
calls_wrap(const char *name, PFN_vkVoidFunction real)
{
  const uint32_t n = find(name);
  const bool is_chosen = strcmp(name, failure.name) == 0;
  const bool may_lose = !FAKE_DISCRETE && n == NUMBER_vkQueueSubmit; /* lose() may be called later */
  if (!real || (is_chosen && failure.result == VK_SUCCESS))
    return NULL;
  if (n < FUNCTIONS && (counts || is_chosen || may_lose)) {
    memcpy(&reals[n], &real, sizeof real);
    memcpy(&real, &functions[n].entry, sizeof real);
  }
  return real;
}

static uint32_t
count_calls(const char *prefix)
{
  uint32_t sum = 0;
  for (uint32_t n = 0; n < FUNCTIONS; n++) {
    if (!prefix)
      calls[n] = objects[n] = 0;
    else if (begins(functions[n].name, prefix))
      sum += calls[n];
  }
  counts = true;
  return sum;
}

static const char *
left(void)
{
  for (uint32_t n = 0; n < FUNCTIONS; n++) {
    const char *name = functions[n].name, *object = name + strlen("vkCreate");
    char destroys[72] = "vkFreeMemory";
    if (begins(name, "vkCreate"))
      snprintf(destroys, sizeof destroys, "vkDestroy%s", strcmp(object, "ComputePipelines") == 0 ? "Pipeline" : object);
    else if (n != NUMBER_vkAllocateMemory)
      continue;
    if (objects[n] != objects[find(destroys)])
      return name;
  }
  return NULL;
}

/* ---- devices ------------------------------------------------------------------------------------------------------------- */

static void
set_devices(const fake_vulkan_list *list)
{
  listed = list;
}

static void
set_properties(const fake_vulkan_says *what)
{
  says = *what;
}

static VKAPI_ATTR VkResult VKAPI_CALL
enumerate(VkInstance instance, uint32_t *count, VkPhysicalDevice *out)
{
  queried = 0;
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
  if (!listed || queried >= listed->count)
    return;
  const fake_vulkan_device *fake = &listed->devices[queried++];
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
    if (queried && !listed->devices[queried - 1].computes)
      out[i].queueFlags &= ~(VkQueueFlags)VK_QUEUE_COMPUTE_BIT;
}

/* Adds the extension, also if the real device lists it already. */
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

/* Creates the device without VK_EXT_memory_budget, which the real device may lack, if this library reports a budget. */
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
parts(VkDevice device, const VkPipelineInfoKHR *info, uint32_t *count, VkPipelineExecutablePropertiesKHR *out)
{
  (void)device;
  (void)info;
  *count = says.parts;
  for (uint32_t i = 0; out && i < says.parts; i++) {
    snprintf(out[i].name, sizeof out[i].name, "part %u", i);
    out[i].subgroupSize = i * 8; /* 0 is unknown */
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

/* ---- entry --------------------------------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void
read_environment(void)
{
  const char *losses = getenv("FAKE_VULKAN_LOSE"), *storage = getenv("FAKE_VULKAN_STORAGE");
  uint32_t first, count;
  if (losses && sscanf(losses, "%u,%u", &first, &count) != 2)
    abort();
  if (losses)
    lose(first, count);
  if (storage)
    says.max_storage = (uint32_t)strtoul(storage, NULL, 10);
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
  return calls_wrap(name, watcher_wrap(name, found));
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
  if (FAKE_DISCRETE)
    found = discrete_wrap(name, found);
#define WRAP(function, real, ours)             \
  if (found && strcmp(name, #function) == 0) { \
    real = (PFN_##function)found;              \
    found = (PFN_vkVoidFunction)ours;          \
  }
  WRAP(vkEnumeratePhysicalDevices, real_enumerate, enumerate)
  WRAP(vkGetPhysicalDeviceProperties, real_properties, properties)
  WRAP(vkGetPhysicalDeviceQueueFamilyProperties, real_families, families)
  WRAP(vkEnumerateDeviceExtensionProperties, real_extensions, extensions)
  WRAP(vkGetPhysicalDeviceMemoryProperties2, real_memory, memory)
  WRAP(vkCreateDevice, real_create, create)
  WRAP(vkGetDeviceProcAddr, real_device, get_device)
  return calls_wrap(name, found);
}

__attribute__((visibility("default"))) extern const fake_vulkan fake_vulkan_functions;
const fake_vulkan fake_vulkan_functions = {set,         set_once, has_failed,  lose, set_devices, set_properties,
                                           count_calls, left,     &the_watcher};
