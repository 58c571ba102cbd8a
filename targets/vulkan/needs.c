/* What a kernel needs of a device, told from its words: a driver may take a kernel that uses what it was not asked for, and
 * compute anything.
 *
 * Capabilities say most.  What an atomic needs depends on the type and the kind of memory behind its pointer; for this the types of
 * pointers are followed: linear in the words, and only where there are atomics.
 *
 * limits: pointers that come out of functions' results or phis have types too, so no case is left out; ids up to SPIR-V's universal
 * limit of 4194303.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_WORDS = 5, MOST_IDS = 0x400000 };

static uint32_t
word_at(const vyre_kernel_desc *desc, size_t index)
{
  uint32_t word;
  memcpy(&word, (const char *)desc->code + index * 4, 4); /* code may stand at any address */
  return word;
}

/* ---- capabilities -------------------------------------------------------------------------------------------------------- */

static vyre_status
lacks(const vyre_target *target, const vyre_kernel_desc *desc, const char *what, const char *feature)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "vulkan: kernel '%s' needs %s, which the device '%s' lacks (%s)\n"
                    "Fix: choose another device (-device=), or -target=cpu",
                    desc->label, what, target->choice.info.name, feature);
}

/* A capability needs the feature, or one of the atomics in some memory. */
static const struct {
  uint32_t capability, feature, atomics;
  const char *name, *vulkan;
} capability_needs[] = {
    {SpvCapabilityFloat16, VYRE_DEVICE_FLOAT16, 0, "Float16", "shaderFloat16"},
    {SpvCapabilityFloat64, VYRE_DEVICE_FLOAT64, 0, "Float64", "shaderFloat64"},
    {SpvCapabilityInt64, VYRE_DEVICE_INT64, 0, "Int64", "shaderInt64"},
    {SpvCapabilityInt16, VYRE_DEVICE_INT16, 0, "Int16", "shaderInt16"},
    {SpvCapabilityInt8, VYRE_DEVICE_INT8, 0, "Int8", "shaderInt8"},
    {SpvCapabilityStorageBuffer16BitAccess, VYRE_DEVICE_STORAGE16, 0, "StorageBuffer16BitAccess", "storageBuffer16BitAccess"},
    {SpvCapabilityUniformAndStorageBuffer16BitAccess, VYRE_DEVICE_UNIFORM16, 0, "UniformAndStorageBuffer16BitAccess",
     "uniformAndStorageBuffer16BitAccess"},
    {SpvCapabilityStoragePushConstant16, VYRE_DEVICE_PUSH16, 0, "StoragePushConstant16", "storagePushConstant16"},
    {SpvCapabilityStorageBuffer8BitAccess, VYRE_DEVICE_STORAGE8, 0, "StorageBuffer8BitAccess", "storageBuffer8BitAccess"},
    {SpvCapabilityUniformAndStorageBuffer8BitAccess, VYRE_DEVICE_UNIFORM8, 0, "UniformAndStorageBuffer8BitAccess",
     "uniformAndStorageBuffer8BitAccess"},
    {SpvCapabilityStoragePushConstant8, VYRE_DEVICE_PUSH8, 0, "StoragePushConstant8", "storagePushConstant8"},
    {SpvCapabilityInt64Atomics, 0, VYRE_DEVICE_ATOMIC_INT64, "Int64Atomics", "shaderBufferInt64Atomics"},
    {SpvCapabilityAtomicFloat16AddEXT, 0, VYRE_DEVICE_ATOMIC_F16_ADD, "AtomicFloat16AddEXT", "shaderBufferFloat16AtomicAdd"},
    {SpvCapabilityAtomicFloat32AddEXT, 0, VYRE_DEVICE_ATOMIC_F32_ADD, "AtomicFloat32AddEXT", "shaderBufferFloat32AtomicAdd"},
    {SpvCapabilityAtomicFloat64AddEXT, 0, VYRE_DEVICE_ATOMIC_F64_ADD, "AtomicFloat64AddEXT", "shaderBufferFloat64AtomicAdd"},
    {SpvCapabilityAtomicFloat16MinMaxEXT, 0, VYRE_DEVICE_ATOMIC_F16_MINMAX, "AtomicFloat16MinMaxEXT",
     "shaderBufferFloat16AtomicMinMax"},
    {SpvCapabilityAtomicFloat32MinMaxEXT, 0, VYRE_DEVICE_ATOMIC_F32_MINMAX, "AtomicFloat32MinMaxEXT",
     "shaderBufferFloat32AtomicMinMax"},
    {SpvCapabilityAtomicFloat64MinMaxEXT, 0, VYRE_DEVICE_ATOMIC_F64_MINMAX, "AtomicFloat64MinMaxEXT",
     "shaderBufferFloat64AtomicMinMax"},
};

static vyre_status
check_capability(const vyre_target *target, const vyre_kernel_desc *desc, uint32_t capability)
{
  const vyre_device_info *info = &target->choice.info;
  for (size_t i = 0; i < sizeof capability_needs / sizeof capability_needs[0]; i++) {
    if (capability_needs[i].capability != capability || (info->features & capability_needs[i].feature) ||
        ((info->storage_atomics | info->shared_atomics) & capability_needs[i].atomics))
      continue;
    return lacks(target, desc, capability_needs[i].name, capability_needs[i].vulkan);
  }
  return VYRE_OK;
}

/* ---- atomics ------------------------------------------------------------------------------------------------------------- */

/* What is known of an id: of a type, what it is; of a value, its type. */
typedef struct known {
  uint8_t scalar;        /* a vyre_device_atomic for its plain accesses; 0: atomics on it need nothing */
  uint8_t storage_class; /* of a pointer */
  uint32_t type;         /* of a value: its type; of a pointer type: what it points to */
} known;

static void
learn(const vyre_kernel_desc *desc, size_t at, uint32_t length, known *ids, uint32_t bound)
{
  const uint32_t op = 0xffffu & word_at(desc, at);
  const uint32_t first = length > 1 ? word_at(desc, at + 1) : 0, second = length > 2 ? word_at(desc, at + 2) : 0;
  const uint32_t width = second;
  switch (op) {
  case SpvOpTypeInt:
    if (length > 2 && first < bound)
      ids[first].scalar = width == 64 ? VYRE_DEVICE_ATOMIC_INT64 : 0;
    return;
  case SpvOpTypeFloat:
    if (length > 2 && first < bound)
      ids[first].scalar = (uint8_t)(width == 16   ? VYRE_DEVICE_ATOMIC_F16
                                    : width == 32 ? VYRE_DEVICE_ATOMIC_F32
                                                  : VYRE_DEVICE_ATOMIC_F64);
    return;
  case SpvOpTypePointer:
    if (length > 3 && first < bound) {
      ids[first].storage_class = (uint8_t)second;
      ids[first].type = word_at(desc, at + 3);
    }
    return;
  case SpvOpVariable:
  case SpvOpFunctionParameter:
  case SpvOpFunctionCall:
  case SpvOpAccessChain:
  case SpvOpInBoundsAccessChain:
  case SpvOpPtrAccessChain:
  case SpvOpInBoundsPtrAccessChain:
  case SpvOpCopyObject:
  case SpvOpSelect:
  case SpvOpPhi:
    if (length > 2 && second < bound)
      ids[second].type = first;
    return;
  default:
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
  static const char *const parts[] = {"Int64Atomics",     "Float16Atomics",     "Float16AtomicAdd",    "Float16AtomicMinMax",
                                      "Float32Atomics",   "Float32AtomicAdd",   "Float32AtomicMinMax", "Float64Atomics",
                                      "Float64AtomicAdd", "Float64AtomicMinMax"};
  const uint32_t op = 0xffffu & word_at(desc, at), place = op == SpvOpAtomicStore ? 1 : 3;
  const uint32_t pointer = length > place ? word_at(desc, at + place) : 0;
  const uint32_t type = pointer < bound ? ids[pointer].type : 0, pointee = type < bound ? ids[type].type : 0;
  uint32_t need = pointee < bound ? ids[pointee].scalar : 0;
  if (op == SpvOpAtomicFAddEXT)
    need <<= 1; /* ORDER: vyre_device_atomic */
  if (op == SpvOpAtomicFMinEXT || op == SpvOpAtomicFMaxEXT)
    need <<= 2;
  const bool shared = need && ids[type].storage_class == SpvStorageClassWorkgroup;
  const uint32_t has = shared ? target->choice.info.shared_atomics : target->choice.info.storage_atomics;
  if ((need & ~has) == 0)
    return VYRE_OK;
  uint32_t which = 0;
  while (need >> which != 1)
    which++;
  char feature[64], what[80];
  snprintf(feature, sizeof feature, "shader%s%s", shared ? "Shared" : "Buffer", parts[which]);
  snprintf(what, sizeof what, "an atomic on %s in %s", which == 0 ? "64-bit integers" : "floats",
           shared ? "workgroup memory" : "a storage buffer");
  return lacks(target, desc, what, feature);
}

static vyre_status
check_atomics(const vyre_target *target, const vyre_kernel_desc *desc)
{
  const uint32_t bound = word_at(desc, 3);
  if (bound == 0 || bound > MOST_IDS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "vulkan: kernel '%s' has ids up to %u, SPIR-V allows 4194303\n"
                      "Fix: the module is damaged; make it again",
                      desc->label, bound);
  known *ids = vulkan_resize(&target->allocator, NULL, 0, sizeof *ids * bound);
  if (!ids)
    return VYRE_OUT_OF_MEMORY("for a Vulkan kernel");
  memset(ids, 0, sizeof *ids * bound);
  vyre_status status = VYRE_OK;
  for (size_t at = HEADER_WORDS; at < desc->size / 4 && !status; at += word_at(desc, at) >> 16) {
    const uint32_t length = word_at(desc, at) >> 16;
    if (is_atomic(0xffffu & word_at(desc, at)))
      status = check_atomic(target, desc, at, length, ids, bound);
    else
      learn(desc, at, length, ids, bound);
  }
  vulkan_resize(&target->allocator, ids, sizeof *ids * bound, 0);
  return status;
}

/* ---- entry --------------------------------------------------------------------------------------------------------------- */

vyre_status
vulkan_check_needs(const vyre_target *target, const vyre_kernel_desc *desc)
{
  bool atomics = false;
  for (size_t at = HEADER_WORDS; at < desc->size / 4; at += word_at(desc, at) >> 16) {
    const uint32_t op = 0xffffu & word_at(desc, at);
    if (op == SpvOpCapability && word_at(desc, at) >> 16 == 2)
      VYRE_TRY(check_capability(target, desc, word_at(desc, at + 1)));
    atomics |= is_atomic(op);
  }
  return atomics ? check_atomics(target, desc) : VYRE_OK;
}
