/* The Vulkan target: its table, open and close.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

static vyre_status
close_target(vyre_target *target)
{
  if (!target)
    return VYRE_OK;
  if (target->hangs)
    return VYRE_OK; /* what runs on uses all of it until the process ends */
  vyre_allocator allocator = target->allocator;
  if (target->device && target->call.vkDeviceWaitIdle && target->lost)
    target->call.vkDeviceWaitIdle(target->device); /* if it can: nothing may be destroyed while it is used */
  for (uint32_t i = 0; i < target->kernels.count; i++) {
    if (target->kernels.places[i].item)
      vulkan_kernel_destroy(target, target->kernels.places[i].item);
  }
  vulkan_handles_free(&allocator, &target->kernels);
  vulkan_memory_close(target);
  vulkan_device_close(target);
  vulkan_lock();
  vyre_status status = vulkan_instance_close(&target->instance, &allocator);
  vulkan_unlock();
  vulkan_resize(&allocator, target, sizeof *target, 0);
  return status;
}

static vyre_status
open_parts(vyre_target *target, const vyre_target_options *options)
{
  VYRE_TRY(vulkan_instance_open(options, &target->allocator, &target->instance));
  VYRE_TRY(vulkan_device_choose(&target->instance, &target->allocator, options->device, &target->choice));
  return vulkan_device_open(target);
}

static vyre_status
open_target(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out)
{
  *out = NULL;
  vyre_target_options defaults = {0};
  vyre_allocator own = allocator ? *allocator : *vyre_allocator_default();
  vyre_target *target = vulkan_resize(&own, NULL, 0, sizeof *target);
  if (!target)
    return VYRE_OUT_OF_MEMORY("for a Vulkan target");
  memset(target, 0, sizeof *target);
  target->allocator = own;
  target->timeout = options ? options->timeout : 0;
  vulkan_lock();
  vyre_status status = open_parts(target, options ? options : &defaults);
  vulkan_unlock();
  status = vulkan_take_messages(target->instance.messages, status);
  if (status)
    return vyre_status_join(status, close_target(target));
  *out = target;
  return VYRE_OK;
}

static void
describe_target(const vyre_target *target, vyre_device_info *out)
{
  *out = target->choice.info;
}

static vyre_status
list_devices(const vyre_target_options *options, void (*emit)(void *user, const vyre_device_info *info), void *user)
{
  vyre_target_options defaults = {0};
  const vyre_allocator *allocator = vyre_allocator_default();
  vulkan_instance instance;
  vulkan_device_choice *choices = NULL;
  uint32_t count = 0;
  vulkan_lock();
  vyre_status status = vulkan_instance_open(options ? options : &defaults, allocator, &instance);
  if (!status) {
    status = vulkan_devices_get(&instance, allocator, &choices, &count);
    status = vyre_status_join(status, vulkan_instance_close(&instance, allocator));
  }
  vulkan_unlock();
  for (uint32_t i = 0; i < count; i++)
    emit(user, &choices[i].info);
  if (choices)
    vulkan_resize(allocator, choices, sizeof *choices * count, 0);
  return status;
}

const vyre_target_ops vyre_target_vulkan = {
    .struct_size = sizeof(vyre_target_ops),
    .name = "vulkan",
    .open = open_target,
    .close = close_target,
    .describe = describe_target,
    .allocate = vulkan_allocate,
    .free = vulkan_free,
    .compile = vulkan_compile,
    .release = vulkan_release,
    .submit = vulkan_submit,
    .list = list_devices,
    .address = vulkan_address,
    .summary = "SPIR-V on a Vulkan device",
};
