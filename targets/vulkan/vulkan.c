/* The Vulkan target: its table, open and close.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"
#include "base/options.h"
#include "vyre/environment.h"

#include <string.h>

static vyre_status
close_target(vyre_target *target)
{
  VYRE_FOREIGN_CALL;
  if (!target)
    return VYRE_OK;
  if (target->base.hangs)
    return VYRE_OK; /* commands that still run may use everything until the process ends */
  vyre_allocator allocator = target->base.allocator;
  vyre_status status = target_base_close(target);
  vulkan_cache_close(target);
  vulkan_device_close(target);
  if (!target->was_left) {
    vulkan_lock();
    status = vyre_status_join(status, vulkan_instance_close(&target->instance, &allocator));
    vulkan_unlock();
  }
  vyre_release(&allocator, target, sizeof *target);
  return status;
}

/* Opens the device again. Objects of a hanging device are not destroyed. */
static vyre_status
reopen(vyre_target *target)
{
  vulkan_device_close(target);
  target->base.hangs = false;
  vulkan_lock();
  vyre_status status = vulkan_device_open(target);
  vulkan_unlock();
  return vulkan_collect_messages(target->instance.messages, status);
}

static vyre_status
find_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out)
{
  target_lock(target);
  return target_unlock_with(target, vulkan_address(target, buffer, out));
}

static const target_hooks hooks = {
    .name = "vulkan",
    .create = vulkan_create,
    .destroy = vulkan_destroy,
    .compile = vulkan_compile,
    .release = vulkan_release,
    .run = target_work_run,
    .check_kernel = vulkan_check_kernel,
    .check_texels = vulkan_check_texels,
    .start = target_work_start,
    .poll = vulkan_poll,
    .finish = target_work_finish,
    .reopen = reopen,
    .statistics = vulkan_statistics,
    .work = &vulkan_works,
};

static vyre_status
open_parts(vyre_target *target, const vyre_target_options *options)
{
  VYRE_TRY(vulkan_cache_open(target, options));
  VYRE_TRY(vulkan_instance_open(options, &target->base.allocator, &target->instance));
  VYRE_TRY(vulkan_device_choose(&target->instance, &target->base.allocator, options->device, &target->choice));
  target->base.info = target->choice.info;
  target->base.statistics_only = options->statistics;
  if (!options->statistics)
    target->choice.extensions &= ~(1u << VULKAN_EXTENSION_EXECUTABLES);
  return vulkan_device_open(target);
}

static vyre_status
open_target(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out)
{
  VYRE_FOREIGN_CALL;
  *out = NULL;
  vyre_target_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_target_options"));
  vyre_allocator own = allocator ? *allocator : *vyre_allocator_default();
  vyre_target *target = vyre_allocate(&own, sizeof *target);
  if (!target)
    return VYRE_OUT_OF_MEMORY("for a Vulkan target");
  target_base_init(&target->base, &hooks, &own);
  target->base.timeout = o.timeout;
  target->base.is_shared = o.shared;
  target->most_iterations = VULKAN_MOST_ITERATIONS;
  vulkan_lock();
  target_call_begin(hooks.name, "", VYRE_DRIVER_OPENS, "");
  vyre_status status = open_parts(target, &o);
  target_call_end();
  vulkan_unlock();
  status = vulkan_collect_messages(target->instance.messages, status);
  if (status)
    return vyre_status_join(status, close_target(target));
  *out = target;
  return VYRE_OK;
}

static vyre_status
list_devices(const vyre_target_options *options, void (*emit)(void *user, const vyre_device_info *info), void *user)
{
  VYRE_FOREIGN_CALL;
  vyre_target_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_target_options"));
  const vyre_allocator *allocator = vyre_allocator_default();
  vulkan_instance instance;
  vulkan_device_choice *choices = NULL;
  uint32_t count = 0;
  vulkan_lock();
  vyre_status status = vulkan_instance_open(&o, allocator, &instance);
  if (!status) {
    status = vulkan_devices_get(&instance, allocator, &choices, &count);
    status = vyre_status_join(status, vulkan_instance_close(&instance, allocator));
  }
  vulkan_unlock();
  for (uint32_t i = 0; i < count; i++)
    emit(user, &choices[i].info);
  vyre_release(allocator, choices, sizeof *choices * count);
  return status;
}

const vyre_target_ops vyre_target_vulkan = {
    .struct_size = sizeof(vyre_target_ops),
    .name = "vulkan",
    .open = open_target,
    .close = close_target,
    TARGET_OPERATIONS,
    .list = list_devices,
    .address = find_address,
    .import = locked_import,
    .summary = "SPIR-V on a Vulkan device",
    .hangs = target_hangs,
};
