/* Buffers, addresses, loads, stores, atomics, barriers.
 *
 * An address is written where its last `at` row stands, as one access chain over all its steps, if some row accesses memory through
 * it. In a strict program each step that may be out of bounds gives a condition; indices into arrays that are never empty are
 * replaced by 0 where it fails, so that a load can be made all the same and its value be chosen away; runtime arrays may be empty,
 * and need a branch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

enum { KEY_VARIABLE = 0x10001, KEY_INTERFACE };

static uint32_t
boolean(vyre_spv *s)
{
  return vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
}

/* ---- variables ---- */

/* The struct a buffer's type is in the end, through arrays of descriptors. */
static vyre_type_info
innermost(vyre_spv *s, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(s->module, type);
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(s->module, info.element);
  return info;
}

static uint32_t
storage_class(vyre_spv *s, uint32_t buffer)
{
  switch (VYRE_BUFFER_SPACE(s->imm_hi[buffer])) {
  case VYRE_SPACE_STORAGE:
    if (s->version <= 0x10300 && (innermost(s, s->imm[buffer]).flags & VYRE_TYPE_BUFFER_BLOCK))
      return SpvStorageClassUniform;
    return SpvStorageClassStorageBuffer;
  case VYRE_SPACE_UNIFORM:
    return SpvStorageClassUniform;
  case VYRE_SPACE_PUSH:
    return SpvStorageClassPushConstant;
  case VYRE_SPACE_WORKGROUP:
    return SpvStorageClassWorkgroup;
  case VYRE_SPACE_HANDLE:
    return SpvStorageClassUniformConstant;
  default:
    return SpvStorageClassFunction;
  }
}

static bool
has_layout(const vyre_spv *s, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[buffer]);
  if (space != VYRE_SPACE_WORKGROUP)
    return space <= VYRE_SPACE_PUSH;
  return s->shared_blocks && (vyre_type_get(s->module, s->imm[buffer]).flags & VYRE_TYPE_BLOCK) != 0;
}

static void
decorate_buffer(vyre_spv *s, uint32_t row, uint32_t id)
{
  static const struct {
    uint32_t bit, decoration;
  } accesses[] = {{VYRE_ACCESS_NO_WRITE, SpvDecorationNonWritable}, {VYRE_ACCESS_NO_READ, SpvDecorationNonReadable},
                  {VYRE_ACCESS_COHERENT, SpvDecorationCoherent},    {VYRE_ACCESS_VOLATILE, SpvDecorationVolatile},
                  {VYRE_ACCESS_RESTRICT, SpvDecorationRestrict},    {VYRE_ACCESS_ALIASED, SpvDecorationAliased}};
  const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[row]);
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){row});
  if (info && (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE)) {
    const uint32_t set[3] = {id, SpvDecorationDescriptorSet, info->set}, binding[3] = {id, SpvDecorationBinding, info->binding};
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, set, 3);
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, binding, 3);
  }
  for (size_t i = 0; (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_HANDLE) && i < sizeof(accesses) / sizeof(accesses[0]); i++)
    if (s->imm_hi[row] & accesses[i].bit)
      vyre_spv_decorate(s, id, accesses[i].decoration);
  vyre_spv_describe(s, row, id);
}

/* A variable of the program alone, with its first contents. */
static void
local_variable(vyre_spv *s, uint32_t row)
{
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){row});
  const uint32_t type = vyre_spv_type(s, s->imm[row], VYRE_SPV_BARE);
  uint32_t words[4] = {vyre_spv_pointer(s, SpvStorageClassFunction, type), 0, SpvStorageClassFunction, 0};
  if (vyre_spv_has_null(s, s->imm[row]))
    words[3] =
        info && info->initializer != UINT32_MAX ? vyre_spv_initializer(s, s->imm[row], info->initializer) : vyre_spv_null(s, type);
  words[1] = s->next_id++;
  vyre_spv_instruction(s, &s->code, SpvOpVariable, words, words[3] ? 4 : 3);
  s->id[row - s->base] = words[1];
  if (vyre_spv_has_pointers(s, s->imm[row]))
    vyre_spv_decorate(s, words[1], SpvDecorationAliasedPointer);
  decorate_buffer(s, row, words[1]);
}

void
vyre_spv_buffer(vyre_spv *s, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[row]);
  if (space == VYRE_SPACE_PRIVATE || space == VYRE_SPACE_CONSTANT) {
    local_variable(s, row);
    return;
  }
  const vyre_type_id type = s->imm[row];
  const bool bare = !has_layout(s, row);
  const bool wrapped = !bare && vyre_type_get(s->module, type).form != VYRE_FORM_STRUCT && !vyre_spv_is_descriptor_array(s, type);
  const uint32_t class_ = storage_class(s, row);
  const uint32_t type_id = wrapped ? vyre_spv_wrapper(s, type) : vyre_spv_type(s, type, bare ? VYRE_SPV_BARE : VYRE_SPV_TOP);
  const uint32_t pointer = vyre_spv_pointer(s, class_, type_id);
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){row});
  bool fresh = true;
  uint32_t id;
  if (info && info->spirv_id) {
    const uint32_t key[5] = {KEY_VARIABLE, info->spirv_id, pointer, info->set, info->binding};
    id = vyre_spv_key(s, key, 5, &fresh);
  } else {
    id = s->next_id++;
  }
  s->id[row - s->base] = id;
  if (wrapped)
    s->use[row - s->base] |= VYRE_SPV_WRAPPED;
  /* In the interface of SPIR-V 1.4 and later, once; filtered by version where it is written. */
  const uint32_t listed[3] = {KEY_INTERFACE, s->program, id};
  bool first = true;
  if (info && info->spirv_id)
    vyre_spv_key(s, listed, 3, &first);
  if (first)
    vyre_spv_push(s, &s->interface, id);
  if (!fresh)
    return;
  const bool zeroed = space == VYRE_SPACE_WORKGROUP && info && info->initializer != UINT32_MAX;
  const uint32_t words[4] = {pointer, id, class_, zeroed ? vyre_spv_null(s, type_id) : 0};
  vyre_spv_instruction(s, &s->globals, SpvOpVariable, words, zeroed ? 4 : 3);
  if (!bare && space == VYRE_SPACE_WORKGROUP && (s->imm_hi[row] & VYRE_ACCESS_ALIASED))
    vyre_spv_decorate(s, id, SpvDecorationAliased);
  decorate_buffer(s, row, id);
}

/* What a place in the subgroup needs; modules from before SPIR-V 1.3 know some by an extension. */
static void
need_place(vyre_spv *s, vyre_opcode op)
{
  const bool mask = op >= VYRE_OP_subgroup_eq_mask, ballot = mask || op == VYRE_OP_subgroup_lane || op == VYRE_OP_subgroup_size;
  if (op < VYRE_OP_subgroup_lane || (ballot && vyre_spv_declares(s, SpvCapabilitySubgroupBallotKHR)))
    return;
  if (s->version >= 0x10300)
    vyre_spv_need(s, mask ? SpvCapabilityGroupNonUniformBallot : SpvCapabilityGroupNonUniform, 0, NULL);
  else if (ballot)
    vyre_spv_need(s, SpvCapabilitySubgroupBallotKHR, UINT32_MAX, "SPV_KHR_shader_ballot");
  else
    vyre_spv_fail(s, "%s needs SPIR-V 1.3\nFix: compile the shader for Vulkan 1.1 or later", vyre_op_infos[op].text);
}

uint32_t
vyre_spv_place(vyre_spv *s, vyre_opcode op)
{
  static const struct {
    uint16_t builtin, lanes;
  } places[VYRE_SPV_PLACES] = {
      {SpvBuiltInGlobalInvocationId, 3}, {SpvBuiltInLocalInvocationId, 3},    {SpvBuiltInWorkgroupId, 3},
      {SpvBuiltInNumWorkgroups, 3},      {SpvBuiltInLocalInvocationIndex, 1}, {SpvBuiltInSubgroupLocalInvocationId, 1},
      {SpvBuiltInSubgroupId, 1},         {SpvBuiltInSubgroupSize, 1},         {SpvBuiltInNumSubgroups, 1},
      {SpvBuiltInSubgroupEqMask, 4},     {SpvBuiltInSubgroupGeMask, 4},       {SpvBuiltInSubgroupGtMask, 4},
      {SpvBuiltInSubgroupLeMask, 4},     {SpvBuiltInSubgroupLtMask, 4},
  }; /* ORDER: ops.def */
  const uint32_t which = (uint32_t)(op - VYRE_OP_gid);
  const uint32_t type = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, places[which].lanes));
  need_place(s, op);
  if (!s->builtins[which]) {
    const uint32_t id = s->builtins[which] = s->next_id++;
    const uint32_t words[3] = {vyre_spv_pointer(s, SpvStorageClassInput, type), id, SpvStorageClassInput};
    const uint32_t decoration[3] = {id, SpvDecorationBuiltIn, places[which].builtin};
    vyre_spv_instruction(s, &s->globals, SpvOpVariable, words, 3);
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, decoration, 3);
  }
  s->builtins_used |= 1u << which;
  return vyre_spv_op1(s, SpvOpLoad, type, s->builtins[which]);
}

/* ---- addresses ---- */

static uint32_t
buffer_of(const vyre_spv *s, uint32_t path)
{
  while (vyre_spv_opcode(s, path) == VYRE_OP_at)
    path = s->a[path];
  return path;
}

/* The type a path reaches, as it is written there. */
static uint32_t
pointee(vyre_spv *s, uint32_t path, uint32_t buffer)
{
  const bool is_buffer = path == buffer;
  const vyre_type_id type = is_buffer ? s->imm[path] : s->imm_hi[path];
  if (type < 256)
    return vyre_spv_value_type(s, (vyre_type)type);
  if (!has_layout(s, buffer))
    return vyre_spv_type(s, type, VYRE_SPV_BARE);
  return vyre_spv_type(s, type, is_buffer && !(s->use[buffer - s->base] & VYRE_SPV_WRAPPED) ? VYRE_SPV_TOP : VYRE_SPV_LAYOUT);
}

static uint32_t access_chain(vyre_spv *s, uint32_t path, uint32_t *out_guard, bool *out_branch);

/* OpArrayLength of the runtime array that `path` names. */
static uint32_t
array_length(vyre_spv *s, uint32_t path)
{
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  const uint32_t buffer = buffer_of(s, path);
  if (path == buffer) /* wrapped */
    return vyre_spv_op2(s, SpvOpArrayLength, u32, vyre_spv_value(s, buffer), 0);
  const uint32_t holder = s->a[path], member = s->imm[path];
  if (holder == buffer)
    return vyre_spv_op2(s, SpvOpArrayLength, u32, vyre_spv_value(s, buffer), member);
  uint32_t guard;
  bool branch;
  return vyre_spv_op2(s, SpvOpArrayLength, u32, access_chain(s, holder, &guard, &branch), member);
}

/* The condition under which a step into `path` by `index` is in bounds; 0: always. */
static uint32_t
step_guard(vyre_spv *s, uint32_t path, uint32_t buffer, uint32_t at, uint32_t index, bool *out_runtime)
{
  const vyre_type_info info = vyre_type_get(s->module, path == buffer ? s->imm[path] : s->imm_hi[path]);
  const bool literal = vyre_spv_flag(s, at, VYRE_ROW_IMM);
  const vyre_type type = literal ? VYRE_TYPE(VYRE_U32, 1) : vyre_spv_row_type(s, s->b[at]);
  const uint32_t bool_id = boolean(s);
  uint32_t limit = 0;
  *out_runtime = false;
  if (info.form == VYRE_FORM_VALUE)
    limit = VYRE_TYPE_LANES((vyre_type)info.element);
  else if (info.form == VYRE_FORM_ARRAY)
    limit = info.count;
  else
    return 0;
  if (info.form == VYRE_FORM_ARRAY && (info.flags & VYRE_TYPE_RUNTIME)) {
    *out_runtime = true;
    const uint32_t known = (path == buffer || s->a[path] == buffer) ? s->aux[buffer - s->base] : 0;
    return vyre_spv_op2(s, SpvOpULessThan, bool_id, index, known ? known : array_length(s, path));
  }
  if (info.count_row)
    return vyre_spv_op2(s, SpvOpULessThan, bool_id, index, vyre_spv_pinned(s, info.count_row));
  if (literal)
    return s->imm[at] < limit ? 0 : vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 0);
  return vyre_spv_op2(s, SpvOpULessThan, bool_id, index, vyre_spv_constant(s, type, limit));
}

/* One access chain over all steps of `path`; in a strict program with the condition that it is in bounds. */
/* Of few steps, in a relaxed program; 0: it is another. */
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
  const uint32_t pointer = vyre_spv_pointer(s, storage_class(s, buffer), pointee(s, at[0], buffer));
  return vyre_spv_op(s, SpvOpAccessChain, pointer, operands, 1 + steps);
}

static uint32_t
access_chain(vyre_spv *s, uint32_t path, uint32_t *out_guard, bool *out_branch)
{
  const uint32_t buffer = buffer_of(s, path), plain = plain_chain(s, path, buffer);
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
      *out_guard = *out_guard ? vyre_spv_op2(s, SpvOpLogicalAnd, boolean(s), *out_guard, guard) : guard;
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
  const uint32_t pointer = vyre_spv_pointer(s, storage_class(s, buffer), pointee(s, path, buffer));
  if (count > 0xff00)
    vyre_spv_fail(s, "an address of %zu steps", count);
  vyre_spv_push(s, &s->code, (uint32_t)(count + 3) << 16 | SpvOpAccessChain);
  vyre_spv_push(s, &s->code, pointer);
  vyre_spv_push(s, &s->code, id);
  vyre_spv_append(s, &s->code, s->scratch.data + operands, count);
  s->scratch.count = start;
  return id;
}

uint32_t
vyre_spv_pointer_to(vyre_spv *s, uint32_t path)
{
  uint32_t guard;
  bool branch;
  return path == buffer_of(s, path) ? access_chain(s, path, &guard, &branch) : vyre_spv_value(s, path);
}

/* An address as an operand. */
typedef struct address {
  uint32_t pointer, guard;
  bool branch;
  uint32_t buffer;
} address;

static address
address_of(vyre_spv *s, uint32_t path)
{
  address result = {.buffer = buffer_of(s, path)};
  if (path == result.buffer) { /* a wrapped buffer's one member, or the variable */
    result.pointer = access_chain(s, path, &result.guard, &result.branch);
    return result;
  }
  result.pointer = vyre_spv_value(s, path);
  result.guard = s->aux[path - s->base];
  result.branch = (s->use[path - s->base] & VYRE_SPV_BRANCH) != 0;
  return result;
}

static void
write_at(vyre_spv *s, uint32_t row)
{
  bool branch;
  if (!(s->use[row - s->base] & VYRE_SPV_USED_POINTER))
    return;
  s->id[row - s->base] = access_chain(s, row, &s->aux[row - s->base], &branch);
  if (vyre_spv_flag(s, row, VYRE_ROW_NONUNIFORM))
    vyre_spv_decorate(s, s->id[row - s->base], SpvDecorationNonUniform);
  if (branch)
    s->use[row - s->base] |= VYRE_SPV_BRANCH;
}

/* ---- accesses ---- */

/* The memory operands of a load or store: how many words. */
static uint32_t
memory_operands(vyre_spv *s, uint32_t row, bool store, uint32_t out[2])
{
  uint32_t mask = vyre_spv_flag(s, row, VYRE_ROW_VOLATILE) ? SpvMemoryAccessVolatileMask : 0;
  uint32_t count = 1;
  if (s->memory_model == SpvMemoryModelVulkan && vyre_spv_flag(s, row, VYRE_ROW_COHERENT)) {
    mask |= SpvMemoryAccessNonPrivatePointerMask |
            (store ? SpvMemoryAccessMakePointerAvailableMask : SpvMemoryAccessMakePointerVisibleMask);
    out[count++] = vyre_spv_u32(s, SpvScopeQueueFamily);
  }
  out[0] = mask;
  return mask ? count : 0;
}

static uint32_t
load(vyre_spv *s, uint32_t row, const address *from, uint32_t type, bool value)
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
store(vyre_spv *s, uint32_t row, const address *to, uint32_t value)
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

/* A value of one of two forms of a type as the other: with layout, and without. */
static uint32_t
relayout(vyre_spv *s, vyre_type_id type, uint32_t value, vyre_spv_mode from, vyre_spv_mode to)
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
    const vyre_spv_mode inner = from == VYRE_SPV_TOP ? VYRE_SPV_LAYOUT : from, outer = to == VYRE_SPV_TOP ? VYRE_SPV_LAYOUT : to;
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

static vyre_spv_mode
mode_of(const vyre_spv *s, uint32_t path, uint32_t buffer)
{
  if (!has_layout(s, buffer))
    return VYRE_SPV_BARE;
  return path == buffer && !(s->use[buffer - s->base] & VYRE_SPV_WRAPPED) ? VYRE_SPV_TOP : VYRE_SPV_LAYOUT;
}

/* Whether a path is a whole table without initializer: zero. */
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
  const address to = address_of(s, s->a[row]);
  if (is_zero_table(s, s->b[row])) {
    store(s, row, &to, vyre_spv_null(s, pointee(s, s->a[row], to.buffer)));
    return;
  }
  const address from = address_of(s, s->b[row]);
  const uint32_t to_type = pointee(s, s->a[row], to.buffer), from_type = pointee(s, s->b[row], from.buffer);
  if (to_type == from_type && !to.guard && !from.guard && s->memory_model != SpvMemoryModelVulkan) {
    const uint32_t operands[3] = {to.pointer, from.pointer, SpvMemoryAccessVolatileMask};
    vyre_spv_instruction(s, &s->code, SpvOpCopyMemory, operands, vyre_spv_flag(s, row, VYRE_ROW_VOLATILE) ? 3 : 2);
    return;
  }
  const vyre_type_id type = s->b[row] == from.buffer ? s->imm[from.buffer] : s->imm_hi[s->b[row]];
  const uint32_t value = load(s, row, &from, from_type, false);
  store(s, row, &to, relayout(s, type, value, mode_of(s, s->b[row], from.buffer), mode_of(s, s->a[row], to.buffer)));
}

/* ---- atomics and barriers ---- */

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

static void
write_atomic(vyre_spv *s, uint32_t row)
{
  static const uint16_t codes[] = {
      [VYRE_OP_atomic_load - VYRE_OP_atomic_load] = SpvOpAtomicLoad,
      [VYRE_OP_atomic_store - VYRE_OP_atomic_load] = SpvOpAtomicStore,
      [VYRE_OP_atomic_exchange - VYRE_OP_atomic_load] = SpvOpAtomicExchange,
      [VYRE_OP_atomic_compare_exchange - VYRE_OP_atomic_load] = SpvOpAtomicCompareExchange,
      [VYRE_OP_atomic_add - VYRE_OP_atomic_load] = SpvOpAtomicIAdd,
      [VYRE_OP_atomic_sub - VYRE_OP_atomic_load] = SpvOpAtomicISub,
      [VYRE_OP_atomic_umin - VYRE_OP_atomic_load] = SpvOpAtomicUMin,
      [VYRE_OP_atomic_umax - VYRE_OP_atomic_load] = SpvOpAtomicUMax,
      [VYRE_OP_atomic_smin - VYRE_OP_atomic_load] = SpvOpAtomicSMin,
      [VYRE_OP_atomic_smax - VYRE_OP_atomic_load] = SpvOpAtomicSMax,
      [VYRE_OP_atomic_and - VYRE_OP_atomic_load] = SpvOpAtomicAnd,
      [VYRE_OP_atomic_or - VYRE_OP_atomic_load] = SpvOpAtomicOr,
      [VYRE_OP_atomic_xor - VYRE_OP_atomic_load] = SpvOpAtomicXor,
      [VYRE_OP_atomic_fadd - VYRE_OP_atomic_load] = SpvOpAtomicFAddEXT,
      [VYRE_OP_atomic_fmin - VYRE_OP_atomic_load] = SpvOpAtomicFMinEXT,
      [VYRE_OP_atomic_fmax - VYRE_OP_atomic_load] = SpvOpAtomicFMaxEXT,
  };
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const address at = address_of(s, s->a[row]);
  const bool shared = VYRE_BUFFER_SPACE(s->imm_hi[at.buffer]) == VYRE_SPACE_WORKGROUP;
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

static void
write_barrier(vyre_spv *s, uint32_t imm)
{
  const vyre_spv_order order = vyre_spv_barrier_order(s, imm);
  uint32_t operands[3];
  if (VYRE_ORDER_EXECUTION(imm) == SpvScopeDevice)
    vyre_spv_fail(s, "a 'barrier device': Vulkan has no barrier for all workgroups of a dispatch\n"
                     "Fix: make what is behind it a dispatch of its own");
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

void
vyre_spv_memory_row(vyre_spv *s, uint32_t row)
{
  address at;
  const uint32_t first_new = s->next_id;
  switch (vyre_spv_opcode(s, row)) {
  case VYRE_OP_at:
    write_at(s, row);
    return;
  case VYRE_OP_load:
    at = address_of(s, s->a[row]);
    s->id[row - s->base] = load(s, row, &at, vyre_spv_type_of_row(s, row), true);
    break;
  case VYRE_OP_store:
    at = address_of(s, s->a[row]);
    store(s, row, &at, vyre_spv_value(s, s->b[row]));
    return;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy: /* done at once: nothing is left to wait for */
    write_copy(s, row);
    return;
  case VYRE_OP_async_wait:
    return;
  case VYRE_OP_length:
    s->id[row - s->base] = array_length(s, s->a[row]);
    break;
  case VYRE_OP_barrier:
    write_barrier(s, s->imm[row]);
    return;
  default:
    write_atomic(s, row);
    break;
  }
  if (s->id[row - s->base] >= first_new)
    vyre_spv_describe(s, row, s->id[row - s->base]);
}

/* ---- the start of a strict program ---- */

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
  const uint32_t inside = vyre_spv_op2(s, SpvOpULessThan, boolean(s), index, count);
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
    const uint32_t first = vyre_spv_op2(s, SpvOpIEqual, boolean(s), lindex, zero);
    const vyre_spv_branching branching = vyre_spv_if_begin(s, first);
    store_zero(s, vyre_spv_value(s, row), s->imm[row]);
    vyre_spv_if_end(s, branching, 0, 0, 0);
  }
  if (lindex)
    write_barrier(s, VYRE_ORDER(SpvScopeWorkgroup, SpvScopeWorkgroup,
                                SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask));
}

void
vyre_spv_memory_start(vyre_spv *s)
{
  for (uint32_t row = s->first[s->program]; row; row = s->next[row]) {
    if (vyre_spv_opcode(s, row) != VYRE_OP_buffer || !has_layout(s, row))
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
