/* The start of a strict program: lengths that bounds are checked against, and workgroup memory made zero.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

static void
store_zero(vyre_spv *s, uint32_t pointer, vyre_type_id type)
{
  const uint32_t operands[2] = {pointer, vyre_spv_null(s, vyre_spv_type(s, type, VYRE_SPV_BARE))};
  vyre_spv_instruction(s, &s->code, SpvOpStore, operands, 2);
}

/* for (i = lindex; i < count; i += invocations) buffer[i] = 0 */
static void
zero_array(vyre_spv *s, uint32_t buffer, const vyre_type_info *info, uint32_t lindex, uint32_t invocations)
{
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  const uint32_t count = info->count_row ? vyre_spv_pinned(s, info->count_row) : vyre_spv_u32(s, info->count);
  const uint32_t pointer = vyre_spv_pointer(s, SpvStorageClassWorkgroup, vyre_spv_type(s, info->element, VYRE_SPV_BARE));
  const uint32_t before = s->block, header = s->next_id++, body = s->next_id++, next = s->next_id++, merge = s->next_id++;
  const uint32_t index = s->next_id++, advanced = s->next_id++;
  vyre_spv_branch(s, header);
  vyre_spv_label(s, header);
  const uint32_t phi[6] = {u32, index, lindex, before, advanced, next}, loop[3] = {merge, next, 0};
  vyre_spv_instruction(s, &s->code, SpvOpPhi, phi, 6);
  const uint32_t inside = vyre_spv_op2(s, SpvOpULessThan, vyre_spv_boolean(s), index, count);
  const uint32_t branch[3] = {inside, body, merge};
  vyre_spv_instruction(s, &s->code, SpvOpLoopMerge, loop, 3);
  vyre_spv_instruction(s, &s->code, SpvOpBranchConditional, branch, 3);
  vyre_spv_label(s, body);
  store_zero(s, vyre_spv_op2(s, SpvOpAccessChain, pointer, vyre_spv_value(s, buffer), index), info->element);
  vyre_spv_branch(s, next);
  vyre_spv_label(s, next);
  const uint32_t add[4] = {u32, advanced, index, invocations};
  vyre_spv_instruction(s, &s->code, SpvOpIAdd, add, 4);
  vyre_spv_branch(s, header);
  vyre_spv_label(s, merge);
}

/* Workgroup memory is zero at the start: the invocations share the stores, and wait for each other. */
static void
zero_workgroup(vyre_spv *s)
{
  uint32_t lindex = 0, invocations = 0;
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  for (uint32_t row = s->first[s->program]; row && !vyre_spv_failed(s); row = s->next[row]) {
    if (vyre_spv_opcode(s, row) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(s->imm_hi[row]) != VYRE_SPACE_WORKGROUP)
      continue;
    if (!lindex) {
      lindex = vyre_spv_place(s, VYRE_OP_lindex);
      invocations = vyre_spv_op2(s, SpvOpIMul, u32, s->workgroup_key[0], s->workgroup_key[1]);
      invocations = vyre_spv_op2(s, SpvOpIMul, u32, invocations, s->workgroup_key[2]);
    }
    const vyre_type_info info = vyre_type_get(s->module, s->imm[row]);
    if (info.form == VYRE_FORM_ARRAY) {
      zero_array(s, row, &info, lindex, invocations);
      continue;
    }
    const uint32_t zero = vyre_spv_u32(s, 0);
    const uint32_t first = vyre_spv_op2(s, SpvOpIEqual, vyre_spv_boolean(s), lindex, zero);
    const vyre_spv_branching branching = vyre_spv_if_begin(s, first);
    store_zero(s, vyre_spv_value(s, row), s->imm[row]);
    vyre_spv_if_end(s, branching, 0, 0, 0);
  }
  if (lindex)
    vyre_spv_barrier(s, VYRE_ORDER(SpvScopeWorkgroup, SpvScopeWorkgroup,
                                   SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask));
}

void
vyre_spv_memory_start(vyre_spv *s)
{
  for (uint32_t row = s->first[s->program]; row; row = s->next[row]) {
    if (vyre_spv_opcode(s, row) != VYRE_OP_buffer || !vyre_spv_has_layout(s, row))
      continue;
    const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
    const vyre_type_info info = vyre_type_get(s->module, s->imm[row]);
    if (info.form == VYRE_FORM_ARRAY && (info.flags & VYRE_TYPE_RUNTIME) && (s->use[row - s->base] & VYRE_SPV_WRAPPED))
      s->aux[row - s->base] = vyre_spv_op2(s, SpvOpArrayLength, u32, vyre_spv_value(s, row), 0);
    if (info.form == VYRE_FORM_STRUCT && info.count > 0 &&
        (vyre_type_get(s->module, info.members[info.count - 1].type).flags & VYRE_TYPE_RUNTIME))
      s->aux[row - s->base] = vyre_spv_op2(s, SpvOpArrayLength, u32, vyre_spv_value(s, row), info.count - 1);
  }
  zero_workgroup(s);
}
