/* Scopes and orders of atomics and barriers as Vulkan's SPIR-V has them.  What a row asks for and SPIR-V cannot say has no
 * meaning there: a load does not release, one invocation alone needs no order, and only the Vulkan memory model knows availability,
 * visibility and queue families.  What comes from a valid module goes out as it came.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#define ACQUIRE         SpvMemorySemanticsAcquireMask
#define RELEASE         SpvMemorySemanticsReleaseMask
#define ACQUIRE_RELEASE SpvMemorySemanticsAcquireReleaseMask
#define ALL_ORDERS      (ACQUIRE | RELEASE | ACQUIRE_RELEASE | SpvMemorySemanticsSequentiallyConsistentMask)
#define OF_VULKAN_MODEL                                                                                           \
  (SpvMemorySemanticsOutputMemoryMask | SpvMemorySemanticsMakeAvailableMask | SpvMemorySemanticsMakeVisibleMask | \
   SpvMemorySemanticsVolatileMask)
/* the kinds of memory that Vulkan orders */
#define MEMORY                                                                                                       \
  (SpvMemorySemanticsUniformMemoryMask | SpvMemorySemanticsWorkgroupMemoryMask | SpvMemorySemanticsImageMemoryMask | \
   SpvMemorySemanticsOutputMemoryMask)

static vyre_spv_order
order_of(const vyre_spv *s, uint32_t imm, uint32_t scope_if_none)
{
  vyre_spv_order result = {.scope = VYRE_ORDER_MEMORY(imm), .semantics = VYRE_ORDER_SEMANTICS(imm)};
  if (result.scope == SpvScopeCrossDevice) /* which Vulkan has not: none was given */
    result.scope = scope_if_none;
  if (s->memory_model != SpvMemoryModelVulkan) {
    result.semantics &= ~(uint32_t)OF_VULKAN_MODEL;
    if (result.scope == SpvScopeQueueFamily)
      result.scope = SpvScopeDevice;
  }
  return result;
}

/* `order` instead of those that the semantics have, or none. */
static uint32_t
with_order(uint32_t semantics, uint32_t order)
{
  return order ? (semantics & ~(uint32_t)ALL_ORDERS) | order : 0;
}

vyre_spv_order
vyre_spv_atomic_order(const vyre_spv *s, vyre_opcode op, uint32_t imm, uint32_t scope_if_none)
{
  vyre_spv_order result = order_of(s, imm, scope_if_none);
  const uint32_t order = result.semantics & ALL_ORDERS;
  if (result.scope == SpvScopeInvocation)
    result.semantics = 0;
  else if (op == VYRE_OP_atomic_load && order)
    result.semantics = with_order(result.semantics, order == RELEASE ? 0 : ACQUIRE);
  else if (op == VYRE_OP_atomic_store && order)
    result.semantics = with_order(result.semantics, order == ACQUIRE ? 0 : RELEASE);
  result.unequal = result.semantics;
  if (order & RELEASE) /* a failed exchange does not release */
    result.unequal = result.semantics & SpvMemorySemanticsVolatileMask;
  else if (order & ACQUIRE_RELEASE)
    result.unequal = with_order(result.semantics, result.semantics ? ACQUIRE : 0) & ~(uint32_t)SpvMemorySemanticsMakeAvailableMask;
  return result;
}

vyre_spv_order
vyre_spv_barrier_order(const vyre_spv *s, uint32_t imm)
{
  vyre_spv_order result = order_of(s, imm, SpvScopeDevice);
  result.empty = VYRE_ORDER_EXECUTION(imm) == SpvScopeInvocation && !(result.semantics & MEMORY);
  return result;
}
