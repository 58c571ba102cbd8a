/* Atomics and barriers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/memory/memory.h"

static void
need_atomic(vyre_spv *s, vyre_opcode op, vyre_type type)
{
  static const uint32_t add[] = {SpvCapabilityAtomicFloat16AddEXT, SpvCapabilityAtomicFloat32AddEXT,
                                 SpvCapabilityAtomicFloat64AddEXT};
  static const uint32_t minmax[] = {SpvCapabilityAtomicFloat16MinMaxEXT, SpvCapabilityAtomicFloat32MinMaxEXT,
                                    SpvCapabilityAtomicFloat64MinMaxEXT};
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (op == VYRE_OP_atomic_fadd)
    vyre_spv_need(s, add[kind - VYRE_F16], UINT32_MAX,
                  kind == VYRE_F16 ? "SPV_EXT_shader_atomic_float16_add" : "SPV_EXT_shader_atomic_float_add");
  else if (op == VYRE_OP_atomic_fmin || op == VYRE_OP_atomic_fmax)
    vyre_spv_need(s, minmax[kind - VYRE_F16], UINT32_MAX, "SPV_EXT_shader_atomic_float_min_max");
  else if (kind == VYRE_I64 || kind == VYRE_U64)
    vyre_spv_need(s, SpvCapabilityInt64Atomics, 0, NULL);
}

void
vyre_spv_atomic(vyre_spv *s, uint32_t row)
{
  static const uint16_t codes[] = {
#define SPV_ATOMIC(op, instruction) [VYRE_OP_##op - VYRE_OP_atomic_load] = SpvOp##instruction,
#include "spirv/ops.def"
  };
  const vyre_opcode op = vyre_spv_opcode(s, row);
  vyre_spv_address at;
  vyre_spv_address_of(s, s->a[row], &at);
  const bool shared = VYRE_BUFFER_SPACE(s->imm_hi[vyre_spv_buffer_of(s, s->a[row])]) == VYRE_SPACE_WORKGROUP;
  const vyre_spv_order order = vyre_spv_atomic_order(s, op, s->imm[row], shared ? SpvScopeWorkgroup : SpvScopeDevice);
  uint32_t operands[7] = {at.pointer, vyre_spv_u32(s, order.scope)}, count = 3;
  operands[2] = vyre_spv_u32(s, order.semantics);
  need_atomic(s, op, vyre_spv_row_type(s, op == VYRE_OP_atomic_store ? s->b[row] : row));
  if (op == VYRE_OP_atomic_compare_exchange)
    operands[count++] = vyre_spv_u32(s, order.unequal);
  if (op != VYRE_OP_atomic_load)
    operands[count++] = vyre_spv_value(s, s->b[row]);
  if (op == VYRE_OP_atomic_compare_exchange)
    operands[count++] = vyre_spv_value(s, s->c[row]);
  vyre_spv_branching branching = {0};
  if (at.guard)
    branching = vyre_spv_if_begin(s, at.guard);
  if (op == VYRE_OP_atomic_store) {
    vyre_spv_instruction(s, &s->code, SpvOpAtomicStore, operands, count);
    if (at.guard)
      vyre_spv_if_end(s, branching, 0, 0, 0);
    return;
  }
  const uint32_t type = vyre_spv_value_type(s, vyre_spv_row_type(s, row));
  uint32_t result = vyre_spv_op(s, codes[op - VYRE_OP_atomic_load], type, operands, count);
  if (at.guard)
    result = vyre_spv_if_end(s, branching, type, result, vyre_spv_null(s, type));
  s->id[row - s->base] = result;
}

void
vyre_spv_barrier(vyre_spv *s, uint32_t imm)
{
  const vyre_spv_order order = vyre_spv_barrier_order(s, imm);
  uint32_t operands[3];
  if (VYRE_ORDER_EXECUTION(imm) == SpvScopeDevice)
    vyre_spv_fail(s, "a 'barrier device': Vulkan has no barrier for all workgroups of a dispatch\n"
                     "Fix: move the code after it to a separate dispatch");
  if (order.empty)
    return;
  operands[0] = vyre_spv_u32(s, VYRE_ORDER_EXECUTION(imm));
  operands[1] = vyre_spv_u32(s, order.scope);
  operands[2] = vyre_spv_u32(s, order.semantics);
  if (VYRE_ORDER_EXECUTION(imm) == SpvScopeInvocation)
    vyre_spv_instruction(s, &s->code, SpvOpMemoryBarrier, operands + 1, 2);
  else
    vyre_spv_instruction(s, &s->code, SpvOpControlBarrier, operands, 3);
}
