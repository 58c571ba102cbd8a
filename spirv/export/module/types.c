/* Types: values, pointers, and memory types with and without layout.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

uint32_t
vyre_spv_new_value_type(vyre_spv *s, vyre_type type)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  uint32_t operands[2], id = 0;
  if (lanes > 1) {
    operands[0] = vyre_spv_value_type(s, VYRE_TYPE(VYRE_TYPE_KIND(type), 1));
    operands[1] = lanes;
    id = vyre_spv_intern(s, SpvOpTypeVector, false, operands, 2, NULL, 0, NULL);
  } else {
    switch (VYRE_TYPE_KIND(type)) {
    case VYRE_VOID:
      id = vyre_spv_intern(s, SpvOpTypeVoid, false, NULL, 0, NULL, 0, NULL);
      break;
    case VYRE_BOOL:
      id = vyre_spv_intern(s, SpvOpTypeBool, false, NULL, 0, NULL, 0, NULL);
      break;
    case VYRE_I8:
    case VYRE_U8:
    case VYRE_I16:
    case VYRE_U16:
    case VYRE_I32:
    case VYRE_U32:
    case VYRE_I64:
    case VYRE_U64:
      operands[0] = vyre_kind_bits(VYRE_TYPE_KIND(type));
      operands[1] = vyre_kind_is_signed(VYRE_TYPE_KIND(type));
      id = vyre_spv_intern(s, SpvOpTypeInt, false, operands, 2, NULL, 0, NULL);
      break;
    case VYRE_F16:
    case VYRE_F32:
    case VYRE_F64:
      operands[0] = vyre_kind_bits(VYRE_TYPE_KIND(type));
      id = vyre_spv_intern(s, SpvOpTypeFloat, false, operands, 1, NULL, 0, NULL);
      break;
    default:
      vyre_spv_fail(s, "kind %u is not a scalar\nFix: verify the module before writing it", (unsigned)VYRE_TYPE_KIND(type));
      return 0;
    }
  }
  return s->value_types[type] = id;
}

uint32_t
vyre_spv_matrix_type(vyre_spv *s, vyre_type column, uint32_t columns)
{
  const uint32_t operands[2] = {vyre_spv_value_type(s, column), columns};
  return vyre_spv_intern(s, SpvOpTypeMatrix, false, operands, 2, NULL, 0, NULL);
}

uint32_t
vyre_spv_pointer(vyre_spv *s, uint32_t storage_class, uint32_t type)
{
  const uint32_t operands[2] = {storage_class, type};
  vyre_spv_made *made = vyre_spv_made_of(s, VYRE_SPV_A_POINTER, storage_class, type);
  if (!made->id)
    made->id = vyre_spv_intern(s, SpvOpTypePointer, false, operands, 2, NULL, 0, NULL);
  return made->id;
}

uint32_t
vyre_spv_struct_of(vyre_spv *s, const uint32_t *members, uint32_t count)
{
  return vyre_spv_intern(s, SpvOpTypeStruct, false, members, count, NULL, 0, NULL);
}

bool
vyre_spv_is_descriptor_array(vyre_spv *s, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(s->module, type);
  if (info.form != VYRE_FORM_ARRAY)
    return false;
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(s->module, info.element);
  return info.form == VYRE_FORM_STRUCT && (info.flags & (VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK));
}

static void
decorate_member(vyre_spv *s, uint32_t id, uint32_t member, uint32_t decoration, uint32_t operand, bool has_operand)
{
  const uint32_t operands[4] = {id, member, decoration, operand};
  vyre_spv_instruction(s, &s->decorations, SpvOpMemberDecorate, operands, has_operand ? 4 : 3);
}

/* Returns stride * 2 + row major for a matrix or an array of matrices, or 0 for another member. */
static uint32_t
matrix_layout(vyre_spv *s, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(s->module, type);
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(s->module, info.element);
  return info.form == VYRE_FORM_MATRIX ? info.stride << 1 | ((info.flags & VYRE_TYPE_ROW_MAJOR) != 0) : 0;
}

static void
decorate_member_layout(vyre_spv *s, uint32_t id, uint32_t index, const vyre_member *member)
{
  decorate_member(s, id, index, SpvDecorationOffset, member->offset, true);
  const uint32_t matrix = matrix_layout(s, member->type);
  if (matrix) {
    decorate_member(s, id, index, matrix & 1 ? SpvDecorationRowMajor : SpvDecorationColMajor, 0, false);
    decorate_member(s, id, index, SpvDecorationMatrixStride, matrix >> 1, true);
  }
#define SPV_ACCESS(access_, decoration)       \
  if (member->access & VYRE_ACCESS_##access_) \
    decorate_member(s, id, index, SpvDecoration##decoration, 0, false);
#include "spirv/ops.def"
}

static uint32_t write_type(vyre_spv *s, vyre_type_id type, vyre_mode mode, uint32_t depth);

/* Writes a struct of `count` members.  `block` is its decoration or 0; `apart` is the stride of its arrays if that makes it a
 * separate type. */
static uint32_t
write_struct(vyre_spv *s, vyre_string name, const vyre_member *members, uint32_t count, vyre_mode mode, uint32_t block,
             uint32_t apart, uint32_t depth)
{
  vyre_spv_words *const parts = &s->scratch;
  const size_t start = parts->count;
  for (uint32_t i = 0; i < count; i++)
    vyre_spv_push(s, parts, write_type(s, members[i].type, mode ? VYRE_MODE_LAYOUT : VYRE_MODE_BARE, depth + 1));
  for (uint32_t i = 0; i < count; i++) {
    vyre_spv_push(s, parts, members[i].name);
    vyre_spv_push(s, parts, mode ? members[i].offset : 0);
    vyre_spv_push(s, parts, mode ? members[i].access : 0);
    vyre_spv_push(s, parts, mode ? matrix_layout(s, members[i].type) : 0);
  }
  vyre_spv_push(s, parts, mode != VYRE_MODE_BARE ? 1 + apart : 0);
  vyre_spv_push(s, parts, block);
  vyre_spv_push(s, parts, name);
  if (vyre_spv_failed(s))
    return 0;
  bool fresh;
  const uint32_t *operands = parts->data + start, *extra = operands + count;
  const uint32_t id = vyre_spv_intern(s, SpvOpTypeStruct, false, operands, count, extra, parts->count - start - count, &fresh);
  parts->count = start;
  if (mode && name)
    vyre_spv_resolve(s, name, id);
  if (!fresh)
    return id;
  if (!s->strip && name)
    vyre_spv_text(s, &s->names, SpvOpName, &id, 1, vyre_string_text(s->module, name));
  if (block)
    vyre_spv_decorate(s, id, block);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t operands_of_name[2] = {id, i};
    if (!s->strip && members[i].name)
      vyre_spv_text(s, &s->names, SpvOpMemberName, operands_of_name, 2, vyre_string_text(s->module, members[i].name));
    if (mode)
      decorate_member_layout(s, id, i, &members[i]);
  }
  return id;
}

static uint32_t
write_array(vyre_spv *s, vyre_type_id type, const vyre_type_info *info, vyre_mode mode, uint32_t depth)
{
  const bool descriptors = mode == VYRE_MODE_BLOCK && vyre_spv_is_descriptor_array(s, type);
  const uint32_t stride = mode && !descriptors ? info->stride : 0;
  uint32_t operands[2], count = 1, opcode = SpvOpTypeRuntimeArray;
  operands[0] = write_type(s, info->element, descriptors ? VYRE_MODE_BLOCK : mode ? VYRE_MODE_LAYOUT : VYRE_MODE_BARE, depth + 1);
  if (!(info->flags & VYRE_TYPE_RUNTIME)) {
    opcode = SpvOpTypeArray;
    operands[1] = info->count_row ? vyre_spv_pinned(s, info->count_row) : vyre_spv_u32(s, info->count);
    count = 2;
    if (!info->count_row && info->count == 0)
      vyre_spv_fail(s, "an array without elements\nFix: give the array a length of at least 1");
  } else if (!mode && vyre_type_get(s->module, info->element).form != VYRE_FORM_WORDS) {
    vyre_spv_fail(s, "a runtime array in memory without a binding\nFix: give the array a length");
  }
  bool fresh;
  const uint32_t id = vyre_spv_intern(s, opcode, false, operands, count, &stride, 1, &fresh);
  if (fresh && stride) {
    const uint32_t decoration[3] = {id, SpvDecorationArrayStride, stride};
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, decoration, 3);
  }
  return id;
}

static uint32_t
write_type(vyre_spv *s, vyre_type_id type, vyre_mode mode, uint32_t depth)
{
  if (type < 256) {
    if (mode && VYRE_TYPE_KIND((vyre_type)type) == VYRE_BOOL)
      vyre_spv_fail(s, "a bool in memory that the host shares has no layout\nFix: store 0u32 or 1u32");
    return vyre_spv_value_type(s, (vyre_type)type);
  }
  if (depth > 255 || vyre_spv_failed(s)) {
    vyre_spv_fail(s, "a type nests deeper than SPIR-V's limit of 255\nFix: nest fewer structs and arrays");
    return 0;
  }
  const vyre_type_info info = vyre_type_get(s->module, type);
  if (info.form == VYRE_FORM_WORDS)
    mode = VYRE_MODE_BARE; /* its words contain the layout of its types */
  const uint32_t known = vyre_spv_made_of(s, VYRE_SPV_A_TYPE, type, mode)->id;
  if (known)
    return known;
  uint32_t id = 0;
  switch (info.form) {
  case VYRE_FORM_VALUE:
    id = vyre_spv_value_type(s, (vyre_type)info.element);
    break;
  case VYRE_FORM_MATRIX:
    id = vyre_spv_matrix_type(s, (vyre_type)info.element, info.count);
    break;
  case VYRE_FORM_ARRAY:
    id = write_array(s, type, &info, mode, depth);
    break;
  case VYRE_FORM_WORDS:
    id = vyre_spv_words_type(s, type);
    break;
  case VYRE_FORM_STRUCT: {
    uint32_t block = 0;
    if (mode && (info.flags & VYRE_TYPE_BUFFER_BLOCK) && s->version <= 0x10300)
      block = SpvDecorationBufferBlock;
    else if (mode == VYRE_MODE_BLOCK || (mode && (info.flags & (VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK))))
      block = SpvDecorationBlock;
    id = write_struct(s, info.name, info.members, info.count, mode, block, info.stride, depth);
    break;
  }
  }
  return vyre_spv_made_of(s, VYRE_SPV_A_TYPE, type, mode)->id = id;
}

uint32_t
vyre_spv_type(vyre_spv *s, vyre_type_id type, vyre_mode mode)
{
  return write_type(s, type, mode, 0);
}

void
vyre_spv_write_placeholder(vyre_spv *s, vyre_string name)
{
  const vyre_member member = {0, VYRE_TYPE(VYRE_U32, 1), 0, 0};
  (void)write_struct(s, name, &member, 1, VYRE_MODE_BLOCK, SpvDecorationBlock, 0, 0);
}

uint32_t
vyre_spv_wrapper(vyre_spv *s, vyre_type_id type)
{
  const vyre_member member = {0, type, 0, 0};
  return write_struct(s, 0, &member, 1, VYRE_MODE_BLOCK, SpvDecorationBlock, 0, 0);
}
