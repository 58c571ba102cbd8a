/* Lists the devices, chooses one, and creates the logical device with a compute queue and, if there is one, a transfer queue.
 *
 * All features that kernels may use are enabled if the device has them (features.c). robustBufferAccess, which every device has,
 * keeps accesses out of bounds from harm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <stdio.h>
#include <string.h>

enum { LLVMPIPE_ITERATIONS = 65535 }; /* of Mesa 22.3; Vulkan has no query for it */

static vyre_device_kind
kind_of(VkPhysicalDeviceType type)
{
  switch (type) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    return VYRE_DEVICE_DISCRETE;
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    return VYRE_DEVICE_INTEGRATED;
  case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
    return VYRE_DEVICE_VIRTUAL;
  case VK_PHYSICAL_DEVICE_TYPE_CPU:
    return VYRE_DEVICE_CPU;
  default:
    return VYRE_DEVICE_OTHER;
  }
}

/* Chooses the first queue family with compute for kernels, and the first family that can only copy, if there is one, for copies. A
 * family with video queues can copy too, but is not chosen. */
static vyre_status
find_queues(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice *choice)
{
  const VkQueueFlags copying = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
  uint32_t *queues = &choice->info.queues;
  uint32_t count = 0;
  instance->call.vkGetPhysicalDeviceQueueFamilyProperties(choice->handle, &count, NULL);
  size_t size = sizeof(VkQueueFamilyProperties) * ((size_t)count + 1);
  VkQueueFamilyProperties *families = vyre_allocate(allocator, size);
  if (!families)
    return VYRE_OUT_OF_MEMORY("for a Vulkan device's queue families");
  instance->call.vkGetPhysicalDeviceQueueFamilyProperties(choice->handle, &count, families);
  for (uint32_t i = 0; i < count; i++) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) && !(*queues & VYRE_DEVICE_QUEUE_COMPUTE)) {
      choice->queue_families[VULKAN_COMPUTE] = i;
      uint32_t bits = families[i].timestampValidBits;
      choice->timestamp_mask = bits == 0 ? 0 : UINT64_MAX >> (64u - bits);
      *queues |= VYRE_DEVICE_QUEUE_COMPUTE;
    }
    if ((flags & VK_QUEUE_TRANSFER_BIT) && !(flags & ~copying) && !(*queues & VYRE_DEVICE_QUEUE_TRANSFER)) {
      choice->queue_families[VULKAN_TRANSFER] = i;
      choice->has_transfer = true;
      *queues |= VYRE_DEVICE_QUEUE_TRANSFER;
    }
  }
  vyre_release(allocator, families, size);
  return VYRE_OK;
}

static void
fill_limits(const VkPhysicalDeviceLimits *limits, vyre_device_info *out)
{
  out->max_storage = limits->maxStorageBufferRange;
  out->max_uniform = limits->maxUniformBufferRange;
  out->max_push = limits->maxPushConstantsSize;
  out->max_shared = limits->maxComputeSharedMemorySize;
  out->max_invocations = limits->maxComputeWorkGroupInvocations;
  for (uint32_t i = 0; i < 3; i++) {
    out->max_workgroup[i] = limits->maxComputeWorkGroupSize[i];
    out->max_groups[i] = limits->maxComputeWorkGroupCount[i];
  }
  out->storage_align = (uint32_t)limits->minStorageBufferOffsetAlignment;
  out->uniform_align = (uint32_t)limits->minUniformBufferOffsetAlignment;
}

/* Returns whether the device has memory that the host reads and writes as fast as its own. */
static bool
is_shared(const VkPhysicalDeviceMemoryProperties *memory)
{
  bool found = false;
  for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
    found |= (memory->memoryTypes[i].propertyFlags & VULKAN_SHARED) == VULKAN_SHARED;
  return found;
}

static vyre_status
describe(const vulkan_instance *instance, const vyre_allocator *allocator, uint32_t index, vulkan_device_choice *choice)
{
  VkPhysicalDeviceProperties basic;
  instance->call.vkGetPhysicalDeviceProperties(choice->handle, &basic);
  vyre_device_info *info = &choice->info;
  info->index = index;
  info->kind = kind_of(basic.deviceType);
  snprintf(info->name, sizeof info->name, "%s", basic.deviceName);
  choice->limits = basic.limits;
  choice->identity = (vulkan_identity){.vendor = basic.vendorID, .device = basic.deviceID, .driver_version = basic.driverVersion};
  memcpy(choice->identity.uuid, basic.pipelineCacheUUID, sizeof choice->identity.uuid);
  fill_limits(&basic.limits, info);
  VYRE_TRY(find_queues(instance, allocator, choice));
  info->usable = (info->queues & VYRE_DEVICE_QUEUE_COMPUTE) && basic.apiVersion >= VK_API_VERSION_1_2;
  info->forms = 1u << VYRE_KERNEL_SPIRV;
  info->capabilities =
      VYRE_TARGET_IMAGES | VYRE_TARGET_INDIRECT | VYRE_TARGET_ASYNC | (choice->timestamp_mask ? VYRE_TARGET_DEVICE_TIME : 0);
  if (basic.apiVersion < VK_API_VERSION_1_2) { /* the queries below need 1.2 */
    snprintf(info->driver, sizeof info->driver, "Vulkan %u.%u", VK_API_VERSION_MAJOR(basic.apiVersion),
             VK_API_VERSION_MINOR(basic.apiVersion));
    return VYRE_OK;
  }
  VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties size = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                 .pNext = &driver};
  VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &size};
  VkPhysicalDeviceProperties2 more = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroup};
  instance->call.vkGetPhysicalDeviceProperties2(choice->handle, &more);
  snprintf(info->driver, sizeof info->driver, "%.120s %.120s", driver.driverName, driver.driverInfo);
  info->max_iterations = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE ? LLVMPIPE_ITERATIONS : 0;
  info->max_buffer = size.maxMemoryAllocationSize;
  info->subgroup = subgroup.subgroupSize;
  VYRE_TRY(vulkan_find_extensions(instance, allocator, choice));
  vulkan_features has;
  vulkan_features_get(instance, choice, &has);
  vulkan_features_describe(instance, &has, choice);
  info->capabilities |= has.v12.bufferDeviceAddress ? VYRE_TARGET_ADDRESSES : 0;
  info->capabilities |= has.executables.pipelineExecutableInfo ? VYRE_TARGET_STATISTICS : 0;
  VkPhysicalDeviceMemoryProperties memory;
  instance->call.vkGetPhysicalDeviceMemoryProperties(choice->handle, &memory);
  info->capabilities |= is_shared(&memory) ? VYRE_TARGET_SHARED : 0;
  vulkan_budget_describe(instance, choice);
  return VYRE_OK;
}

/* Returns an array with at least one element. The caller frees it. */
vyre_status
vulkan_devices_get(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice **out,
                   uint32_t *out_count)
{
  *out = NULL;
  *out_count = 0;
  uint32_t count = 0;
  VULKAN_LEAKS_BEGIN();
  VkResult result =
      instance->call.vkEnumeratePhysicalDevices(instance->handle, &count, NULL); /* drivers search devices in the first call */
  VULKAN_LEAKS_END();
  if (result == VK_ERROR_INITIALIZATION_FAILED || (result == VK_SUCCESS && count == 0))
    return vulkan_no_device();
  VYRE_TRY(vulkan_status(NULL, result, "vkEnumeratePhysicalDevices", "counting the devices"));
  size_t handles_size = sizeof(VkPhysicalDevice) * count;
  size_t choices_size = sizeof(vulkan_device_choice) * count;
  VkPhysicalDevice *handles = vyre_allocate(allocator, handles_size);
  vulkan_device_choice *choices = vyre_allocate(allocator, choices_size);
  vyre_status status = handles && choices ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the list of Vulkan devices");
  uint32_t got = count;
  if (!status) {
    VULKAN_LEAKS_BEGIN(); /* or in this call, if a layer handled the first one */
    result = instance->call.vkEnumeratePhysicalDevices(instance->handle, &got, handles);
    VULKAN_LEAKS_END();
    status = vulkan_status(NULL, result, "vkEnumeratePhysicalDevices", "listing the devices");
  }
  if (!status && got != count)
    status = vulkan_status(NULL, VK_INCOMPLETE, "vkEnumeratePhysicalDevices", "listing the devices");
  for (uint32_t i = 0; !status && i < count; i++) {
    choices[i].handle = handles[i];
    status = describe(instance, allocator, i, &choices[i]);
  }
  vyre_release(allocator, handles, handles_size);
  if (status) {
    vyre_release(allocator, choices, choices_size);
    return status;
  }
  *out = choices;
  *out_count = count;
  return VYRE_OK;
}

/* Returns the rank of a device kind. A lower rank is better. */
static uint32_t
preference(vyre_device_kind kind)
{
  static const uint32_t order[] = {
      [VYRE_DEVICE_DISCRETE] = 0, [VYRE_DEVICE_INTEGRATED] = 1, [VYRE_DEVICE_VIRTUAL] = 2,
      [VYRE_DEVICE_OTHER] = 3,    [VYRE_DEVICE_CPU] = 4,
  };
  return order[kind];
}

static vyre_status
no_such_device(const vulkan_device_choice *choices, uint32_t count, const char *wanted)
{
  vyre_bytes names = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && !status; i++)
    status = vyre_bytes_printf(&names, "%s%u '%s'%s", i ? ", " : "", choices[i].info.index, choices[i].info.name,
                               choices[i].info.usable ? "" : " (lacks compute or Vulkan 1.2)");
  vyre_status_free(status); /* if memory runs out, the message lists fewer devices */
  status = VYRE_ERROR(VYRE_CODE_DEVICE,
                      "vulkan: no device: none that fits %s%s%s; there are: %s\n"
                      "Fix: name one of these by index, by its kind or by a part of its name, or use another target",
                      wanted ? "'" : "what vyre needs", wanted ? wanted : "", wanted ? "'" : "", names.data ? names.data : "?");
  vyre_bytes_free(&names);
  return status;
}

vyre_status
vulkan_device_choose(const vulkan_instance *instance, const vyre_allocator *allocator, const char *wanted,
                     vulkan_device_choice *out)
{
  vulkan_device_choice *choices;
  uint32_t count;
  VYRE_TRY(vulkan_devices_get(instance, allocator, &choices, &count));
  const vulkan_device_choice *best = NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (!choices[i].info.usable || (wanted && !target_device_matches(&choices[i].info, wanted)))
      continue;
    if (!best || preference(choices[i].info.kind) < preference(best->info.kind))
      best = &choices[i];
  }
  vyre_status status = VYRE_OK;
  if (best)
    *out = *best;
  else
    status = no_such_device(choices, count, wanted);
  vyre_release(allocator, choices, sizeof *choices * count);
  return status;
}

static vyre_status
load_device_functions(vyre_target *target)
{
  vkGetDeviceProcAddr = target->instance.call.vkGetDeviceProcAddr; /* volk's variable, which another target may have changed */
  volkLoadDeviceTable(&target->call, target->device);
  const char *missing = NULL;
#define VULKAN_DEVICE_SYM(name)       \
  if (!target->call.name && !missing) \
    missing = #name;
#include "symbols.def"
  if (!missing && vulkan_has_statistics(target) && !target->call.vkGetPipelineExecutablePropertiesKHR)
    missing = "vkGetPipelineExecutablePropertiesKHR";
  if (!missing && vulkan_has_statistics(target) && !target->call.vkGetPipelineExecutableStatisticsKHR)
    missing = "vkGetPipelineExecutableStatisticsKHR";
  if (!missing)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "vulkan: no symbol: the driver of '%s' lacks %s\n"
                    "Fix: install a newer driver, or choose another device",
                    target->base.info.name, missing);
}

static vyre_status
create_device(vyre_target *target)
{
  const vulkan_instance_functions *call = &target->instance.call;
  vulkan_features has;
  vulkan_features_get(&target->instance, &target->choice, &has);
  vulkan_features_choose(&target->choice, &has, &target->features);
  const char *extensions[VULKAN_EXTENSION__COUNT];
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queues[VULKAN_QUEUES];
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++)
    queues[i] = (VkDeviceQueueCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = target->choice.queue_families[i],
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
  VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &target->features.core,
      .queueCreateInfoCount = target->choice.has_transfer ? VULKAN_QUEUES : 1,
      .pQueueCreateInfos = queues,
      .enabledExtensionCount = vulkan_extension_names(&target->choice, extensions),
      .ppEnabledExtensionNames = extensions,
  };
  return vulkan_status(target, call->vkCreateDevice(target->choice.handle, &info, NULL, &target->device), "vkCreateDevice",
                       "opening '%s'", target->base.info.name);
}

vyre_status
vulkan_queue_follow(vyre_target *target, vulkan_queue *queue)
{
  if (queue->timeline)
    return VYRE_OK;
  const VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                              .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline};
  return VULKAN_CALL(target, vkCreateSemaphore, (target->device, &info, NULL, &queue->timeline), "for the batches of a queue");
}

/* Returns whether the driver can read the device's clock and the host's CLOCK_MONOTONIC together. */
static bool
has_host_time(const vyre_target *target)
{
  VkTimeDomainEXT domains[16];
  uint32_t count = sizeof domains / sizeof *domains, found = 0;
  if (!(target->choice.extensions >> VULKAN_EXTENSION_CALIBRATED_TIMESTAMPS & 1u) || !target->call.vkGetCalibratedTimestampsEXT ||
      !target->instance.call.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT ||
      target->instance.call.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(target->choice.handle, &count, domains) < 0)
    return false;
  for (uint32_t i = 0; i < count; i++)
    found |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT ? 1u : domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT ? 2u : 0u;
  return found == 3;
}

vyre_status
vulkan_device_open(vyre_target *target)
{
  target->instance.call.vkGetPhysicalDeviceMemoryProperties(target->choice.handle, &target->memory);
  target->is_shared = is_shared(&target->memory);
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++) {
    target->queues[i] = (vulkan_queue){0};
    vulkan_hazards_init(&target->queues[i].hazards, &target->base.allocator, NULL);
  }
  target->addresses_batch = 0;
  VYRE_TRY(create_device(target));
  VYRE_TRY(load_device_functions(target));
  for (uint32_t i = 0; i < (target->choice.has_transfer ? VULKAN_QUEUES : 1); i++)
    target->call.vkGetDeviceQueue(target->device, target->choice.queue_families[i], 0, &target->queues[i].handle);
  target->has_host_time = has_host_time(target);
  return VYRE_OK;
}

void
vulkan_settle(vyre_target *target)
{
  if (target->base.lost && !target->base.hangs && target->device)
    target->call.vkDeviceWaitIdle(target->device); /* its result does not matter */
}

void
vulkan_device_close(vyre_target *target)
{
  if (!target->device || !target->call.vkDestroyDevice)
    return;
  if (target->control)
    vyre_status_free(vulkan_release(target, target->control));
  target->control = NULL;
  target_works_destroy(target);
  vulkan_settle(target);
  for (uint32_t i = 0; i < VULKAN_QUEUES; i++) {
    vulkan_hazards_free(&target->queues[i].hazards);
    if (target->queues[i].timeline && !target->base.hangs)
      target->call.vkDestroySemaphore(target->device, target->queues[i].timeline, NULL);
  }
  target_shape_free(&target->base, &target->base.shape);
  if (target->base.hangs)
    target->was_left = true;
  else
    target->call.vkDestroyDevice(target->device, NULL);
  target->device = VK_NULL_HANDLE;
}
