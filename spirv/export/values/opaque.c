/* Opaque types and rows: writes their kept words, with new ids.
 *
 * An OpSampledImage may only be used in its own block, so each block with a use writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

static uint32_t
type_by_id(vyre_spv *s, vyre_type_id type, uint32_t mode)
{
  return type < 256 ? vyre_spv_value_type(s, (vyre_type)type) : vyre_spv_type(s, type, (vyre_mode)mode);
}

uint32_t
vyre_spv_opaque_type_of(vyre_spv *s, uint32_t row)
{
  return type_by_id(s, vyre_row_type_id(s->module, (vyre_row){row}), VYRE_MODE_BARE);
}

static uint32_t
instruction_set(vyre_spv *s, vyre_string name)
{
  vyre_spv_made *made = vyre_spv_made_of(s, VYRE_SPV_A_SET, name, 0);
  if (!made->id) {
    made->id = s->next_id++;
    vyre_spv_text(s, &s->imports, SpvOpExtInstImport, &made->id, 1, vyre_string_text(s->module, name));
  }
  return made->id;
}

/* ---- types ---- */

/* Decorates a pointer type with its ArrayStride.  A type with ArrayStride differs from one without it. */
static void
decorate_stride(vyre_spv *s, uint32_t pointer, uint32_t stride)
{
  const uint32_t decoration[3] = {pointer, SpvDecorationArrayStride, stride};
  if (stride)
    vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, decoration, 3);
}

/* Writes a pointer to a struct.  A physical pointer is also declared by OpTypeForwardPointer.  Without it, spirv-val searches the
 * pointee for 8- and 16-bit elements.  It then rejects bitcasts and composites of such pointers if only storage of these widths is
 * declared. */
static uint32_t
struct_pointer(vyre_spv *s, uint32_t class_, uint32_t type, uint32_t stride)
{
  const uint32_t pointer[2] = {class_, type};
  bool fresh;
  const uint32_t id = vyre_spv_intern(s, SpvOpTypePointer, false, pointer, 2, &stride, stride != 0, &fresh);
  if (!fresh || vyre_spv_failed(s))
    return id;
  decorate_stride(s, id, stride);
  if (class_ != SpvStorageClassPhysicalStorageBuffer)
    return id;
  s->globals.count -= 4; /* removes the declaration, which is written again after the forward declaration */
  vyre_spv_instruction(s, &s->globals, SpvOpTypeForwardPointer, (const uint32_t[2]){id, class_}, 2);
  vyre_spv_instruction(s, &s->globals, SpvOpTypePointer, (const uint32_t[3]){id, class_, type}, 3);
  return id;
}

/* Writes a pointer to a struct that is referred to by name.  The struct may contain the pointer, whose id is then needed before its
 * type. */
static uint32_t
named_pointer(vyre_spv *s, const vyre_type_info *info, uint32_t stride)
{
  if (info->flags != SpvOpTypePointer || info->count < 2 || info->members[0].access != VYRE_WORD_LITERAL) {
    vyre_spv_fail(s, "an opaque type names a struct, but is not a pointer to it");
    return 0;
  }
  const uint32_t class_ = info->members[0].offset, written = vyre_spv_made_of(s, VYRE_SPV_A_STRUCT, info->members[1].name, 0)->id;
  if (written)
    return struct_pointer(s, class_, written, stride);
  const uint32_t operands[4] = {s->next_id++, class_, stride, info->members[1].name};
  vyre_spv_instruction(s, &s->globals, SpvOpTypeForwardPointer, operands, 2);
  vyre_spv_append(s, &s->forward, operands, 4);
  return operands[0];
}

void
vyre_spv_resolve(vyre_spv *s, vyre_string name, uint32_t id)
{
  size_t kept = 0;
  vyre_spv_made_of(s, VYRE_SPV_A_STRUCT, name, 0)->id = id;
  for (size_t i = 0; i < s->forward.count && !vyre_spv_failed(s); i += 4) {
    const uint32_t *at = s->forward.data + i, operands[2] = {at[1], id};
    if (at[3] == name) {
      vyre_spv_intern_as(s, SpvOpTypePointer, operands, 2, &at[2], at[2] != 0, at[0]);
      decorate_stride(s, at[0], at[2]);
      continue;
    }
    for (size_t k = 0; k < 4; k++)
      s->forward.data[kept++] = at[k];
  }
  if (!vyre_spv_failed(s))
    s->forward.count = kept;
}

void
vyre_spv_resolve_rest(vyre_spv *s)
{
  while (s->forward.count && !vyre_spv_failed(s))
    vyre_spv_write_placeholder(s, s->forward.data[3]);
}

uint32_t
vyre_spv_words_type(vyre_spv *s, vyre_type_id type)
{
  const size_t start = s->scratch.count;
  const vyre_type_info info = vyre_type_get(s->module, type);
  uint32_t stride = 0;
  for (uint32_t i = 0; i < info.count; i++)
    stride = info.members[i].access == VYRE_WORD_STRIDE ? info.members[i].offset : stride;
  for (uint32_t i = 0; i < info.count; i++)
    if (info.members[i].access == VYRE_WORD_NAMED)
      return named_pointer(s, &info, stride);
  for (uint32_t i = 0; i < info.count && !vyre_spv_failed(s); i++) {
    const vyre_member word = info.members[i];
    uint32_t made = word.offset;
    if (word.access == VYRE_WORD_STRIDE)
      continue;
    if (word.access == VYRE_WORD_TYPE)
      made = type_by_id(s, word.type, word.offset);
    else if (word.access == VYRE_WORD_CONSTANT)
      made = vyre_spv_constant(s, (vyre_type)word.type, word.offset);
    else if (word.access == VYRE_WORD_LENGTH)
      made = vyre_spv_pinned(s, vyre_type_get(s->module, word.type).count_row);
    else if (word.access != VYRE_WORD_LITERAL)
      vyre_spv_fail(s, "an opaque type has an operand that types cannot have");
    vyre_spv_push(s, &s->scratch, made);
  }
  const size_t count = s->scratch.count - start;
  const uint32_t *operands = count ? s->scratch.data + start : NULL;
  if (info.flags == SpvOpTypePointer && count == 2 && info.members[1].access == VYRE_WORD_TYPE &&
      vyre_type_get(s->module, info.members[1].type).form == VYRE_FORM_STRUCT && !vyre_spv_failed(s)) {
    s->scratch.count = start;
    return struct_pointer(s, operands[0], operands[1], stride);
  }
  bool fresh = false;
  const uint32_t id = vyre_spv_failed(s) ? 0 : vyre_spv_intern(s, info.flags, false, operands, count, &stride, stride != 0, &fresh);
  if (fresh)
    decorate_stride(s, id, stride);
  s->scratch.count = start;
  return id;
}

/* Returns the opcode that declared the type, or the elements of an array type, or 0 if it is not opaque. */
static uint32_t
opcode_in(vyre_spv *s, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(s->module, type);
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(s->module, info.element);
  if (info.form == VYRE_FORM_WORDS)
    return info.flags;
  uint32_t opcode = 0;
  for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count && !opcode; i++)
    opcode = opcode_in(s, vyre_type_get(s->module, type).form == VYRE_FORM_STRUCT ? info.members[i].type : 0);
  return opcode;
}

bool
vyre_spv_has_pointers(vyre_spv *s, vyre_type_id type)
{
  return opcode_in(s, type) == SpvOpTypePointer;
}

/* ---- operands ---- */

static bool
is_sampled_image(vyre_spv *s, uint32_t row)
{
  return vyre_spv_opcode(s, row) == VYRE_OP_opaque_pure && VYRE_TYPE_KIND(vyre_spv_row_type(s, row)) == VYRE_OPAQUE && s->b[row] &&
         vyre_type_get(s->module, s->imm[row]).flags == SpvOpSampledImage;
}

/* Returns the id of an operand that is a row. */
static uint32_t
operand(vyre_spv *s, uint32_t row)
{
  if (VYRE_TYPE_KIND(vyre_spv_row_type(s, row)) == VYRE_PATH)
    return vyre_spv_pointer_to(s, row);
  if (!is_sampled_image(s, row))
    return vyre_spv_value(s, row);
  if (s->aux[row - s->base] != s->block) {
    s->aux[row - s->base] = s->block;
    s->id[row - s->base] = vyre_spv_op2(s, SpvOpSampledImage, vyre_spv_type_of_row(s, row), vyre_spv_value(s, s->a[row]),
                                        vyre_spv_value(s, s->b[row]));
    vyre_spv_describe(s, row, s->id[row - s->base]);
  }
  return s->id[row - s->base];
}

static bool
is_constant(vyre_spv *s, uint32_t row)
{
  uint32_t rows[4];
  const vyre_opcode op = vyre_spv_opcode(s, row);
  return op == VYRE_OP_const || (op == VYRE_OP_join && vyre_spv_const_rows(s, row, rows));
}

/* Returns a composite of the row's operands from *next on. */
static uint32_t
composite(vyre_spv *s, uint32_t row, vyre_type_id type, uint32_t mode, uint32_t *next, bool *out_constant)
{
  const vyre_type_info info = vyre_type_get(s->module, type);
  if (vyre_spv_failed(s))
    return 0;
  if (info.form == VYRE_FORM_VALUE || info.form == VYRE_FORM_WORDS) {
    const uint32_t x = vyre_opaque_operand(vyre_module_view(s->module), row, (*next)++);
    *out_constant &= is_constant(s, x);
    return operand(s, x);
  }
  const uint32_t inner = mode == VYRE_MODE_BARE ? VYRE_MODE_BARE : VYRE_MODE_LAYOUT;
  const size_t start = s->scratch.count;
  bool constant = true;
  vyre_spv_push(s, &s->scratch, type_by_id(s, type, mode));
  for (uint32_t i = 0; i < info.count && !vyre_spv_failed(s); i++) {
    const vyre_type_id part = info.form == VYRE_FORM_STRUCT ? vyre_type_get(s->module, type).members[i].type : info.element;
    vyre_spv_push(s, &s->scratch, composite(s, row, part, inner, next, &constant));
  }
  *out_constant &= constant;
  uint32_t id = 0;
  if (vyre_spv_failed(s))
    id = 0;
  else if (constant)
    id = vyre_spv_intern(s, SpvOpConstantComposite, true, s->scratch.data + start, info.count + 1, NULL, 0, NULL);
  else {
    id = s->next_id++;
    vyre_spv_push(s, &s->code, (info.count + 3) << 16 | SpvOpCompositeConstruct);
    vyre_spv_push(s, &s->code, s->scratch.data[start]);
    vyre_spv_push(s, &s->code, id);
    vyre_spv_append(s, &s->code, s->scratch.data + start + 1, info.count);
  }
  s->scratch.count = start;
  return id;
}

static uint32_t
write_word(vyre_spv *s, uint32_t row, const vyre_member *word, uint32_t *next)
{
  bool constant = true;
  switch ((vyre_word)word->access) {
  case VYRE_WORD_TYPE:
    return type_by_id(s, word->type, word->offset);
  case VYRE_WORD_VALUE:
    if (word->type)
      return composite(s, row, word->type, word->offset, next, &constant);
    return operand(s, vyre_opaque_operand(vyre_module_view(s->module), row, (*next)++));
  case VYRE_WORD_CONSTANT:
    return vyre_spv_constant(s, (vyre_type)word->type, word->offset);
  case VYRE_WORD_SET:
    return instruction_set(s, word->name);
  case VYRE_WORD_STRING:
    return vyre_spv_string_of(s, word->name);
  default:
    return word->offset;
  }
}

/* ---- rows ---- */

/* Writes a built-in without an op: a module-scope variable, one for each type and number, in the interface of the programs that use
 * it. */
static void
write_input(vyre_spv *s, uint32_t row, uint32_t type, uint32_t class_)
{
  uint32_t count, builtin = UINT32_MAX;
  const uint32_t *words = vyre_row_decorations(s->module, (vyre_row){row}, &count);
  for (uint32_t at = 0; at + 2 < count; at += 2 + words[at + 1])
    if (words[at] == SpvDecorationBuiltIn)
      builtin = words[at + 2];
  if (class_ != SpvStorageClassInput || builtin == UINT32_MAX)
    vyre_spv_fail(s, "an opaque variable that is not a built-in\nFix: give it deco(11, ...), or make it a buffer");
  vyre_spv_made *made = vyre_spv_made_of(s, VYRE_SPV_AN_INPUT, builtin, type);
  const bool known = made->id != 0;
  const uint32_t id = made->id = known ? made->id : s->next_id++, variable[3] = {type, id, SpvStorageClassInput};
  if (!known) {
    vyre_spv_instruction(s, &s->globals, SpvOpVariable, variable, 3);
    vyre_spv_describe(s, row, id);
  }
  vyre_spv_push(s, &s->interface, id); /* every SPIR-V version lists these variables */
  s->id[row - s->base] = id;
}

void
vyre_spv_opaque(vyre_spv *s, uint32_t row)
{
  const vyre_type_id type = s->imm[row];
  const vyre_type_info info = vyre_type_get(s->module, type);
  const size_t start = s->scratch.count;
  uint32_t next = 0, id = 0;
  if (is_sampled_image(s, row))
    return; /* written at its uses */
  uint32_t result = info.element ? type_by_id(s, info.element, info.stride) : 0;
  if (!result && info.flags == SpvOpExtInst) /* OpExtInst always has a result */
    result = vyre_spv_value_type(s, VYRE_TYPE(VYRE_VOID, 1));
  for (uint32_t i = 0; i < info.count && !vyre_spv_failed(s); i++) {
    const vyre_member word = vyre_type_get(s->module, type).members[i];
    vyre_spv_push(s, &s->scratch, write_word(s, row, &word, &next));
  }
  if (vyre_spv_failed(s))
    return;
  if (info.flags == SpvOpConstantNull || info.flags == SpvOpUndef || info.flags == SpvOpConstantSampler ||
      info.flags == SpvOpConstant) {
    uint32_t constant[4] = {result}, count = 1;
    for (size_t i = start; i < s->scratch.count && count < 4; i++)
      constant[count++] = s->scratch.data[i];
    s->id[row - s->base] = vyre_spv_intern(s, info.flags, true, constant, count, NULL, 0, NULL);
    s->scratch.count = start;
    return;
  }
  if (info.flags == SpvOpVariable) {
    write_input(s, row, result, s->scratch.count > start ? s->scratch.data[start] : 0);
    s->scratch.count = start;
    return;
  }
  const uint32_t words = (uint32_t)(s->scratch.count - start) + (result ? 3 : 1);
  if (words > 0xffff)
    vyre_spv_fail(s, "an instruction of %u words", words);
  vyre_spv_push(s, &s->code, words << 16 | info.flags);
  if (result) {
    id = s->next_id++;
    vyre_spv_push(s, &s->code, result);
    vyre_spv_push(s, &s->code, id);
  }
  vyre_spv_append(s, &s->code, s->scratch.data + start, s->scratch.count - start);
  s->scratch.count = start;
  s->id[row - s->base] = id;
  if (id)
    vyre_spv_describe(s, row, id);
}

/* Returns part k of an opaque row's composite result. */
uint32_t
vyre_spv_opaque_part(vyre_spv *s, uint32_t row)
{
  const uint32_t tuple = s->a[row];
  vyre_type_id type = vyre_type_get(s->module, s->imm[tuple]).element;
  uint32_t leaf = s->imm[row];
  const size_t start = s->scratch.count;
  vyre_spv_push(s, &s->scratch, vyre_spv_value(s, tuple));
  for (;;) {
    const vyre_type_info info = vyre_type_get(s->module, type);
    uint32_t index = 0, each;
    if (info.form == VYRE_FORM_VALUE || info.form == VYRE_FORM_WORDS || vyre_spv_failed(s))
      break;
    if (info.form == VYRE_FORM_STRUCT) {
      for (; index + 1 < info.count && leaf >= (each = vyre_type_leaves(s->module, info.members[index].type)); index++)
        leaf -= each;
      type = info.members[index].type;
    } else {
      each = vyre_type_leaves(s->module, info.element);
      index = each ? leaf / each : 0;
      leaf = each ? leaf % each : 0;
      type = info.element;
    }
    vyre_spv_push(s, &s->scratch, index);
  }
  const uint32_t id = s->next_id++, count = (uint32_t)(s->scratch.count - start);
  const uint32_t type_id = vyre_spv_type_of_row(s, row);
  vyre_spv_push(s, &s->code, (count + 3) << 16 | SpvOpCompositeExtract);
  vyre_spv_push(s, &s->code, type_id);
  vyre_spv_push(s, &s->code, id);
  vyre_spv_append(s, &s->code, s->scratch.data + start, count);
  s->scratch.count = start;
  return id;
}

/* Makes the rows of an opaque type's sizes constants, before they are written otherwise. */
static void
pin_sizes(vyre_spv *s, vyre_type_id type)
{
  const uint32_t count = vyre_type_get(s->module, type).form == VYRE_FORM_WORDS ? vyre_type_get(s->module, type).count : 0;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_member word = vyre_type_get(s->module, type).members[i];
    if (word.access == VYRE_WORD_LENGTH)
      (void)vyre_spv_pinned(s, vyre_type_get(s->module, word.type).count_row);
  }
}

/* Marks the paths among the operands, which need access chains. */
void
vyre_spv_survey_opaque(vyre_spv *s, uint32_t row)
{
  const vyre_view *v = vyre_module_view(s->module);
  const vyre_type_info info = vyre_type_get(s->module, s->imm[row]);
  pin_sizes(s, info.element);
  for (uint32_t i = 0; i < info.count; i++)
    if (vyre_type_get(s->module, s->imm[row]).members[i].access == VYRE_WORD_TYPE)
      pin_sizes(s, vyre_type_get(s->module, s->imm[row]).members[i].type);
  const uint32_t count = vyre_opaque_count(v, row);
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t x = vyre_opaque_operand(v, row, k);
    if (x > s->base && x < s->end && VYRE_TYPE_KIND(vyre_spv_row_type(s, x)) == VYRE_PATH)
      s->use[x - s->base] |= VYRE_SPV_USED_POINTER;
  }
}
