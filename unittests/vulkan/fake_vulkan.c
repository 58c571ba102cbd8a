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
  real_families(device, count, out);
  for (uint32_t i = 0; listed && out && i < *count; i++)
    if (asked && !listed->devices[asked - 1].computes)
      out[i].queueFlags &= ~(VkQueueFlags)VK_QUEUE_COMPUTE_BIT;
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
  return counted_wrap(name, watcher_wrap(name, replace(name, found)));
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
  if (found && strcmp(name, "vkEnumeratePhysicalDevices") == 0 && found != (PFN_vkVoidFunction)fail) {
    real_enumerate = (PFN_vkEnumeratePhysicalDevices)found;
    return (PFN_vkVoidFunction)enumerate;
  }
  if (found && strcmp(name, "vkGetPhysicalDeviceProperties") == 0 && found != (PFN_vkVoidFunction)fail) {
    real_properties = (PFN_vkGetPhysicalDeviceProperties)found;
    return (PFN_vkVoidFunction)properties;
  }
  if (found && strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties") == 0 && found != (PFN_vkVoidFunction)fail) {
    real_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)found;
    return (PFN_vkVoidFunction)families;
  }
  if (!found || strcmp(name, "vkGetDeviceProcAddr") != 0)
    return found;
  real_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)get_device;
}
