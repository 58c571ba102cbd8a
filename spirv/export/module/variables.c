/* Variables: buffers and arrays of programs, and built-ins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/memory/memory.h"
#include "spirv/export/debug/debug.h"

/* Returns the struct inside a buffer's type, below arrays of descriptors. */
static vyre_type_info
innermost(vyre_spv *s, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(s->module, type);
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(s->module, info.element);
  return info;
}

uint32_t
vyre_spv_storage_class(vyre_spv *s, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[buffer]);
  if (space == VYRE_SPACE_STORAGE && s->version <= 0x10300 && (innermost(s, s->imm[buffer]).flags & VYRE_TYPE_BUFFER_BLOCK))
    return SpvStorageClassUniform;
  switch (space) {
#define SPV_SPACE(space_, class_) \
  case VYRE_SPACE_##space_:       \
    return SpvStorageClass##class_;
#include "spirv/ops.def"
  default:
    return SpvStorageClassFunction;
  }
}

bool
vyre_spv_has_layout(const vyre_spv *s, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[buffer]);
  if (space != VYRE_SPACE_WORKGROUP)
    return space <= VYRE_SPACE_PUSH;
  return s->shared_blocks && (vyre_type_get(s->module, s->imm[buffer]).flags & VYRE_TYPE_BLOCK) != 0;
}

static void
decorate_buffer(vyre_spv *s, uint32_t row, uint32_t id)
{
  const vyre_space space = VYRE_BUFFER_SPACE(s->imm_hi[row]);
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){row});
  if (info && (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE)) {
    const uint32_t set[3] = {id, SpvDecorationDescriptorSet, info->set}, binding[3] = {id, SpvDecorationBinding, info->binding};
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, set, 3);
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, binding, 3);
  }
  const uint32_t access = space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_HANDLE ? s->imm_hi[row] : 0;
#define SPV_ACCESS(access_, decoration) \
  if (access & VYRE_ACCESS_##access_)   \
    vyre_spv_decorate(s, id, SpvDecoration##decoration);
#include "spirv/ops.def"
  vyre_spv_describe(s, row, id);
}

/* Writes a variable that only one program uses, with its initializer. */
static void
local_variable(vyre_spv *s, uint32_t row)
{
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){row});
  const uint32_t type = vyre_spv_type(s, s->imm[row], VYRE_MODE_BARE);
  uint32_t words[4] = {vyre_spv_pointer(s, SpvStorageClassFunction, type), 0, SpvStorageClassFunction, 0};
  if (vyre_spv_has_null(s, s->imm[row]) && !(s->imm_hi[row] & VYRE_ACCESS_UNSET))
    words[3] =
        info && info->initializer != UINT32_MAX ? vyre_spv_initializer(s, s->imm[row], info->initializer) : vyre_spv_null(s, type);
  words[1] = s->next_id++;
  vyre_spv_instruction(s, &s->code, SpvOpVariable, words, words[3] ? 4 : 3);
  s->id[row - s->base] = words[1];
  if (vyre_spv_has_pointers(s, s->imm[row]))
    vyre_spv_decorate(s, words[1], SpvDecorationAliasedPointer);
  decorate_buffer(s, row, words[1]);
}

/* Adds the variable to the program's interface, once.  SPIR-V 1.4 and later list variables of all storage classes there. */
static void
list(vyre_spv *s, uint32_t id)
{
  if (s->version < 0x10400)
    return;
  vyre_spv_made *made = vyre_spv_made_of(s, VYRE_SPV_LISTED, s->program, id);
  if (!made->id)
    vyre_spv_push(s, &s->interface, id);
  made->id = id;
}

/* Returns whether the type follows Vulkan's rule for uniform memory, which a feature may lift: arrays and matrices have strides of
 * 16, and these and structs have offsets that are multiples of 16. */
static bool
is_uniform_layout(const vyre_spv *s, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(s->module, type);
  if (info.form == VYRE_FORM_ARRAY || info.form == VYRE_FORM_MATRIX)
    return info.stride % 16 == 0 && (info.form == VYRE_FORM_MATRIX || is_uniform_layout(s, info.element));
  for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++) {
    const vyre_type_form form = vyre_type_get(s->module, info.members[i].type).form;
    const bool nests = form == VYRE_FORM_ARRAY || form == VYRE_FORM_MATRIX || form == VYRE_FORM_STRUCT;
    if (nests && (info.members[i].offset % 16 != 0 || !is_uniform_layout(s, info.members[i].type)))
      return false;
  }
  return true;
}

/* Rejects a uniform buffer whose layout needs a feature of Vulkan, if the module is from text.  Modules from SPIR-V are not
 * checked, because SPIR-V does not declare the feature. */
static void
check_uniform(vyre_spv *s, uint32_t row)
{
  vyre_type_id type = s->imm[row];
  for (uint32_t k = vyre_buffer_descriptor_steps(s->module, row); k > 0; k--)
    type = vyre_type_get(s->module, type).element;
  if (VYRE_BUFFER_SPACE(s->imm_hi[row]) != VYRE_SPACE_UNIFORM || vyre_spv_failed(s) ||
      vyre_module_input(s->module, s->input)->capabilities.count != 0 || is_uniform_layout(s, type))
    return;
  const char *name = vyre_row_name(s->module, (vyre_row){row});
  vyre_spv_fail(s,
                "uniform buffer %s%s has an array, a matrix or a struct whose stride or offset is not a multiple of 16\n"
                "Fix: use a multiple of 16, as in u32[64, stride 16], or make the buffer storage",
                name ? "%" : "", name ? name : "without a name");
}

/* Declares what a runtime array of descriptors needs. */
static void
need_open_array(vyre_spv *s, vyre_type_id type)
{
  if (vyre_spv_is_descriptor_array(s, type) && (vyre_type_get(s->module, type).flags & VYRE_TYPE_RUNTIME))
    vyre_spv_need(s, SpvCapabilityRuntimeDescriptorArray, 0x10500, "SPV_EXT_descriptor_indexing");
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
  const bool bare = !vyre_spv_has_layout(s, row);
  const bool wrapped = !bare && vyre_type_get(s->module, type).form != VYRE_FORM_STRUCT && !vyre_spv_is_descriptor_array(s, type);
  const uint32_t class_ = vyre_spv_storage_class(s, row);
  const uint32_t type_id = wrapped ? vyre_spv_wrapper(s, type) : vyre_spv_type(s, type, bare ? VYRE_MODE_BARE : VYRE_MODE_BLOCK);
  const uint32_t pointer = vyre_spv_pointer(s, class_, type_id);
  check_uniform(s, row);
  need_open_array(s, type);
  const vyre_buffer_info *info = vyre_buffer_info_of(s->module, (vyre_row){row});
  vyre_spv_made *made = &s->no_made;
  made->id = 0;
  if (info->spirv_id && info->set <= UINT32_MAX - VYRE_SPV_A_VARIABLE) /* rows of one variable become one again */
    made = vyre_spv_made_of(s, VYRE_SPV_A_VARIABLE + info->set, (uint64_t)info->spirv_id << 32 | pointer, info->binding);
  const bool known = made->id != 0;
  const uint32_t id = made->id = known ? made->id : s->next_id++;
  s->id[row - s->base] = id;
  if (wrapped)
    s->use[row - s->base] |= VYRE_SPV_WRAPPED;
  list(s, id);
  if (known)
    return;
  vyre_spv_debug_variable(s, row, info->spirv_id, id);
  const bool zeroed = space == VYRE_SPACE_WORKGROUP && info->initializer != UINT32_MAX;
  const uint32_t words[4] = {pointer, id, class_, zeroed ? vyre_spv_null(s, type_id) : 0};
  vyre_spv_instruction(s, &s->globals, SpvOpVariable, words, zeroed ? 4 : 3);
  if (!bare && space == VYRE_SPACE_WORKGROUP && (s->imm_hi[row] & VYRE_ACCESS_ALIASED))
    vyre_spv_decorate(s, id, SpvDecorationAliased);
  decorate_buffer(s, row, id);
}

/* Declares what a subgroup built-in needs; before SPIR-V 1.3, some need an extension. */
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

static const struct {
  uint16_t builtin, lanes;
} places[VYRE_SPV_PLACES] = {
#define SPV_BUILTIN(op, builtin, lanes, glsl) [VYRE_OP_##op - VYRE_OP_gid] = {SpvBuiltIn##builtin, lanes},
#include "spirv/ops.def"
};

uint32_t
vyre_spv_builtin(const vyre_spv *s, uint32_t builtin)
{
  for (uint32_t i = 0; i < VYRE_SPV_PLACES; i++)
    if (places[i].builtin == builtin)
      return s->builtins[i];
  return 0;
}

/* Returns the variable of a built-in, and sets *out_type to the type of its value. */
static uint32_t
place_variable(vyre_spv *s, vyre_opcode op, uint32_t *out_type)
{
  const uint32_t which = (uint32_t)(op - VYRE_OP_gid);
  const uint32_t type = *out_type = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, places[which].lanes));
  need_place(s, op);
  if (!s->builtins[which]) {
    const uint32_t id = s->builtins[which] = s->next_id++;
    const uint32_t words[3] = {vyre_spv_pointer(s, SpvStorageClassInput, type), id, SpvStorageClassInput};
    const uint32_t decoration[3] = {id, SpvDecorationBuiltIn, places[which].builtin};
    vyre_spv_instruction(s, &s->globals, SpvOpVariable, words, 3);
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, decoration, 3);
  }
  s->builtins_used |= 1u << which;
  return s->builtins[which];
}

uint32_t
vyre_spv_place(vyre_spv *s, vyre_opcode op)
{
  uint32_t type;
  const uint32_t variable = place_variable(s, op, &type);
  return vyre_spv_op1(s, SpvOpLoad, type, variable);
}

uint32_t
vyre_spv_place_lane(vyre_spv *s, vyre_opcode op, uint32_t lane)
{
  uint32_t type;
  const uint32_t variable = place_variable(s, op, &type), scalar = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1));
  const uint32_t pointer = vyre_spv_pointer(s, SpvStorageClassInput, scalar);
  return vyre_spv_op1(s, SpvOpLoad, scalar, vyre_spv_op2(s, SpvOpAccessChain, pointer, variable, vyre_spv_u32(s, lane)));
}
