/* A Vulkan library for tests: the real one, but for one function, which is missing or fails.
 *
 * A function that fails is called with the arguments of any; that works with the calling conventions there are, and is for tests
 * alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include <dlfcn.h>
#include <string.h>

static char chosen[64];
static VkResult chosen_result;
static PFN_vkGetDeviceProcAddr real_device;

void
fake_vulkan_set(const char *name, VkResult result)
{
  strncpy(chosen, name, sizeof chosen - 1);
  chosen_result = result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fail(void)
{
  return chosen_result;
}

static PFN_vkVoidFunction
replace(const char *name, PFN_vkVoidFunction real)
{
  if (strcmp(name, chosen) != 0)
    return real;
  return chosen_result == VK_SUCCESS ? NULL : (PFN_vkVoidFunction)fail;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_device(VkDevice device, const char *name)
{
  return replace(name, real_device(device, name));
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
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
  PFN_vkVoidFunction found = replace(name, real(instance, name));
  if (!found || strcmp(name, "vkGetDeviceProcAddr") != 0)
    return found;
  real_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)get_device;
}
