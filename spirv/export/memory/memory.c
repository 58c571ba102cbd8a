/* Memory rows: loads, stores, copies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/memory/memory.h"

/* Writes the memory operands of a load or store to `out`, and returns their number of words. */
static uint32_t
memory_operands(vyre_spv *s, uint32_t row, bool store, uint32_t out[2])
{
  const uint32_t imm = s->imm[row], bits = VYRE_ORDER_SEMANTICS(imm), make = store ? VYRE_MAKE_AVAILABLE : VYRE_MAKE_VISIBLE;
  uint32_t mask = vyre_spv_flag(s, row, VYRE_ROW_VOLATILE) ? SpvMemoryAccessVolatileMask : 0;
  uint32_t count = 1, scope = SpvScopeQueueFamily;
  if (bits & VYRE_NONTEMPORAL)
    mask |= SpvMemoryAccessNontemporalMask;
  if (s->memory_model == SpvMemoryModelVulkan && vyre_spv_flag(s, row, VYRE_ROW_COHERENT))
    mask |= SpvMemoryAccessNonPrivatePointerMask;
  if ((mask & SpvMemoryAccessNonPrivatePointerMask) && (!(bits & VYRE_SHARING) || (bits & make))) {
    mask |= store ? SpvMemoryAccessMakePointerAvailableMask : SpvMemoryAccessMakePointerVisibleMask;
    if (bits & make)
      scope = vyre_spv_opcode(s, row) == VYRE_OP_copy && !store ? VYRE_ORDER_EXECUTION(imm) : VYRE_ORDER_MEMORY(imm);
    out[count++] = vyre_spv_u32(s, scope);
  }
  out[0] = mask;
  return mask ? count : 0;
}

static uint32_t
load(vyre_spv *s, uint32_t row, const vyre_spv_address *from, uint32_t type, bool value)
{
  uint32_t operands[3] = {from->pointer};
  const uint32_t count = 1 + memory_operands(s, row, false, operands + 1);
  if (!from->guard)
    return vyre_spv_op(s, SpvOpLoad, type, operands, count);
  if (value && !from->branch) {
    const vyre_type value_type = vyre_spv_row_type(s, row);
    const uint32_t loaded = vyre_spv_op(s, SpvOpLoad, type, operands, count);
    return vyre_spv_select(s, value_type, from->guard, VYRE_TYPE(VYRE_BOOL, 1), loaded, vyre_spv_null(s, type));
  }
  const uint32_t zero = vyre_spv_null(s, type);
  const vyre_spv_branching branching = vyre_spv_if_begin(s, from->guard);
  const uint32_t loaded = vyre_spv_op(s, SpvOpLoad, type, operands, count);
  return vyre_spv_if_end(s, branching, type, loaded, zero);
}

static void
store(vyre_spv *s, uint32_t row, const vyre_spv_address *to, uint32_t value)
{
  uint32_t operands[4] = {to->pointer, value};
  const uint32_t count = 2 + memory_operands(s, row, true, operands + 2);
  vyre_spv_branching branching = {0};
  if (to->guard)
    branching = vyre_spv_if_begin(s, to->guard);
  vyre_spv_instruction(s, &s->code, SpvOpStore, operands, count);
  if (to->guard)
    vyre_spv_if_end(s, branching, 0, 0, 0);
}

/* Converts a value between the forms of a type with and without layout. */
static uint32_t
relayout(vyre_spv *s, vyre_type_id type, uint32_t value, vyre_mode from, vyre_mode to)
{
  const uint32_t to_id = vyre_spv_type(s, type, to);
  if (vyre_spv_type(s, type, from) == to_id || vyre_spv_failed(s))
    return value;
  if (s->version >= 0x10400)
    return vyre_spv_op1(s, SpvOpCopyLogical, to_id, value);
  const vyre_type_info info = vyre_type_get(s->module, type);
  if (info.count == 0) {
    vyre_spv_fail(s,
                  "copy between address spaces of an array whose length is not a literal needs SPIR-V 1.4\nFix: copy its elements");
    return 0;
  }
  const size_t start = s->scratch.count;
  for (uint32_t i = 0; i < info.count && !vyre_spv_failed(s); i++) {
    const vyre_type_id part = info.form == VYRE_FORM_STRUCT ? info.members[i].type : info.element;
    const vyre_mode inner = from == VYRE_MODE_BLOCK ? VYRE_MODE_LAYOUT : from,
                    outer = to == VYRE_MODE_BLOCK ? VYRE_MODE_LAYOUT : to;
    const uint32_t taken = vyre_spv_op2(s, SpvOpCompositeExtract, vyre_spv_type(s, part, inner), value, i);
    vyre_spv_push(s, &s->scratch, relayout(s, part, taken, inner, outer));
  }
  const uint32_t id = s->next_id++;
  if (info.count > 0xff00)
    vyre_spv_fail(s, "copy between address spaces of %u parts\nFix: copy its elements in a loop", info.count);
  vyre_spv_push(s, &s->code, (info.count + 3) << 16 | SpvOpCompositeConstruct);
  vyre_spv_push(s, &s->code, to_id);
  vyre_spv_push(s, &s->code, id);
  if (vyre_spv_failed(s))
    return 0;
  vyre_spv_append(s, &s->code, s->scratch.data + start, s->scratch.count - start);
  s->scratch.count = start;
  return id;
}

static vyre_mode
mode_of(const vyre_spv *s, uint32_t path, uint32_t buffer)
{
  if (!vyre_spv_has_layout(s, buffer))
    return VYRE_MODE_BARE;
  return path == buffer && !(s->use[buffer - s->base] & VYRE_SPV_WRAPPED) ? VYRE_MODE_BLOCK : VYRE_MODE_LAYOUT;
}

/* Returns whether a path is a whole table without initializer, which is zero. */
static bool
is_zero_table(vyre_spv *s, uint32_t path)
{
  if (vyre_spv_opcode(s, path) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(s->imm_hi[path]) != VYRE_SPACE_CONSTANT)
    return false;
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){path});
  return (!info || info->initializer == UINT32_MAX) && vyre_spv_has_null(s, s->imm[path]);
}

static void
write_copy(vyre_spv *s, uint32_t row)
{
  const uint32_t to_buffer = vyre_spv_buffer_of(s, s->a[row]), from_buffer = vyre_spv_buffer_of(s, s->b[row]);
  vyre_spv_address to, from;
  vyre_spv_address_of(s, s->a[row], &to);
  if (is_zero_table(s, s->b[row])) {
    store(s, row, &to, vyre_spv_null(s, vyre_spv_pointee(s, s->a[row], to_buffer)));
    return;
  }
  vyre_spv_address_of(s, s->b[row], &from);
  const uint32_t from_type = vyre_spv_pointee(s, s->b[row], from_buffer);
  const vyre_type_id type = s->b[row] == from_buffer ? s->imm[from_buffer] : s->imm_hi[s->b[row]];
  const uint32_t value = load(s, row, &from, from_type, false);
  store(s, row, &to, relayout(s, type, value, mode_of(s, s->b[row], from_buffer), mode_of(s, s->a[row], to_buffer)));
}

void
vyre_spv_memory_row(vyre_spv *s, uint32_t row)
{
  vyre_spv_address at;
  const uint32_t first_new = s->next_id;
  switch (vyre_spv_opcode(s, row)) {
  case VYRE_OP_at:
    vyre_spv_at(s, row);
    return;
  case VYRE_OP_load:
    vyre_spv_address_of(s, s->a[row], &at);
    s->id[row - s->base] = load(s, row, &at, vyre_spv_type_of_row(s, row), true);
    break;
  case VYRE_OP_store:
    vyre_spv_address_of(s, s->a[row], &at);
    store(s, row, &at, vyre_spv_value(s, s->b[row]));
    return;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy: /* the copy is complete: there is nothing to wait for */
    write_copy(s, row);
    return;
  case VYRE_OP_async_wait:
    return;
  case VYRE_OP_length:
    s->id[row - s->base] = vyre_spv_array_length(s, s->a[row]);
    break;
  case VYRE_OP_barrier:
    vyre_spv_barrier(s, s->imm[row]);
    return;
  default:
    if (vyre_op_is_atomic(vyre_spv_opcode(s, row)))
      vyre_spv_atomic(s, row);
    else
      vyre_spv_fail(s, "SPIR-V has no instruction for op %u\nFix: verify the module before writing it", vyre_spv_opcode(s, row));
    break;
  }
  if (s->id[row - s->base] >= first_new)
    vyre_spv_describe(s, row, s->id[row - s->base]);
}
