/* The start of a program: zeroes memory, and reads the lengths that bounds checks of a strict program need.
 *
 * A variable that is initially zero has OpConstantNull as its initializer if that is valid and all tools support it.  It is invalid
 * for pointers, and other tools do not support it for arrays of specialized length.  In those cases, loops store zero to each part
 * that can be zero.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/memory/memory.h"

/* The parts of a type, for zeroing. */
enum {
  HAS_VALUES = 1, /* a scalar, which can be zero */
  HAS_OTHERS = 2, /* a pointer or another opaque part, which has no zero, or an array whose length is not known here */
};

static uint32_t
contents_of(vyre_spv *s, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(s->module, type);
  if (info.form == VYRE_FORM_VALUE || info.form == VYRE_FORM_MATRIX)
    return HAS_VALUES;
  if (info.form == VYRE_FORM_WORDS || vyre_spv_failed(s))
    return HAS_OTHERS;
  const uint32_t known = vyre_spv_made_of(s, VYRE_SPV_A_ZERO, type, 0)->id;
  if (known)
    return known - 1;
  uint32_t contents = 0;
  if (info.form == VYRE_FORM_ARRAY)
    contents = contents_of(s, info.element) | (info.count_row ? (uint32_t)HAS_OTHERS : 0u);
  for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++)
    contents |= contents_of(s, info.members[i].type);
  vyre_spv_made_of(s, VYRE_SPV_A_ZERO, type, 0)->id = 1 + contents;
  return contents;
}

bool
vyre_spv_has_null(vyre_spv *s, vyre_type_id type)
{
  return (contents_of(s, type) & HAS_OTHERS) == 0;
}

static void store_zero(vyre_spv *s, uint32_t storage_class, uint32_t pointer, vyre_type_id type);

/* for (i = first; i < count; i += step) array[i] = 0 */
static void
zero_array(vyre_spv *s, uint32_t storage_class, uint32_t array, const vyre_type_info *info, uint32_t first, uint32_t step)
{
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  const uint32_t count = info->count_row ? vyre_spv_pinned(s, info->count_row) : vyre_spv_u32(s, info->count);
  const uint32_t pointer = vyre_spv_pointer(s, storage_class, vyre_spv_type(s, info->element, VYRE_MODE_BARE));
  const uint32_t before = s->block, header = s->next_id++, body = s->next_id++, next = s->next_id++, merge = s->next_id++;
  const uint32_t index = s->next_id++, advanced = s->next_id++;
  vyre_spv_branch(s, header);
  vyre_spv_label(s, header);
  const uint32_t phi[6] = {u32, index, first, before, advanced, next}, loop[3] = {merge, next, 0};
  vyre_spv_instruction(s, &s->code, SpvOpPhi, phi, 6);
  const uint32_t inside = vyre_spv_op2(s, SpvOpULessThan, vyre_spv_boolean(s), index, count);
  const uint32_t branch[3] = {inside, body, merge};
  vyre_spv_instruction(s, &s->code, SpvOpLoopMerge, loop, 3);
  vyre_spv_instruction(s, &s->code, SpvOpBranchConditional, branch, 3);
  vyre_spv_label(s, body);
  store_zero(s, storage_class, vyre_spv_op2(s, SpvOpAccessChain, pointer, array, index), info->element);
  vyre_spv_branch(s, next);
  vyre_spv_label(s, next);
  const uint32_t add[4] = {u32, advanced, index, step};
  vyre_spv_instruction(s, &s->code, SpvOpIAdd, add, 4);
  vyre_spv_branch(s, header);
  vyre_spv_label(s, merge);
}

/* Stores zero to all parts of the pointer's memory that can be zero. */
static void
store_zero(vyre_spv *s, uint32_t storage_class, uint32_t pointer, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(s->module, type);
  if (!(contents_of(s, type) & HAS_VALUES) || vyre_spv_failed(s))
    return;
  if (vyre_spv_has_null(s, type)) {
    const uint32_t operands[2] = {pointer, vyre_spv_null(s, vyre_spv_type(s, type, VYRE_MODE_BARE))};
    vyre_spv_instruction(s, &s->code, SpvOpStore, operands, 2);
    return;
  }
  if (info.form == VYRE_FORM_ARRAY) {
    const uint32_t one = vyre_spv_u32(s, 1);
    zero_array(s, storage_class, pointer, &info, vyre_spv_u32(s, 0), one);
    return;
  }
  for (uint32_t i = 0; i < info.count; i++) {
    const vyre_type_id part = info.members[i].type;
    if (!(contents_of(s, part) & HAS_VALUES))
      continue;
    const uint32_t to = vyre_spv_pointer(s, storage_class, vyre_spv_type(s, part, VYRE_MODE_BARE));
    store_zero(s, storage_class, vyre_spv_op2(s, SpvOpAccessChain, to, pointer, vyre_spv_u32(s, i)), part);
  }
}

/* Zeroes private memory and zero tables whose variables have no initializer. */
static void
zero_private(vyre_spv *s)
{
  for (size_t i = 0; i < s->declared.count && !vyre_spv_failed(s); i++) {
    const uint32_t row = s->declared.data[i];
    if (vyre_spv_opcode(s, row) != VYRE_OP_buffer || !s->id[row - s->base])
      continue;
    const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[row]);
    if (s->imm_hi[row] & VYRE_ACCESS_UNSET)
      continue;
    if ((space == VYRE_SPACE_PRIVATE || space == VYRE_SPACE_CONSTANT) && !vyre_spv_has_null(s, s->imm[row]))
      store_zero(s, SpvStorageClassFunction, s->id[row - s->base], s->imm[row]);
  }
}

/* Zeroes workgroup memory: the invocations share the stores, and then wait at a barrier. */
static void
zero_workgroup(vyre_spv *s)
{
  uint32_t lindex = 0, invocations = 0;
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  for (size_t i = 0; i < s->declared.count && !vyre_spv_failed(s); i++) {
    const uint32_t row = s->declared.data[i];
    if (vyre_spv_opcode(s, row) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(s->imm_hi[row]) != VYRE_SPACE_WORKGROUP)
      continue;
    if (!lindex) {
      lindex = vyre_spv_place(s, VYRE_OP_lindex);
      invocations = vyre_spv_op2(s, SpvOpIMul, u32, s->workgroup_key[0], s->workgroup_key[1]);
      invocations = vyre_spv_op2(s, SpvOpIMul, u32, invocations, s->workgroup_key[2]);
    }
    const vyre_type_info info = vyre_type_get(s->module, s->imm[row]);
    if (info.form == VYRE_FORM_ARRAY) {
      zero_array(s, SpvStorageClassWorkgroup, vyre_spv_value(s, row), &info, lindex, invocations);
      continue;
    }
    const uint32_t zero = vyre_spv_u32(s, 0);
    const uint32_t first = vyre_spv_op2(s, SpvOpIEqual, vyre_spv_boolean(s), lindex, zero);
    const vyre_spv_branching branching = vyre_spv_if_begin(s, first);
    store_zero(s, SpvStorageClassWorkgroup, vyre_spv_value(s, row), s->imm[row]);
    vyre_spv_if_end(s, branching, 0, 0, 0);
  }
  if (lindex)
    vyre_spv_barrier(s, VYRE_ORDER(SpvScopeWorkgroup, SpvScopeWorkgroup,
                                   SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask));
}

void
vyre_spv_memory_start(vyre_spv *s)
{
  zero_private(s);
  if (!s->strict)
    return;
  for (size_t i = 0; i < s->declared.count; i++) {
    const uint32_t row = s->declared.data[i];
    if (vyre_spv_opcode(s, row) != VYRE_OP_buffer || !vyre_spv_has_layout(s, row) || (s->use[row - s->base] & VYRE_SPV_IN_BOUNDS))
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
