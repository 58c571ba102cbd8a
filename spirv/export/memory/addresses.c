/* Addresses.
 *
 * An address is written at its last `at` row, as one access chain over all its steps, if some row accesses memory through it.  In a
 * strict program, each step that may be out of bounds has a condition.  An index into an array that is never empty is replaced by 0
 * if the condition is false, so the load executes, and a select discards its value.  A runtime array may be empty, so it needs a
 * branch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/memory/memory.h"

uint32_t
vyre_spv_pointee(vyre_spv *s, uint32_t path, uint32_t buffer)
{
  const bool is_buffer = path == buffer;
  const vyre_type_id type = is_buffer ? s->imm[path] : s->imm_hi[path];
  if (type < 256)
    return vyre_spv_value_type(s, (vyre_type)type);
  if (!vyre_spv_has_layout(s, buffer))
    return vyre_spv_type(s, type, VYRE_MODE_BARE);
  return vyre_spv_type(s, type, is_buffer && !(s->use[buffer - s->base] & VYRE_SPV_WRAPPED) ? VYRE_MODE_BLOCK : VYRE_MODE_LAYOUT);
}

static uint32_t access_chain(vyre_spv *s, uint32_t path, uint32_t *out_guard, bool *out_branch);

uint32_t
vyre_spv_array_length(vyre_spv *s, uint32_t path)
{
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  const uint32_t buffer = vyre_spv_buffer_of(s, path);
  if (path == buffer) /* wrapped in a struct */
    return vyre_spv_op2(s, SpvOpArrayLength, u32, vyre_spv_value(s, buffer), 0);
  const uint32_t holder = s->a[path], member = s->imm[path];
  if (holder == buffer)
    return vyre_spv_op2(s, SpvOpArrayLength, u32, vyre_spv_value(s, buffer), member);
  uint32_t guard;
  bool branch;
  return vyre_spv_op2(s, SpvOpArrayLength, u32, access_chain(s, holder, &guard, &branch), member);
}

/* Returns the condition that a step into `path` by `index` is in bounds, or 0 if it always is. */
static uint32_t
step_guard(vyre_spv *s, uint32_t path, uint32_t buffer, uint32_t at, uint32_t index, bool *out_runtime)
{
  const vyre_type_info info = vyre_type_get(s->module, path == buffer ? s->imm[path] : s->imm_hi[path]);
  const bool literal = vyre_spv_flag(s, at, VYRE_ROW_IMM);
  const vyre_type type = literal ? VYRE_TYPE(VYRE_U32, 1) : vyre_spv_row_type(s, s->b[at]);
  const uint32_t bool_id = vyre_spv_boolean(s);
  uint32_t limit = 0;
  *out_runtime = false;
  if (s->use[buffer - s->base] & VYRE_SPV_IN_BOUNDS)
    return 0;
  if (info.form == VYRE_FORM_VALUE)
    limit = VYRE_TYPE_LANES((vyre_type)info.element);
  else if (info.form == VYRE_FORM_ARRAY)
    limit = info.count;
  else
    return 0;
  if (info.form == VYRE_FORM_ARRAY && (info.flags & VYRE_TYPE_RUNTIME)) {
    *out_runtime = true;
    if (path == buffer && vyre_spv_is_descriptor_array(s, s->imm[buffer]))
      vyre_spv_fail(s, "a runtime array of buffers in a strict program: SPIR-V has no instruction for its length\n"
                       "Fix: give it a length, or make the program relaxed");
    const uint32_t known = (path == buffer || s->a[path] == buffer) ? s->aux[buffer - s->base] : 0;
    return vyre_spv_op2(s, SpvOpULessThan, bool_id, index, known ? known : vyre_spv_array_length(s, path));
  }
  if (info.count_row)
    return vyre_spv_op2(s, SpvOpULessThan, bool_id, index, vyre_spv_pinned(s, info.count_row));
  if (literal)
    return s->imm[at] < limit ? 0 : vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 0);
  return vyre_spv_op2(s, SpvOpULessThan, bool_id, index, vyre_spv_constant(s, type, limit));
}

/* Writes the common case, an access chain of few steps in a relaxed program.  Returns 0 for other cases. */
static uint32_t
plain_chain(vyre_spv *s, uint32_t path, uint32_t buffer)
{
  enum { MOST = 8 };
  uint32_t at[MOST], operands[1 + MOST], steps = 0;
  if (s->strict || path == buffer || (s->use[buffer - s->base] & VYRE_SPV_WRAPPED))
    return 0;
  for (; path != buffer && steps < MOST; path = s->a[path])
    at[steps++] = path;
  if (path != buffer)
    return 0;
  operands[0] = vyre_spv_value(s, buffer);
  for (uint32_t i = 1; i <= steps; i++) {
    const uint32_t row = at[steps - i];
    operands[i] = vyre_spv_flag(s, row, VYRE_ROW_IMM) ? vyre_spv_u32(s, s->imm[row]) : vyre_spv_value(s, s->b[row]);
  }
  const uint32_t pointer = vyre_spv_pointer(s, vyre_spv_storage_class(s, buffer), vyre_spv_pointee(s, at[0], buffer));
  return vyre_spv_op(s, SpvOpAccessChain, pointer, operands, 1 + steps);
}

static bool
is_nonuniform(const vyre_spv *s, uint32_t path)
{
  for (; vyre_spv_opcode(s, path) == VYRE_OP_at; path = s->a[path])
    if (vyre_spv_flag(s, path, VYRE_ROW_NONUNIFORM))
      return true;
  return false;
}

static uint32_t
any_chain(vyre_spv *s, uint32_t path, uint32_t *out_guard, bool *out_branch)
{
  const uint32_t buffer = vyre_spv_buffer_of(s, path), plain = plain_chain(s, path, buffer);
  const size_t start = s->scratch.count;
  uint32_t steps = 0;
  *out_guard = 0;
  *out_branch = false;
  if (plain)
    return plain;
  for (uint32_t at = path; at != buffer; at = s->a[at], steps++)
    vyre_spv_push(s, &s->scratch, at);
  const size_t operands = s->scratch.count;
  vyre_spv_push(s, &s->scratch, vyre_spv_value(s, buffer));
  if (s->use[buffer - s->base] & VYRE_SPV_WRAPPED)
    vyre_spv_push(s, &s->scratch, vyre_spv_u32(s, 0));
  for (uint32_t i = steps; i > 0 && !vyre_spv_failed(s); i--) {
    const uint32_t at = s->scratch.data[start + i - 1];
    const vyre_type index_type = vyre_spv_flag(s, at, VYRE_ROW_IMM) ? VYRE_TYPE(VYRE_U32, 1) : vyre_spv_row_type(s, s->b[at]);
    uint32_t index = vyre_spv_flag(s, at, VYRE_ROW_IMM) ? vyre_spv_u32(s, s->imm[at]) : vyre_spv_value(s, s->b[at]);
    bool runtime = false;
    const uint32_t guard = s->strict ? step_guard(s, s->a[at], buffer, at, index, &runtime) : 0;
    if (guard && !runtime) {
      const uint32_t zero = vyre_spv_constant(s, index_type, 0);
      index = vyre_spv_op3(s, SpvOpSelect, vyre_spv_value_type(s, index_type), guard, index, zero);
    }
    if (guard)
      *out_guard = *out_guard ? vyre_spv_op2(s, SpvOpLogicalAnd, vyre_spv_boolean(s), *out_guard, guard) : guard;
    *out_branch |= runtime;
    vyre_spv_push(s, &s->scratch, index);
  }
  const size_t count = s->scratch.count - operands;
  const uint32_t base = vyre_spv_failed(s) ? 0 : s->scratch.data[operands];
  if (count == 1 || vyre_spv_failed(s)) {
    s->scratch.count = start;
    return base;
  }
  const uint32_t id = s->next_id++;
  const uint32_t pointer = vyre_spv_pointer(s, vyre_spv_storage_class(s, buffer), vyre_spv_pointee(s, path, buffer));
  if (count > 0xff00)
    vyre_spv_fail(s, "an address of %zu steps", count);
  vyre_spv_push(s, &s->code, (uint32_t)(count + 3) << 16 | SpvOpAccessChain);
  vyre_spv_push(s, &s->code, pointer);
  vyre_spv_push(s, &s->code, id);
  vyre_spv_append(s, &s->code, s->scratch.data + operands, count);
  s->scratch.count = start;
  return id;
}

/* Writes one access chain over all steps of `path`, which is nonuniform if one of them is.  In a strict program, it also returns
 * the condition that the address is in bounds. */
static uint32_t
access_chain(vyre_spv *s, uint32_t path, uint32_t *out_guard, bool *out_branch)
{
  const uint32_t id = any_chain(s, path, out_guard, out_branch);
  if (id && is_nonuniform(s, path))
    vyre_spv_decorate(s, id, SpvDecorationNonUniform);
  return id;
}

uint32_t
vyre_spv_pointer_to(vyre_spv *s, uint32_t path)
{
  uint32_t guard;
  bool branch;
  return path == vyre_spv_buffer_of(s, path) ? access_chain(s, path, &guard, &branch) : vyre_spv_value(s, path);
}

void
vyre_spv_address_of(vyre_spv *s, uint32_t path, vyre_spv_address *out)
{
  if (vyre_spv_opcode(s, path) != VYRE_OP_at) { /* the only member of a wrapped buffer, or the variable */
    out->pointer = access_chain(s, path, &out->guard, &out->branch);
    return;
  }
  out->pointer = vyre_spv_value(s, path);
  out->guard = s->aux[path - s->base];
  out->branch = (s->use[path - s->base] & VYRE_SPV_BRANCH) != 0;
}

void
vyre_spv_at(vyre_spv *s, uint32_t row)
{
  bool branch;
  if (!(s->use[row - s->base] & VYRE_SPV_USED_POINTER))
    return;
  s->id[row - s->base] = access_chain(s, row, &s->aux[row - s->base], &branch);
  if (branch)
    s->use[row - s->base] |= VYRE_SPV_BRANCH;
}
