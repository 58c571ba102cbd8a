/* Scopes and memory semantics of atomics and barriers in the SPIR-V of Vulkan.
 *
 * An order that SPIR-V cannot express has no effect there.  Loads do not release, and a single invocation needs no order.  Only the
 * Vulkan memory model has availability, visibility and queue families.  Scopes and semantics from a valid module are written
 * unchanged.
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
/* The kinds of memory that Vulkan orders. */
#define MEMORY                                                                                                       \
  (SpvMemorySemanticsUniformMemoryMask | SpvMemorySemanticsWorkgroupMemoryMask | SpvMemorySemanticsImageMemoryMask | \
   SpvMemorySemanticsOutputMemoryMask)

static vyre_spv_order
order_of(const vyre_spv *s, uint32_t imm, uint32_t scope_if_none)
{
  vyre_spv_order result = {.scope = VYRE_ORDER_MEMORY(imm), .semantics = VYRE_ORDER_SEMANTICS(imm)};
  if (result.scope == SpvScopeCrossDevice) /* Vulkan does not have it, so no scope was given */
    result.scope = scope_if_none;
  if (s->memory_model != SpvMemoryModelVulkan) {
    result.semantics &= ~(uint32_t)OF_VULKAN_MODEL;
    if (result.scope == SpvScopeQueueFamily)
      result.scope = SpvScopeDevice;
  }
  return result;
}

/* Returns the semantics with `order` instead of their own order. */
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
