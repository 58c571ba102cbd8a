/* Checks that a device has the features that a kernel's words need. A driver may accept a kernel that uses features that were not
 * enabled, and compute wrong results.
 *
 * Most features follow from capabilities. The feature of an atomic depends on the type and the storage class of its pointer, and
 * that of a subgroup operation on its type. So kernels with such instructions get a second pass that records types. O(words).
 *
 * limits: ids up to SPIR-V's universal limit of 4194303. Atomics on texels are checked by capabilities only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

extern inline void SpvHasResultAndType(SpvOp, bool *, bool *); /* defined by the header */

enum { HEADER_WORDS = 5, MOST_IDS = 0x400000 };

static uint32_t
word_at(const vyre_kernel_desc *desc, size_t index)
{
  uint32_t word;
  memcpy(&word, (const char *)desc->code + index * 4, 4); /* the code may be unaligned */
  return word;
}

/* ---- capabilities -------------------------------------------------------------------------------------------------------- */

static vyre_status
missing_feature(const vyre_target *target, const vyre_kernel_desc *desc, const char *what, const char *feature)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "vulkan: kernel '%s' needs %s, which the device '%s' lacks (%s)\n"
                    "Fix: choose another device, or use another target",
                    desc->label, what, target->base.info.name, feature);
}

/* The set of device properties in which a capability needs a bit. OF_NOTHING: the target never enables it. */
typedef enum need_of { OF_FEATURES, OF_ATOMICS, OF_SUBGROUP, OF_EXTENSIONS, OF_NOTHING } need_of;

static const struct {
  uint32_t capability, bits;
  need_of of;
  const char *name, *vulkan;
} capability_needs[] = {
#define NEED(name, bits, of, vulkan)             \
  {                                              \
    SpvCapability##name, bits, of, #name, vulkan \
  }
    NEED(Float16, VYRE_DEVICE_FLOAT16, OF_FEATURES, "shaderFloat16"),
    NEED(Float64, VYRE_DEVICE_FLOAT64, OF_FEATURES, "shaderFloat64"),
    NEED(Int64, VYRE_DEVICE_INT64, OF_FEATURES, "shaderInt64"),
    NEED(Int16, VYRE_DEVICE_INT16, OF_FEATURES, "shaderInt16"),
    NEED(Int8, VYRE_DEVICE_INT8, OF_FEATURES, "shaderInt8"),
    NEED(StorageBuffer16BitAccess, VYRE_DEVICE_STORAGE16, OF_FEATURES, "storageBuffer16BitAccess"),
    NEED(UniformAndStorageBuffer16BitAccess, VYRE_DEVICE_UNIFORM16, OF_FEATURES, "uniformAndStorageBuffer16BitAccess"),
    NEED(StoragePushConstant16, VYRE_DEVICE_PUSH16, OF_FEATURES, "storagePushConstant16"),
    NEED(StorageBuffer8BitAccess, VYRE_DEVICE_STORAGE8, OF_FEATURES, "storageBuffer8BitAccess"),
    NEED(UniformAndStorageBuffer8BitAccess, VYRE_DEVICE_UNIFORM8, OF_FEATURES, "uniformAndStorageBuffer8BitAccess"),
    NEED(StoragePushConstant8, VYRE_DEVICE_PUSH8, OF_FEATURES, "storagePushConstant8"),
    NEED(Int64Atomics, VYRE_DEVICE_ATOMIC_INT64, OF_ATOMICS, "shaderBufferInt64Atomics"),
    NEED(AtomicFloat16AddEXT, VYRE_DEVICE_ATOMIC_F16_ADD, OF_ATOMICS, "shaderBufferFloat16AtomicAdd"),
    NEED(AtomicFloat32AddEXT, VYRE_DEVICE_ATOMIC_F32_ADD, OF_ATOMICS, "shaderBufferFloat32AtomicAdd"),
    NEED(AtomicFloat64AddEXT, VYRE_DEVICE_ATOMIC_F64_ADD, OF_ATOMICS, "shaderBufferFloat64AtomicAdd"),
    NEED(AtomicFloat16MinMaxEXT, VYRE_DEVICE_ATOMIC_F16_MINMAX, OF_ATOMICS, "shaderBufferFloat16AtomicMinMax"),
    NEED(AtomicFloat32MinMaxEXT, VYRE_DEVICE_ATOMIC_F32_MINMAX, OF_ATOMICS, "shaderBufferFloat32AtomicMinMax"),
    NEED(AtomicFloat64MinMaxEXT, VYRE_DEVICE_ATOMIC_F64_MINMAX, OF_ATOMICS, "shaderBufferFloat64AtomicMinMax"),
    NEED(GroupNonUniform, VYRE_DEVICE_SUBGROUP_BASIC, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_BASIC_BIT"),
    NEED(GroupNonUniformVote, VYRE_DEVICE_SUBGROUP_VOTE, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_VOTE_BIT"),
    NEED(GroupNonUniformArithmetic, VYRE_DEVICE_SUBGROUP_ARITHMETIC, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT"),
    NEED(GroupNonUniformBallot, VYRE_DEVICE_SUBGROUP_BALLOT, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_BALLOT_BIT"),
    NEED(GroupNonUniformShuffle, VYRE_DEVICE_SUBGROUP_SHUFFLE, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_SHUFFLE_BIT"),
    NEED(GroupNonUniformShuffleRelative, VYRE_DEVICE_SUBGROUP_SHUFFLE_RELATIVE, OF_SUBGROUP,
         "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT"),
    NEED(GroupNonUniformClustered, VYRE_DEVICE_SUBGROUP_CLUSTERED, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_CLUSTERED_BIT"),
    NEED(GroupNonUniformQuad, VYRE_DEVICE_SUBGROUP_QUAD, OF_SUBGROUP, "VK_SUBGROUP_FEATURE_QUAD_BIT"),
    NEED(SubgroupBallotKHR, 1u << VULKAN_EXTENSION_SUBGROUP_BALLOT, OF_EXTENSIONS, "VK_EXT_shader_subgroup_ballot"),
    NEED(SubgroupVoteKHR, 1u << VULKAN_EXTENSION_SUBGROUP_VOTE, OF_EXTENSIONS, "VK_EXT_shader_subgroup_vote"),
    NEED(GroupNonUniformRotateKHR, 0, OF_NOTHING, "VK_KHR_shader_subgroup_rotate"),
    NEED(Int64ImageEXT, 0, OF_NOTHING, "VK_EXT_shader_image_atomic_int64"),
#undef NEED
    /* newer than the header */
    {5116, 0, OF_NOTHING, "BFloat16TypeKHR", "VK_KHR_shader_bfloat16"},
    {5117, 0, OF_NOTHING, "BFloat16DotProductKHR", "VK_KHR_shader_bfloat16"},
    {5118, 0, OF_NOTHING, "BFloat16CooperativeMatrixKHR", "VK_KHR_shader_bfloat16"},
    {6022, 0, OF_NOTHING, "CooperativeMatrixKHR", "VK_KHR_cooperative_matrix"},
};

/* Capabilities that need exactly one feature. */
static const struct {
  uint32_t capability;
  size_t feature; /* its offset in vulkan_features */
  const char *name, *vulkan;
} feature_needs[] = {
#define NEED(name, part, feature)                                                 \
  {                                                                               \
    SpvCapability##name, offsetof(vulkan_features, part.feature), #name, #feature \
  }
#define NEED_CORE(name, feature)                                                           \
  {                                                                                        \
    SpvCapability##name, offsetof(vulkan_features, core.features.feature), #name, #feature \
  }
    NEED_CORE(ImageCubeArray, imageCubeArray),
    NEED_CORE(SampledCubeArray, imageCubeArray),
    NEED_CORE(ImageGatherExtended, shaderImageGatherExtended),
    NEED_CORE(StorageImageMultisample, shaderStorageImageMultisample),
    NEED_CORE(StorageImageExtendedFormats, shaderStorageImageExtendedFormats),
    NEED_CORE(StorageImageReadWithoutFormat, shaderStorageImageReadWithoutFormat),
    NEED_CORE(StorageImageWriteWithoutFormat, shaderStorageImageWriteWithoutFormat),
    NEED_CORE(UniformBufferArrayDynamicIndexing, shaderUniformBufferArrayDynamicIndexing),
    NEED_CORE(SampledImageArrayDynamicIndexing, shaderSampledImageArrayDynamicIndexing),
    NEED_CORE(StorageBufferArrayDynamicIndexing, shaderStorageBufferArrayDynamicIndexing),
    NEED_CORE(StorageImageArrayDynamicIndexing, shaderStorageImageArrayDynamicIndexing),
    NEED_CORE(MinLod, shaderResourceMinLod),
    NEED_CORE(SparseResidency, shaderResourceResidency),
    NEED(RuntimeDescriptorArray, v12, runtimeDescriptorArray),
    NEED(UniformTexelBufferArrayDynamicIndexing, v12, shaderUniformTexelBufferArrayDynamicIndexing),
    NEED(StorageTexelBufferArrayDynamicIndexing, v12, shaderStorageTexelBufferArrayDynamicIndexing),
    NEED(UniformBufferArrayNonUniformIndexing, v12, shaderUniformBufferArrayNonUniformIndexing),
    NEED(SampledImageArrayNonUniformIndexing, v12, shaderSampledImageArrayNonUniformIndexing),
    NEED(StorageBufferArrayNonUniformIndexing, v12, shaderStorageBufferArrayNonUniformIndexing),
    NEED(StorageImageArrayNonUniformIndexing, v12, shaderStorageImageArrayNonUniformIndexing),
    NEED(UniformTexelBufferArrayNonUniformIndexing, v12, shaderUniformTexelBufferArrayNonUniformIndexing),
    NEED(StorageTexelBufferArrayNonUniformIndexing, v12, shaderStorageTexelBufferArrayNonUniformIndexing),
    NEED(PhysicalStorageBufferAddresses, v12, bufferDeviceAddress),
    NEED(DotProduct, dots, shaderIntegerDotProduct),
#undef NEED
#undef NEED_CORE
};

static bool
has_feature(const vyre_target *target, size_t place)
{
  VkBool32 has;
  memcpy(&has, (const char *)&target->features + place, sizeof has);
  return has != VK_FALSE;
}

static vyre_status
check_capability(const vyre_target *target, const vyre_kernel_desc *desc, uint32_t capability)
{
  const vyre_device_info *info = &target->base.info;
  const uint32_t has[] = {[OF_FEATURES] = info->features,
                          [OF_ATOMICS] = info->storage_atomics | info->shared_atomics,
                          [OF_SUBGROUP] = info->subgroup_operations,
                          [OF_EXTENSIONS] = target->choice.extensions,
                          [OF_NOTHING] = 0};
  for (size_t i = 0; i < sizeof capability_needs / sizeof capability_needs[0]; i++)
    if (capability_needs[i].capability == capability && !(has[capability_needs[i].of] & capability_needs[i].bits))
      return missing_feature(target, desc, capability_needs[i].name, capability_needs[i].vulkan);
  for (size_t i = 0; i < sizeof feature_needs / sizeof feature_needs[0]; i++)
    if (feature_needs[i].capability == capability && !has_feature(target, feature_needs[i].feature))
      return missing_feature(target, desc, feature_needs[i].name, feature_needs[i].vulkan);
  return VYRE_OK;
}

/* ---- floats -------------------------------------------------------------------------------------------------------------- */

/* Checks an execution mode of any entry point. */
static vyre_status
check_float_mode(const vyre_target *target, const vyre_kernel_desc *desc, uint32_t mode, uint32_t width)
{
  static const struct {
    uint32_t mode, control;
    const char *name, *vulkan;
  } modes[] = {{SpvExecutionModeDenormPreserve, VYRE_FLOAT_DENORM_PRESERVE, "DenormPreserve", "shaderDenormPreserve"},
               {SpvExecutionModeDenormFlushToZero, VYRE_FLOAT_DENORM_FLUSH, "DenormFlushToZero", "shaderDenormFlushToZero"},
               {SpvExecutionModeSignedZeroInfNanPreserve, VYRE_FLOAT_SIGNED_ZERO_INF_NAN, "SignedZeroInfNanPreserve",
                "shaderSignedZeroInfNanPreserve"},
               {SpvExecutionModeRoundingModeRTE, VYRE_FLOAT_ROUND_EVEN, "RoundingModeRTE", "shaderRoundingModeRTE"},
               {SpvExecutionModeRoundingModeRTZ, VYRE_FLOAT_ROUND_TO_ZERO, "RoundingModeRTZ", "shaderRoundingModeRTZ"}};
  uint32_t which = 0;
  while (which < 5 && modes[which].mode != mode)
    which++;
  if (which == 5 || (width != 16 && width != 32 && width != 64))
    return VYRE_OK;
  const vyre_kind kind = width == 16 ? VYRE_F16 : width == 32 ? VYRE_F32 : VYRE_F64;
  if (target->base.info.float_controls & VYRE_FLOAT_CONTROLS(kind, modes[which].control))
    return VYRE_OK;
  char what[64], feature[64];
  snprintf(what, sizeof what, "%s of %u bits", modes[which].name, width);
  snprintf(feature, sizeof feature, "%sFloat%u", modes[which].vulkan, width);
  return missing_feature(target, desc, what, feature);
}

/* ---- types --------------------------------------------------------------------------------------------------------------- */

/* Properties of an id: a type, or a value of which only the type is recorded. */
typedef struct known {
  uint8_t scalar;        /* the vyre_device_atomic for loads and stores of a scalar type, or 0 if atomics need no feature */
  bool is_extended;      /* whether subgroup operations on the scalar or vector type need shaderSubgroupExtendedTypes */
  uint8_t storage_class; /* of a pointer type */
  uint32_t type;         /* type of a value, or pointee of a pointer type */
} known;

static void
record_type(const vyre_kernel_desc *desc, size_t at, uint32_t length, known *ids, uint32_t bound)
{
  const uint32_t op = 0xffffu & word_at(desc, at);
  const uint32_t first = length > 1 ? word_at(desc, at + 1) : 0, second = length > 2 ? word_at(desc, at + 2) : 0;
  const uint32_t width = second;
  bool has_result, has_type;
  switch (op) {
  case SpvOpTypeInt:
    if (length > 2 && first < bound) {
      ids[first].scalar = width == 64 ? VYRE_DEVICE_ATOMIC_INT64 : 0;
      ids[first].is_extended = width != 32;
    }
    return;
  case SpvOpTypeFloat:
    if (length > 2 && first < bound) {
      ids[first].scalar = (uint8_t)(width == 16   ? VYRE_DEVICE_ATOMIC_F16
                                    : width == 32 ? VYRE_DEVICE_ATOMIC_F32
                                                  : VYRE_DEVICE_ATOMIC_F64);
      ids[first].is_extended = width == 16;
    }
    return;
  case SpvOpTypeVector:
    if (length > 2 && first < bound && second < bound)
      ids[first].is_extended = ids[second].is_extended;
    return;
  case SpvOpTypePointer:
    if (length > 3 && first < bound) {
      ids[first].storage_class = (uint8_t)second;
      ids[first].type = word_at(desc, at + 3);
    }
    return;
  default:
    SpvHasResultAndType((SpvOp)op, &has_result, &has_type);
    if (has_result && has_type && length > 2 && second < bound)
      ids[second].type = first;
    return;
  }
}

static bool
is_atomic(uint32_t op)
{
  return (op >= SpvOpAtomicLoad && op <= SpvOpAtomicXor) || op == SpvOpAtomicFAddEXT || op == SpvOpAtomicFMinEXT ||
         op == SpvOpAtomicFMaxEXT;
}

static vyre_status
check_atomic(const vyre_target *target, const vyre_kernel_desc *desc, size_t at, uint32_t length, const known *ids, uint32_t bound)
{
  static const struct {
    uint32_t bit;
    const char *name;
  } parts[] = {{VYRE_DEVICE_ATOMIC_INT64, "Int64Atomics"},
               {VYRE_DEVICE_ATOMIC_F16, "Float16Atomics"},
               {VYRE_DEVICE_ATOMIC_F16_ADD, "Float16AtomicAdd"},
               {VYRE_DEVICE_ATOMIC_F16_MINMAX, "Float16AtomicMinMax"},
               {VYRE_DEVICE_ATOMIC_F32, "Float32Atomics"},
               {VYRE_DEVICE_ATOMIC_F32_ADD, "Float32AtomicAdd"},
               {VYRE_DEVICE_ATOMIC_F32_MINMAX, "Float32AtomicMinMax"},
               {VYRE_DEVICE_ATOMIC_F64, "Float64Atomics"},
               {VYRE_DEVICE_ATOMIC_F64_ADD, "Float64AtomicAdd"},
               {VYRE_DEVICE_ATOMIC_F64_MINMAX, "Float64AtomicMinMax"}};
  const uint32_t op = 0xffffu & word_at(desc, at), place = op == SpvOpAtomicStore ? 1 : 3;
  const uint32_t pointer = length > place ? word_at(desc, at + place) : 0;
  const uint32_t type = pointer < bound ? ids[pointer].type : 0, pointee = type < bound ? ids[type].type : 0;
  uint32_t need = pointee < bound ? ids[pointee].scalar : 0;
  if (op == SpvOpAtomicFAddEXT)
    need <<= 1;
  if (op == SpvOpAtomicFMinEXT || op == SpvOpAtomicFMaxEXT)
    need <<= 2;
  if (ids[type < bound ? type : 0].storage_class == SpvStorageClassImage)
    return VYRE_OK;
  const bool shared = need && ids[type].storage_class == SpvStorageClassWorkgroup;
  const uint32_t has = shared ? target->base.info.shared_atomics : target->base.info.storage_atomics;
  if ((need & ~has) == 0)
    return VYRE_OK;
  uint32_t which = 0;
  while (parts[which].bit != need)
    which++;
  char feature[64], what[80];
  snprintf(feature, sizeof feature, "shader%s%s", shared ? "Shared" : "Buffer", parts[which].name);
  snprintf(what, sizeof what, "an atomic on %s in %s", which == 0 ? "64-bit integers" : "floats",
           shared ? "workgroup memory" : "a storage buffer");
  return missing_feature(target, desc, what, feature);
}

/* Returns whether check_group checks the op: a subgroup operation on values of any type. Ballots have 32-bit results. */
static bool
is_group(uint32_t op)
{
  return (op >= SpvOpGroupNonUniformAllEqual && op <= SpvOpGroupNonUniformQuadSwap) || op == SpvOpGroupNonUniformRotateKHR;
}

static vyre_status
check_group(const vyre_target *target, const vyre_kernel_desc *desc, size_t at, uint32_t length, const known *ids, uint32_t bound)
{
  const bool is_equality = (0xffffu & word_at(desc, at)) == SpvOpGroupNonUniformAllEqual; /* its result is a bool */
  const uint32_t value = is_equality && length > 4 ? word_at(desc, at + 4) : 0;
  const uint32_t type = is_equality ? (value < bound ? ids[value].type : 0) : length > 1 ? word_at(desc, at + 1) : 0;
  if (type >= bound || !ids[type].is_extended || (target->base.info.features & VYRE_DEVICE_SUBGROUP_TYPES))
    return VYRE_OK;
  return missing_feature(target, desc, "a subgroup operation on integers that are not of 32 bits, or on f16",
                         "shaderSubgroupExtendedTypes");
}

/* Checks a variable of that storage class with an initializer. */
static vyre_status
check_initializer(const vyre_target *target, const vyre_kernel_desc *desc, uint32_t storage_class)
{
  if (storage_class != SpvStorageClassWorkgroup || target->features.zeros.shaderZeroInitializeWorkgroupMemory)
    return VYRE_OK;
  return missing_feature(target, desc, "workgroup memory with initial zeros", "shaderZeroInitializeWorkgroupMemory");
}

static vyre_status
check_types(const vyre_target *target, const vyre_kernel_desc *desc)
{
  const uint32_t bound = word_at(desc, 3);
  if (bound == 0 || bound > MOST_IDS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' has ids up to %u, but SPIR-V allows at most 4194303\n"
                      "Fix: the module is damaged; make it again",
                      desc->label, bound);
  known *ids = vyre_allocate(&target->base.allocator, sizeof *ids * bound);
  if (!ids)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  vyre_status status = VYRE_OK;
  for (size_t at = HEADER_WORDS; at < desc->size / 4 && !status; at += word_at(desc, at) >> 16) {
    const uint32_t length = word_at(desc, at) >> 16;
    if (is_atomic(0xffffu & word_at(desc, at)))
      status = check_atomic(target, desc, at, length, ids, bound);
    else if (is_group(0xffffu & word_at(desc, at)))
      status = check_group(target, desc, at, length, ids, bound);
    record_type(desc, at, length, ids, bound);
  }
  vyre_release(&target->base.allocator, ids, sizeof *ids * bound);
  return status;
}

/* ---- entry --------------------------------------------------------------------------------------------------------------- */

vyre_status
vulkan_check_needs(const vyre_target *target, const vyre_kernel_desc *desc)
{
  bool typed = false;
  for (size_t at = HEADER_WORDS; at < desc->size / 4; at += word_at(desc, at) >> 16) {
    const uint32_t op = 0xffffu & word_at(desc, at);
    if (op == SpvOpCapability && word_at(desc, at) >> 16 == 2)
      VYRE_TRY(check_capability(target, desc, word_at(desc, at + 1)));
    if (op == SpvOpExecutionMode && word_at(desc, at) >> 16 == 4)
      VYRE_TRY(check_float_mode(target, desc, word_at(desc, at + 2), word_at(desc, at + 3)));
    if (op == SpvOpVariable && word_at(desc, at) >> 16 == 5)
      VYRE_TRY(check_initializer(target, desc, word_at(desc, at + 3)));
    typed |= is_atomic(op) || is_group(op);
  }
  return typed ? check_types(target, desc) : VYRE_OK;
}
