/* Opaque types and instructions, which keep their words because vyre does not compute with them.
 *
 * Images, samplers, pointers to physical storage and the like become opaque types (vyre/opaque.h).  An instruction on them, or an
 * instruction that no other file here supports, becomes an opaque row.  Types and instruction sets stay in the row's words.  Values
 * become operands, one per leaf, and pointers become paths.
 *
 * Limits: pointers into opaque values are only supported to components of function variables, and recursive types only as pointers
 * to structs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#define MOST_WORDS 4096u /* of an instruction */

/* ---- types ---- */

bool
import_opaque_type(import *m, spv_type *t)
{
  uint8_t kinds[64];
  const uint32_t *words = m->words + m->at, count = words[0] >> 16;
  if (count > sizeof(kinds) || !vyre_words_kinds(words, count, kinds))
    return import_uncovered(m, "not supported\nFix: remove the code that needs this instruction");
  for (uint32_t k = 2; k < count; k++)
    if (kinds[k] == VYRE_WORD_KIND_ID && !import_id(m, words[k]))
      return false;
  t->form = FORM_VALUE;
  t->value = VYRE_TYPE(VYRE_OPAQUE, 1);
  t->sized = true;
  t->leaves = 1;
  m->has_opaque = true;
  return true;
}

/* Returns the layout mode of the type: explicit if it has offsets or strides. */
static vyre_mode
mode_of(const import *m, uint32_t type)
{
  const spv_type *t = m->ids[type].t;
  if (t->form == FORM_ARRAY || t->form == FORM_RUNTIME)
    return t->stride ? VYRE_MODE_LAYOUT : mode_of(m, t->element);
  return t->form == FORM_STRUCT && t->count && AT(spv_member, m->members, t->members)->offset != VYRE_OFFSET_AUTO ? VYRE_MODE_LAYOUT
                                                                                                                  : VYRE_MODE_BARE;
}

static bool
type_word(import *m, uint32_t id, vyre_member *out)
{
  if (m->ids[id].t->form == FORM_VOID) {
    *out = (vyre_member){.access = VYRE_WORD_TYPE};
    return true;
  }
  *out = (vyre_member){.access = VYRE_WORD_TYPE, .type = import_make_type(m, id, 0, false), .offset = mode_of(m, id)};
  return out->type != 0;
}

static bool
constant_word(import *m, uint32_t id, vyre_member *out)
{
  uint32_t value;
  if (m->ids[id].def && (m->words[m->ids[id].def] & 0xffffu) == SpvOpSpecConstant && !(m->ids[id].flags & ID_SPEC))
    return import_uncovered(
        m, "constant %u, an operand of a type, is a specialization constant without SpecId, which is not supported", id);
  if (!import_literal(m, id, &value)) {
    const uint32_t row = import_row(m, id);
    const vyre_type type = VYRE_ROW_TYPE(m->view->op[row]);
    if (row && type != VYRE_TYPE(VYRE_U32, 1) && type != VYRE_TYPE(VYRE_I32, 1))
      return import_uncovered(m, "constant %u, an operand of a type, is not an integer of 32 bits, which is not supported", id);
    *out = (vyre_member){.access = VYRE_WORD_LENGTH};
    out->type = row ? vyre_type_array(m->module, VYRE_TYPE(VYRE_U32, 1), 0, (vyre_row){row}, 0) : 0;
    return out->type != 0;
  }
  const spv_type *t = m->ids[id].t;
  *out = (vyre_member){.access = VYRE_WORD_CONSTANT, .type = t->value, .offset = value};
  return true;
}

/* Returns the type of a pointer to a struct that is being made and may contain the pointer.  It refers to the struct by name. */
static vyre_type_id
named_pointer(import *m, const uint32_t *words, uint32_t stride)
{
  if ((words[0] & 0xffffu) != SpvOpTypePointer || m->ids[words[3]].t->form != FORM_STRUCT) {
    import_uncovered(m, "type %u, which contains itself, is not supported", words[1]);
    return 0;
  }
  m->ids[words[3]].t->is_named = true;
  const vyre_member made[3] = {{.access = VYRE_WORD_LITERAL, .offset = words[2]},
                               {.access = VYRE_WORD_NAMED, .name = import_struct_name(m, words[3])},
                               {.access = VYRE_WORD_STRIDE, .offset = stride}};
  return vyre_type_words(m->module, SpvOpTypePointer, 0, VYRE_MODE_BARE, made, stride ? 3 : 2);
}

vyre_type_id
import_make_opaque_type(import *m, uint32_t id)
{
  uint8_t kinds[64];
  vyre_member made[64 + 1];
  spv_type *t = m->ids[id].t;
  const uint32_t at = m->ids[id].def, *words = m->words + at, count = words[0] >> 16;
  if (t->made && t->epoch == m->program_epoch)
    return t->made;
  if (t->being_made)
    return named_pointer(m, words, t->stride);
  if (count > sizeof(kinds) || !vyre_words_kinds(words, count, kinds)) {
    import_uncovered(m, "type %u is not supported", id);
    return 0;
  }
  t->being_made = true;
  for (uint32_t k = 2; k < count && !failed(m); k++) {
    const uint32_t word = words[k];
    if (kinds[k] != VYRE_WORD_KIND_ID)
      made[k] = (vyre_member){.access = VYRE_WORD_LITERAL, .offset = word};
    else if (m->ids[word].kind == ID_TYPE)
      (void)type_word(m, word, &made[k]);
    else
      (void)constant_word(m, word, &made[k]);
  }
  t = m->ids[id].t;
  t->being_made = false;
  if (failed(m))
    return 0;
  if (t->stride)
    made[count] = (vyre_member){.access = VYRE_WORD_STRIDE, .offset = t->stride};
  t->made = vyre_type_words(m->module, words[0] & 0xffffu, 0, VYRE_MODE_BARE, made + 2, count - 2 + (t->stride != 0));
  t->epoch = m->program_epoch;
  return t->made;
}

/* ---- selection of instructions ---- */

/* Returns whether an instruction that other files support has operands that they do not support. */
bool
import_needs_opaque(const import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  switch (op) {
  case SpvOpLoad:
  case SpvOpAccessChain:
  case SpvOpInBoundsAccessChain:
  case SpvOpCompositeExtract:
  case SpvOpVectorExtractDynamic:
    return count > 3 && import_is_opaque(m, words[3]);
  case SpvOpStore:
    return count > 2 && import_is_opaque(m, words[1]);
  case SpvOpCopyMemory:
    return count > 2 && (import_is_opaque(m, words[1]) || import_is_opaque(m, words[2]));
  case SpvOpAtomicStore:
  case SpvOpAtomicFlagClear:
    return count > 1 && import_is_opaque(m, words[1]);
  case SpvOpCompositeInsert:
    return count > 4 && import_is_opaque(m, words[4]);
  case SpvOpCompositeConstruct:
  case SpvOpVectorShuffle:
  case SpvOpSelect:
    return count > 2 && import_is_opaque(m, words[2]);
  case SpvOpNop:
  case SpvOpLine:
  case SpvOpNoLine:
  case SpvOpPhi:
  case SpvOpFunctionParameter:
  case SpvOpVariable:
  case SpvOpFunctionCall:
  case SpvOpUndef:
  case SpvOpControlBarrier:
  case SpvOpMemoryBarrier:
  case SpvOpCopyObject:
  case SpvOpCopyLogical:
    return false;
  case SpvOpExtInst:
    return count > 5 && (import_is_opaque(m, words[2]) || import_is_opaque(m, words[5]));
  default: /* decided by the result or the first operand */
    return count > 3 && (import_is_opaque(m, words[2]) || import_is_opaque(m, words[3]));
  }
}

bool
import_is_other_group(import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  uint32_t scope;
  if (count > 4 && op >= SpvOpGroupNonUniformIAdd && op <= SpvOpGroupNonUniformLogicalXor &&
      words[4] >= SpvGroupOperationPartitionedReduceNV && words[4] <= SpvGroupOperationPartitionedExclusiveScanNV)
    return true;
  return count > 3 && import_literal(m, words[3], &scope) && scope != SpvScopeSubgroup && scope <= SpvScopeShaderCallKHR;
}

static bool
is_pure(const import *m, uint32_t op, const uint32_t *words)
{
  switch (op) {
  case SpvOpSampledImage:
  case SpvOpImage:
  case SpvOpImageTexelPointer:
  case SpvOpImageQueryFormat:
  case SpvOpImageQueryOrder:
  case SpvOpImageQuerySizeLod:
  case SpvOpImageQuerySize:
  case SpvOpImageQueryLevels:
  case SpvOpImageQuerySamples:
  case SpvOpImageSparseTexelsResident:
  case SpvOpAccessChain:
  case SpvOpInBoundsAccessChain:
  case SpvOpPtrAccessChain:
  case SpvOpConvertPtrToU:
  case SpvOpConvertUToPtr:
  case SpvOpConvertUToAccelerationStructureKHR:
  case SpvOpPtrEqual:
  case SpvOpPtrNotEqual:
  case SpvOpPtrDiff:
  case SpvOpCompositeConstruct:
  case SpvOpCompositeExtract:
  case SpvOpCompositeInsert:
  case SpvOpVectorShuffle:
  case SpvOpSelect:
  case SpvOpCooperativeMatrixLengthNV:
    return true;
  case SpvOpExtInst:
    return m->ids[words[3]].value == 1;
  default:
    return import_operation_of(op) != NULL || vyre_words_effect_of(op) == VYRE_WORDS_PURE;
  }
}

static bool
reads_image(uint32_t op)
{
  switch (op) {
  case SpvOpImageSampleExplicitLod:
  case SpvOpImageSampleDrefExplicitLod:
  case SpvOpImageSampleProjExplicitLod:
  case SpvOpImageSampleProjDrefExplicitLod:
  case SpvOpImageFetch:
  case SpvOpImageGather:
  case SpvOpImageDrefGather:
  case SpvOpImageRead:
  case SpvOpImageSparseSampleExplicitLod:
  case SpvOpImageSparseSampleDrefExplicitLod:
  case SpvOpImageSparseFetch:
  case SpvOpImageSparseGather:
  case SpvOpImageSparseDrefGather:
  case SpvOpImageSparseRead:
    return true;
  default:
    return vyre_words_effect_of(op) == VYRE_WORDS_READ;
  }
}

/* Returns whether the memory operands require that the access keeps its words in any context. */
static bool
is_special_access(const import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  const uint32_t at = op == SpvOpLoad ? 4 : 3;
  const uint32_t mask = count > at ? words[at] : 0;
  return m->shares_memory || (mask & ~(uint32_t)(SpvMemoryAccessAlignedMask | SpvMemoryAccessNontemporalMask)) != 0;
}

static vyre_opcode
effect_of(const import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  if (is_pure(m, op, words))
    return VYRE_OP_opaque_pure;
  if (reads_image(op))
    return VYRE_OP_opaque_read;
  if (op == SpvOpImageWrite)
    return VYRE_OP_opaque_write;
  if ((op == SpvOpLoad || op == SpvOpStore) && !is_special_access(m, op, words, count))
    return op == SpvOpLoad ? VYRE_OP_opaque_read : VYRE_OP_opaque_write;
  return VYRE_OP_opaque;
}

/* Returns the flags of image operands that decide how other invocations see the access. */
static uint32_t
image_flags(const import *m, vyre_opcode effect, uint32_t op, const uint32_t *words, uint32_t count)
{
  const uint32_t at = op == SpvOpImageWrite                                                         ? 4
                      : op == SpvOpImageRead || op == SpvOpImageFetch || op == SpvOpImageSparseRead ? 5
                                                                                                    : 0;
  const uint32_t mask = at && at < count && effect != VYRE_OP_opaque_pure ? words[at] : 0;
  const bool is_volatile = (mask & SpvImageOperandsVolatileTexelMask) != 0 || (m->volatile_images && reads_image(op));
  return (is_volatile ? (uint32_t)VYRE_ROW_VOLATILE : 0u) |
         (mask & SpvImageOperandsNonPrivateTexelMask ? (uint32_t)VYRE_ROW_COHERENT : 0u);
}

/* ---- instructions ---- */

static bool
push_operand(import *m, uint32_t row)
{
  uint32_t *added = list_add(m, &m->stack, sizeof(uint32_t), 1);
  if (added)
    *added = row;
  return added && row && !failed(m);
}

static bool
value_operand(import *m, uint32_t id, vyre_member *out)
{
  spv_value v;
  *out = (vyre_member){.access = VYRE_WORD_VALUE};
  if (!import_value(m, id, &v))
    return false;
  const uint32_t count = v.count, type = v.type;
  if (m->ids[type].t->form != FORM_VALUE) {
    out->type = import_make_type(m, type, 0, false);
    out->offset = mode_of(m, type);
    if (!out->type)
      return false;
  }
  for (uint32_t k = 0; k < count; k++)
    if (!push_operand(m, import_leaf(m, id, k)))
      return false;
  return true;
}

static bool
pointer_operand(import *m, uint32_t id, vyre_member *out)
{
  const pointer *p = import_pointer(m, id);
  *out = (vyre_member){.access = VYRE_WORD_VALUE};
  if (!p)
    return false;
  if (p->base != BASE_BUFFER || p->has_column)
    return import_uncovered(m, "pointer %u does not point to a buffer; only such pointers are supported here", id);
  return push_operand(m, import_path(m, m->ids[id].value));
}

static bool
id_operand(import *m, uint32_t id, vyre_member *out)
{
  const id_info *info = import_id(m, id);
  if (!info)
    return false;
  switch ((id_kind)info->kind) {
  case ID_TYPE:
    return type_word(m, id, out);
  case ID_SET: {
    size_t length = 0;
    const char *text = import_text(m, info->def + 2, info->def + (m->words[info->def] >> 16), &length);
    *out = (vyre_member){.access = VYRE_WORD_SET, .name = text ? vyre_string_intern(m->module, text, length) : 0};
    return text != NULL;
  }
  case ID_STRING: {
    size_t length = 0;
    const char *text = import_text(m, info->def + 2, info->def + (m->words[info->def] >> 16), &length);
    *out = (vyre_member){.access = VYRE_WORD_STRING, .name = text ? vyre_string_intern(m->module, text, length) : 0};
    return text != NULL || import_fail(m, "string %u is not terminated", id);
  }
  case ID_CONSTANT:
  case ID_GLOBAL:
  case ID_LOCAL: {
    const spv_type *t = import_type(m, info->type);
    return t && (t->form == FORM_POINTER ? pointer_operand(m, id, out) : value_operand(m, id, out));
  }
  default:
    return import_uncovered(m, "operand %u is not supported here", id);
  }
}

/* Sets the id's value to the row's results. */
static bool
set_result(import *m, uint32_t type, uint32_t id, vyre_row row)
{
  const spv_type *t = import_type(m, type);
  if (!t || !row.id || failed(m))
    return import_fail_memory(m);
  if (t->form == FORM_VOID)
    return true;
  if (t->form == FORM_VALUE) {
    import_set(m, id, row.id);
    return !failed(m);
  }
  const uint32_t count = t->leaves;
  uint32_t *leaves = import_set_leaves(m, id, count);
  for (uint32_t k = 0; leaves && k < count; k++)
    leaves[k] = vyre_build_part(&m->b, row, k, import_leaf_type(m, type, k)).id;
  return leaves && !failed(m);
}

static bool
build(import *m, vyre_opcode effect, const vyre_member *words, uint32_t count, uint32_t type, uint32_t id, uint32_t flags,
      uint32_t first)
{
  vyre_member result = {0};
  const spv_type *t = type ? import_type(m, type) : NULL;
  if (type && (!t || (t->form != FORM_VOID && !import_value_type(m, type))))
    return false;
  if (type && !type_word(m, type, &result))
    return false;
  const uint32_t op = m->words[m->at] & 0xffffu;
  if (t && t->form == FORM_VOID && op != SpvOpExtInst)
    return import_uncovered(m, "a result of type void is not supported");
  const vyre_type_id made = vyre_type_words(m->module, op, result.type, (vyre_mode)result.offset, words, count);
  const uint32_t operands = m->stack.count - first;
  vyre_row *rows = import_memory_of(m, (operands + 1) * sizeof(*rows));
  if (!rows || !made)
    return import_fail_memory(m);
  for (uint32_t k = 0; k < operands; k++)
    rows[k].id = *AT(uint32_t, m->stack, first + k);
  vyre_row row = vyre_build_opaque(&m->b, effect, made, rows, operands, flags);
  return type ? set_result(m, type, id, row) : row.id != 0;
}

/* Returns whether the instruction belongs to the module, not to a function. */
static bool
is_of_module(uint32_t op)
{
  return (op > SpvOpUndef && op <= SpvOpSpecConstantOp && op != SpvOpExtInst) ||
         (op >= SpvOpDecorate && op <= SpvOpGroupMemberDecorate) || op == SpvOpModuleProcessed || op == SpvOpExecutionModeId ||
         op == SpvOpDecorateId || op == SpvOpDecorateString || op == SpvOpMemberDecorateString || vyre_words_is_type(op);
}

bool
import_opaque(import *m)
{
  const uint32_t *words = m->words + m->at;
  const uint32_t op = words[0] & 0xffffu, count = words[0] >> 16, first = m->stack.count;
  uint8_t kinds[MOST_WORDS];
  if (is_of_module(op))
    return import_fail(m, "is not allowed in a function");
  if (count > MOST_WORDS || !vyre_words_kinds(words, count, kinds))
    return import_uncovered(m, "its operands are not supported");
  vyre_member *made = import_memory_of(m, (count + 1) * sizeof(*made));
  uint32_t type = 0, id = 0, used = 0;
  bool ok = made != NULL;
  for (uint32_t k = 1; ok && k < count; k++) {
    if (kinds[k] == VYRE_WORD_KIND_TYPE)
      type = words[k];
    else if (kinds[k] == VYRE_WORD_KIND_RESULT)
      id = words[k];
    else if (kinds[k] == VYRE_WORD_KIND_ID)
      ok = id_operand(m, words[k], &made[used++]);
    else
      made[used++] = (vyre_member){.access = VYRE_WORD_LITERAL, .offset = words[k]};
  }
  const vyre_opcode effect = ok ? effect_of(m, op, words, count) : VYRE_OP_opaque;
  const uint32_t flags = image_flags(m, effect, op, words, count) | (id ? import_row_flags(m, id) : 0);
  ok = ok && build(m, effect, made, used, type, id, flags, first);
  m->stack.count = first;
  return ok;
}

/* Makes the pointer just before the access, by a row that has the memory as an operand. */
uint32_t
import_access_component(import *m, uint32_t index, uint32_t row)
{
  const pointer p = *AT(pointer, m->pointers, index);
  const vyre_type_id type = import_make_type(m, p.type, 0, false);
  const vyre_member target[2] = {{.access = VYRE_WORD_LITERAL, .offset = SpvStorageClassFunction},
                                 {.access = VYRE_WORD_TYPE, .type = type}};
  const vyre_member values[2] = {{.access = VYRE_WORD_VALUE}, {.access = VYRE_WORD_VALUE}};
  const vyre_type_id leads = type ? vyre_type_words(m->module, SpvOpTypePointer, 0, VYRE_MODE_BARE, target, 2) : 0;
  const vyre_type_id chain = leads ? vyre_type_words(m->module, SpvOpAccessChain, leads, VYRE_MODE_BARE, values, 2) : 0;
  const vyre_type_id access =
      vyre_type_words(m->module, row ? SpvOpStore : SpvOpLoad, row ? 0 : type, VYRE_MODE_BARE, values, row ? 2 : 1);
  const uint32_t path = import_path(m, index), column = import_visible(m, p.column);
  const vyre_row steps[2] = {{path}, {column}};
  if (!chain || !access || !steps[0].id || failed(m))
    return 0;
  const vyre_row operands[2] = {vyre_build_opaque(&m->b, VYRE_OP_opaque, chain, steps, 2, 0), {row}};
  return vyre_build_opaque(&m->b, VYRE_OP_opaque, access, operands, row ? 2 : 1, 0).id;
}

uint32_t
import_opaque_null(import *m, uint32_t type, uint32_t op)
{
  const vyre_type_id value = import_make_type(m, type, 0, false);
  const vyre_type_id words = value ? vyre_type_words(m->module, op, value, VYRE_MODE_BARE, NULL, 0) : 0;
  return words ? vyre_build_opaque(&m->b, VYRE_OP_opaque_pure, words, NULL, 0, 0).id : 0;
}

bool
import_matrix_length(import *m, uint32_t type, uint32_t id, uint32_t matrix)
{
  vyre_member word;
  if (!type_word(m, matrix, &word))
    return false;
  const vyre_type_id made =
      vyre_type_words(m->module, SpvOpCooperativeMatrixLengthNV, import_make_type(m, type, 0, false), VYRE_MODE_BARE, &word, 1);
  import_set(m, id, vyre_build_opaque(&m->b, VYRE_OP_opaque_pure, made, NULL, 0, 0).id);
  return !failed(m);
}

/* Makes a constant vector, or cooperative matrix or vector, whose components are all one constituent. */
static uint32_t
composite_constant(import *m, const id_info *info)
{
  const uint32_t *words = m->words + info->def, op = words[0] & 0xffffu, count = (words[0] >> 16) - 3;
  const uint32_t made = import_is_replicate(op) ? IMPORT_CONSTRUCT_REPLICATE : SpvOpCompositeConstruct;
  const vyre_type_id type = import_make_type(m, info->type, 0, false);
  vyre_member *operands = import_memory_of(m, count * sizeof(*operands));
  vyre_row *parts = import_memory_of(m, count * sizeof(*parts));
  if (!type || !operands || !parts)
    return 0;
  for (uint32_t k = 0; k < count; k++) {
    operands[k] = (vyre_member){.access = VYRE_WORD_VALUE};
    parts[k].id = import_row(m, words[3 + k]);
    if (!parts[k].id)
      return 0;
  }
  return vyre_build_opaque(&m->b, VYRE_OP_opaque_pure, vyre_type_words(m->module, made, type, VYRE_MODE_BARE, operands, count),
                           parts, count, 0)
      .id;
}

bool
import_opaque_constant(import *m, id_info *info)
{
  const uint32_t *words = m->words + info->def;
  const uint32_t op = words[0] & 0xffffu;
  vyre_builder saved = m->b;
  uint32_t row = 0;
  m->b = import_top(m);
  if (op == SpvOpConstantNull || op == SpvOpUndef) {
    row = import_opaque_null(m, info->type, op);
  } else if (op == SpvOpConstantSampler) {
    const vyre_member how[3] = {{.offset = words[3]}, {.offset = words[4]}, {.offset = words[5]}}; /* literals */
    const vyre_type_id type = import_make_type(m, info->type, 0, false);
    const vyre_type_id made = type ? vyre_type_words(m->module, op, type, VYRE_MODE_BARE, how, 3) : 0;
    row = made ? vyre_build_opaque(&m->b, VYRE_OP_opaque_pure, made, NULL, 0, 0).id : 0;
  } else if (op == SpvOpConstant) { /* a float with another encoding than IEEE 754 */
    const vyre_member bits = {.offset = words[3]};
    const vyre_type_id type = import_make_type(m, info->type, 0, false);
    const vyre_type_id made = type ? vyre_type_words(m->module, op, type, VYRE_MODE_BARE, &bits, 1) : 0;
    row = made ? vyre_build_opaque(&m->b, VYRE_OP_opaque_pure, made, NULL, 0, 0).id : 0;
  } else {
    row = composite_constant(m, info);
  }
  m->b = saved;
  if (!row)
    return import_fail_memory(m);
  info->value = row;
  return !failed(m);
}
