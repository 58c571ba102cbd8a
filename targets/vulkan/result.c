/* Turns VkResult and the messages of the validation layer into vyre_status.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct result_text {
  VkResult result;
  const char *name;
  const char *text;
  const char *fix;
} result_text;

#define OTHER_DEVICE "choose another device, or use another target"

static const result_text result_texts[] = {
    {VK_NOT_READY, "VK_NOT_READY", "a result is not available yet", "open the target with its checks on, and report their message"},
    {VK_TIMEOUT, "VK_TIMEOUT", "the device did not finish in time",
     "give it less work at once, look for an endless loop with the interpreter, or give it more time"},
    {VK_INCOMPLETE, "VK_INCOMPLETE", "the list changed while it was read", "run again"},
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", "the driver has no host memory left", "use smaller buffers"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "the device has no memory left",
     "use smaller buffers, or a device with more memory"},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED", "the driver could not start",
     "check that the driver is complete and that you may use its device files; or use another target"},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST", "the device was lost",
     "open the target again; if it comes back, look for an endless loop or an access out of bounds with the interpreter"},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", "device memory could not be mapped", "use smaller buffers"},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT", "a layer is not installed",
     "install the validation layers (Debian: vulkan-validationlayers), or leave the checks off"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", "an extension is missing", OTHER_DEVICE},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", "the device lacks a feature", OTHER_DEVICE},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER", "no driver supports this version of Vulkan",
     "install a driver for Vulkan 1.2 (Debian: mesa-vulkan-drivers), or use another target"},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", "too many objects of one kind",
     "use fewer buffers or kernels at once"},
    {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL", "a pool is fragmented", "submit fewer steps at once"},
    {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN", "the driver reports no reason", "open the target with its checks on for a reason"},
    {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY", "a pool is full", "submit fewer steps at once"},
    {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV", "the driver cannot compile the kernel",
     "check it with spirv-val; open the target with its checks on for a reason"},
    {VK_ERROR_VALIDATION_FAILED_EXT, "VK_ERROR_VALIDATION_FAILED_EXT", "the validation layer refused the call", "see its message"},
};

vyre_status
vulkan_status(vyre_target *target, VkResult result, const char *api, const char *format, ...)
{
  if (result == VK_SUCCESS)
    return VYRE_OK;
  if (result == VK_ERROR_DEVICE_LOST && target)
    target->base.lost = true;
  char request[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(request, sizeof request, format, arguments);
  va_end(arguments);
  result_text found = {result, "a code unknown to vyre", "", "open the target with its checks on for a reason"};
  for (size_t i = 0; i < sizeof result_texts / sizeof result_texts[0]; i++) {
    if (result_texts[i].result == result)
      found = result_texts[i];
  }
  vyre_status status = VYRE_ERROR(VYRE_CODE_DEVICE, "vulkan: %s failed: %s (%d)%s%s, %s\nFix: %s", api, found.name, (int)result,
                                  found.text[0] ? ", " : "", found.text, request, found.fix);
  return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ? vyre_status_mark_out_of_memory(status)
                                                                                          : status;
}

vyre_status
vulkan_no_device(void)
{
  return VYRE_ERROR(VYRE_CODE_DEVICE, "vulkan: no device: the library is there, but no installed driver has one\n"
                                      "Fix: install a driver (Debian: mesa-vulkan-drivers has one that runs on the CPU), check "
                                      "VK_ICD_FILENAMES if it is set, or use another target");
}

vyre_status
vulkan_collect_messages(vulkan_messages *messages, vyre_status status)
{
  if (!messages || messages->count == 0)
    return status;
  vyre_status added = VYRE_ERROR(VYRE_CODE_DEVICE,
                                 "vulkan: the validation layer has %u message%s:\n%.*s"
                                 "Fix: check the kernel with spirv-val, and its buffers against its declarations; "
                                 "if vyre made it, report this as a bug",
                                 messages->count, messages->count == 1 ? "" : "s", (int)messages->length, messages->text);
  messages->count = 0;
  messages->length = 0;
  return vyre_status_join(status, added);
}
