/* Optional extensions and features of a device that kernels or the target use.
 *
 * Opening a device enables the ones that the device has, before any kernel is known. needs.c rejects a kernel that needs others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <string.h>

static const char *const extension_names[VULKAN_EXTENSION__COUNT] = {
    [VULKAN_EXTENSION_ATOMIC_FLOAT] = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME,
    [VULKAN_EXTENSION_ATOMIC_FLOAT_2] = VK_EXT_SHADER_ATOMIC_FLOAT_2_EXTENSION_NAME,
    [VULKAN_EXTENSION_SUBGROUP_BALLOT] = VK_EXT_SHADER_SUBGROUP_BALLOT_EXTENSION_NAME,
    [VULKAN_EXTENSION_SUBGROUP_VOTE] = VK_EXT_SHADER_SUBGROUP_VOTE_EXTENSION_NAME,
    [VULKAN_EXTENSION_ZERO_WORKGROUP] = VK_KHR_ZERO_INITIALIZE_WORKGROUP_MEMORY_EXTENSION_NAME,
    [VULKAN_EXTENSION_DOT_PRODUCT] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME,
    [VULKAN_EXTENSION_CALIBRATED_TIMESTAMPS] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME,
    [VULKAN_EXTENSION_MEMORY_BUDGET] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
    [VULKAN_EXTENSION_EXECUTABLES] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
    [VULKAN_EXTENSION_AMD_CORES] = VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME,
    [VULKAN_EXTENSION_AMD_ACTIVE_CORES] = VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME,
    [VULKAN_EXTENSION_ARM_CORES] = VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME,
    [VULKAN_EXTENSION_NV_MULTIPROCESSORS] = VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME,
};

vyre_status
vulkan_find_extensions(const vulkan_instance *instance, const vyre_allocator *allocator, vulkan_device_choice *choice)
{
  uint32_t count = 0;
  VYRE_TRY(vulkan_status(NULL, instance->call.vkEnumerateDeviceExtensionProperties(choice->handle, NULL, &count, NULL),
                         "vkEnumerateDeviceExtensionProperties", "counting a device's extensions"));
  const size_t size = sizeof(VkExtensionProperties) * ((size_t)count + 1);
  VkExtensionProperties *found = vyre_allocate(allocator, size);
  if (!found)
    return VYRE_OUT_OF_MEMORY("for a Vulkan device's extensions");
  vyre_status status = vulkan_status(NULL, instance->call.vkEnumerateDeviceExtensionProperties(choice->handle, NULL, &count, found),
                                     "vkEnumerateDeviceExtensionProperties", "listing a device's extensions");
  for (uint32_t i = 0; !status && i < count; i++)
    for (uint32_t k = 0; k < VULKAN_EXTENSION__COUNT; k++)
      if (strcmp(found[i].extensionName, extension_names[k]) == 0)
        choice->extensions |= 1u << k;
  vyre_release(allocator, found, size);
  return status;
}

uint32_t
vulkan_extension_names(const vulkan_device_choice *choice, const char *out[VULKAN_EXTENSION__COUNT])
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < VULKAN_EXTENSION__ENABLED; k++)
    if (choice->extensions & 1u << k)
      out[count++] = extension_names[k];
  return count;
}

static void
chain_features(const vulkan_device_choice *choice, vulkan_features *chain)
{
  *chain = (vulkan_features){
      .core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &chain->v11},
      .v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &chain->v12},
      .v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES},
      .atomics = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT},
      .atomics2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT},
      .zeros = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES_KHR},
      .dots = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR},
      .executables = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR},
  };
  void **end = &chain->v12.pNext;
  if (choice->extensions & 1u << VULKAN_EXTENSION_ATOMIC_FLOAT) {
    *end = &chain->atomics;
    end = &chain->atomics.pNext;
  }
  if (choice->extensions & 1u << VULKAN_EXTENSION_ATOMIC_FLOAT_2) {
    *end = &chain->atomics2;
    end = &chain->atomics2.pNext;
  }
  if (choice->extensions & 1u << VULKAN_EXTENSION_ZERO_WORKGROUP) {
    *end = &chain->zeros;
    end = &chain->zeros.pNext;
  }
  if (choice->extensions & 1u << VULKAN_EXTENSION_DOT_PRODUCT) {
    *end = &chain->dots;
    end = &chain->dots.pNext;
  }
  if (choice->extensions & 1u << VULKAN_EXTENSION_EXECUTABLES)
    *end = &chain->executables;
}

void
vulkan_features_get(const vulkan_instance *instance, const vulkan_device_choice *choice, vulkan_features *out)
{
  chain_features(choice, out);
  instance->call.vkGetPhysicalDeviceFeatures2(choice->handle, &out->core);
}

/* Chooses the features to enable: those in this list that the device has. */
void
vulkan_features_choose(const vulkan_device_choice *choice, const vulkan_features *has, vulkan_features *out)
{
  chain_features(choice, out);
#define TAKE(part, feature) out->part.feature = has->part.feature
#define TAKE_BOTH(part, feature)     \
  TAKE(part, shaderBuffer##feature); \
  TAKE(part, shaderShared##feature)
  TAKE(core, features.robustBufferAccess);
  TAKE(core, features.imageCubeArray);
  TAKE(core, features.shaderImageGatherExtended);
  TAKE(core, features.shaderStorageImageExtendedFormats);
  TAKE(core, features.shaderStorageImageReadWithoutFormat);
  TAKE(core, features.shaderStorageImageWriteWithoutFormat);
  TAKE(core, features.shaderUniformBufferArrayDynamicIndexing);
  TAKE(core, features.shaderSampledImageArrayDynamicIndexing);
  TAKE(core, features.shaderStorageBufferArrayDynamicIndexing);
  TAKE(core, features.shaderStorageImageArrayDynamicIndexing);
  TAKE(core, features.shaderResourceMinLod);
  TAKE(core, features.shaderInt16);
  TAKE(core, features.shaderInt64);
  TAKE(core, features.shaderFloat64);
  TAKE(v11, storageBuffer16BitAccess);
  TAKE(v11, uniformAndStorageBuffer16BitAccess);
  TAKE(v11, storagePushConstant16);
  TAKE(v11, variablePointersStorageBuffer);
  TAKE(v11, variablePointers);
  TAKE(v12, storageBuffer8BitAccess);
  TAKE(v12, uniformAndStorageBuffer8BitAccess);
  TAKE(v12, storagePushConstant8);
  TAKE_BOTH(v12, Int64Atomics);
  TAKE(v12, shaderFloat16);
  TAKE(v12, shaderInt8);
  TAKE(v12, scalarBlockLayout);
  TAKE(v12, uniformBufferStandardLayout);
  TAKE(v12, bufferDeviceAddress);
  TAKE(v12, runtimeDescriptorArray);
  TAKE(v12, shaderUniformTexelBufferArrayDynamicIndexing);
  TAKE(v12, shaderStorageTexelBufferArrayDynamicIndexing);
  TAKE(v12, shaderUniformBufferArrayNonUniformIndexing);
  TAKE(v12, shaderSampledImageArrayNonUniformIndexing);
  TAKE(v12, shaderStorageBufferArrayNonUniformIndexing);
  TAKE(v12, shaderStorageImageArrayNonUniformIndexing);
  TAKE(v12, shaderUniformTexelBufferArrayNonUniformIndexing);
  TAKE(v12, shaderStorageTexelBufferArrayNonUniformIndexing);
  TAKE(v12, shaderSubgroupExtendedTypes);
  TAKE(v12, vulkanMemoryModel);
  TAKE(v12, vulkanMemoryModelDeviceScope);
  TAKE_BOTH(atomics, Float32Atomics);
  TAKE_BOTH(atomics, Float32AtomicAdd);
  TAKE_BOTH(atomics, Float64Atomics);
  TAKE_BOTH(atomics, Float64AtomicAdd);
  TAKE_BOTH(atomics2, Float16Atomics);
  TAKE_BOTH(atomics2, Float16AtomicAdd);
  TAKE_BOTH(atomics2, Float16AtomicMinMax);
  TAKE_BOTH(atomics2, Float32AtomicMinMax);
  TAKE_BOTH(atomics2, Float64AtomicMinMax);
  TAKE(zeros, shaderZeroInitializeWorkgroupMemory);
  TAKE(dots, shaderIntegerDotProduct);
  TAKE(executables, pipelineExecutableInfo);
#undef TAKE_BOTH
#undef TAKE
  out->v12.timelineSemaphore = VK_TRUE; /* for the target itself; Vulkan 1.2 requires it of every device */
}

/* Stores the float controls that kernels may use. */
static void
describe_floats(const vulkan_instance *instance, const vulkan_device_choice *choice, vyre_device_info *out)
{
  VkPhysicalDeviceFloatControlsProperties has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &has};
  instance->call.vkGetPhysicalDeviceProperties2(choice->handle, &properties);
#define CONTROLS(width)                                                                                                          \
  VYRE_FLOAT_CONTROLS(VYRE_F##width, (has.shaderDenormPreserveFloat##width ? VYRE_FLOAT_DENORM_PRESERVE : 0) |                   \
                                         (has.shaderDenormFlushToZeroFloat##width ? VYRE_FLOAT_DENORM_FLUSH : 0) |               \
                                         (has.shaderSignedZeroInfNanPreserveFloat##width ? VYRE_FLOAT_SIGNED_ZERO_INF_NAN : 0) | \
                                         (has.shaderRoundingModeRTEFloat##width ? VYRE_FLOAT_ROUND_EVEN : 0) |                   \
                                         (has.shaderRoundingModeRTZFloat##width ? VYRE_FLOAT_ROUND_TO_ZERO : 0))
  out->float_controls = CONTROLS(16) | CONTROLS(32) | CONTROLS(64);
#undef CONTROLS
  out->free_float_controls = has.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL &&
                             has.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
}

static void
query_properties(const vulkan_instance *instance, const vulkan_device_choice *choice, vulkan_extension extension, void *out)
{
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = out};
  if (choice->extensions & 1u << extension)
    instance->call.vkGetPhysicalDeviceProperties2(choice->handle, &properties);
}

/* Stores the compute units and registers that an extension of the vendor reports. Vulkan has no query for caches and bandwidth. */
static void
describe_units(const vulkan_instance *instance, const vulkan_device_choice *choice, vyre_device_info *out)
{
  VkPhysicalDeviceShaderCorePropertiesAMD amd = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  VkPhysicalDeviceShaderCoreProperties2AMD active = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
  VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {.sType =
                                                             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  query_properties(instance, choice, VULKAN_EXTENSION_AMD_CORES, &amd);
  query_properties(instance, choice, VULKAN_EXTENSION_AMD_ACTIVE_CORES, &active);
  query_properties(instance, choice, VULKAN_EXTENSION_ARM_CORES, &arm);
  query_properties(instance, choice, VULKAN_EXTENSION_NV_MULTIPROCESSORS, &nv);
  const uint32_t all = amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  out->compute_units = active.activeComputeUnitCount ? active.activeComputeUnitCount
                       : all                         ? all
                       : arm.shaderCoreCount         ? arm.shaderCoreCount
                                                     : nv.shaderSMCount;
  out->registers = amd.vgprsPerSimd * amd.simdPerComputeUnit * amd.wavefrontSize; /* a vector register has one word per lane */
  out->max_registers = amd.maxVgprAllocation;
}

/* Returns the subgroup operations of kernels, or 0 if only other stages have subgroups. */
static uint32_t
subgroup_operations(const vulkan_instance *instance, const vulkan_device_choice *choice)
{
  VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroup};
  instance->call.vkGetPhysicalDeviceProperties2(choice->handle, &properties);
  return subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT ? subgroup.supportedOperations : 0;
}

void
vulkan_features_describe(const vulkan_instance *instance, const vulkan_features *has, vulkan_device_choice *choice)
{
  vyre_device_info *out = &choice->info;
  out->subgroup_operations = subgroup_operations(instance, choice);
  describe_floats(instance, choice, out);
  describe_units(instance, choice, out);
#define HAS(part, feature, bit) (has->part.feature ? (uint32_t)(bit) : 0u)
  out->features =
      HAS(v12, shaderInt8, VYRE_DEVICE_INT8) | HAS(core, features.shaderInt16, VYRE_DEVICE_INT16) |
      HAS(core, features.shaderInt64, VYRE_DEVICE_INT64) | HAS(v12, shaderFloat16, VYRE_DEVICE_FLOAT16) |
      HAS(core, features.shaderFloat64, VYRE_DEVICE_FLOAT64) | HAS(v11, storageBuffer16BitAccess, VYRE_DEVICE_STORAGE16) |
      HAS(v11, uniformAndStorageBuffer16BitAccess, VYRE_DEVICE_UNIFORM16) | HAS(v11, storagePushConstant16, VYRE_DEVICE_PUSH16) |
      HAS(v12, storageBuffer8BitAccess, VYRE_DEVICE_STORAGE8) | HAS(v12, uniformAndStorageBuffer8BitAccess, VYRE_DEVICE_UNIFORM8) |
      HAS(v12, storagePushConstant8, VYRE_DEVICE_PUSH8) | HAS(v12, shaderSubgroupExtendedTypes, VYRE_DEVICE_SUBGROUP_TYPES);
#define ATOMICS(memory)                                                                \
  (HAS(v12, shader##memory##Int64Atomics, VYRE_DEVICE_ATOMIC_INT64) |                  \
   HAS(atomics2, shader##memory##Float16Atomics, VYRE_DEVICE_ATOMIC_F16) |             \
   HAS(atomics2, shader##memory##Float16AtomicAdd, VYRE_DEVICE_ATOMIC_F16_ADD) |       \
   HAS(atomics2, shader##memory##Float16AtomicMinMax, VYRE_DEVICE_ATOMIC_F16_MINMAX) | \
   HAS(atomics, shader##memory##Float32Atomics, VYRE_DEVICE_ATOMIC_F32) |              \
   HAS(atomics, shader##memory##Float32AtomicAdd, VYRE_DEVICE_ATOMIC_F32_ADD) |        \
   HAS(atomics2, shader##memory##Float32AtomicMinMax, VYRE_DEVICE_ATOMIC_F32_MINMAX) | \
   HAS(atomics, shader##memory##Float64Atomics, VYRE_DEVICE_ATOMIC_F64) |              \
   HAS(atomics, shader##memory##Float64AtomicAdd, VYRE_DEVICE_ATOMIC_F64_ADD) |        \
   HAS(atomics2, shader##memory##Float64AtomicMinMax, VYRE_DEVICE_ATOMIC_F64_MINMAX))
  out->storage_atomics = ATOMICS(Buffer);
  out->shared_atomics = ATOMICS(Shared);
#undef ATOMICS
#undef HAS
}
