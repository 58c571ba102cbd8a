/* Constants and specialization constants: checked at their declaration, made at their first use in a program.
 *
 * Limits: OpSpecConstantOp accepts the operations that operations.c and values.c accept.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

bool
import_is_null(const import *m, uint32_t id)
{
  const uint32_t op = id < m->bound && m->ids[id].kind == ID_CONSTANT ? m->words[m->ids[id].def] & 0xffffu : SpvOpNop;
  return op == SpvOpConstantNull || op == SpvOpUndef;
}

static bool
declare_composite(import *m, const uint32_t *words, uint32_t count, const spv_type *t, uint16_t *flags)
{
  if (import_is_opaque_type(t)) {
    for (uint32_t k = 3; k < count; k++)
      if (!import_id(m, words[k]))
        return false;
      else if (m->ids[words[k]].kind != ID_CONSTANT)
        return import_uncovered(m, "constituent %u is not a constant", words[k]);
      else
        *flags |= m->ids[words[k]].flags & ID_SPEC;
    return count > 3 || import_uncovered(m, "a constant of opaque type without constituents is not supported");
  }
  uint32_t parts = t->form == FORM_VALUE && VYRE_TYPE_LANES(t->value) == 1 ? 0 : t->count;
  if (t->form == FORM_ARRAY && parts == 0) /* specialization sets their number */
    parts = count - 3;
  const bool replicates = import_is_replicate(words[0] & 0xffffu);
  if (t->form != FORM_VALUE && t->form != FORM_MATRIX && t->form != FORM_ARRAY && t->form != FORM_STRUCT)
    parts = 0;
  if (parts == 0 && t->form != FORM_STRUCT)
    return import_uncovered(m, "type %u is not a composite type", words[1]);
  if (count - 3 != (replicates ? 1 : parts))
    return import_uncovered(m, "%u constituents, but type %u has %u", count - 3, words[1], parts);
  uint32_t unused;
  const bool alike = t->form != FORM_STRUCT; /* all parts have the same type */
  const uint32_t first = parts ? import_step_type(m, words[1], 0, &unused) : 0;
  for (uint32_t k = 0; k < (replicates ? 1 : parts); k++) {
    const id_info *part = import_id(m, words[3 + k]);
    if (!part)
      return false;
    if (part->kind != ID_CONSTANT || part->type != (alike ? first : import_step_type(m, words[1], k, &unused)))
      return import_uncovered(m, "constituent %u is not a constant of the required type", words[3 + k]);
    *flags |= part->flags & ID_SPEC;
  }
  return true;
}

static bool
declare_bits(import *m, uint32_t op, uint32_t count, const spv_type *t)
{
  if (import_is_opaque_type(t))
    return (op == SpvOpConstant && count == 4) ||
           import_uncovered(m, "a constant of type %u is not supported", m->words[m->at + 1]);
  bool is_bool = op == SpvOpConstantTrue || op == SpvOpConstantFalse || op == SpvOpSpecConstantTrue || op == SpvOpSpecConstantFalse;
  if (t->form != FORM_VALUE || VYRE_TYPE_LANES(t->value) != 1 || (VYRE_TYPE_KIND(t->value) == VYRE_BOOL) != is_bool)
    return import_fail(m, "the result type is not valid for this instruction");
  uint32_t wanted = 3 + import_literal_words(VYRE_TYPE_KIND(t->value));
  return is_bool || count == wanted || import_fail(m, "%u words, but the instruction needs %u", count, wanted);
}

static uint32_t
fit_literal(const uint32_t *words, vyre_kind kind)
{
  uint64_t value = import_literal_bits(words, kind);
  uint32_t bits = vyre_kind_bits(kind);
  if (vyre_kind_is_signed(kind) && bits < 32)
    return (uint32_t)((int32_t)((uint32_t)value << (32 - bits)) >> (32 - bits));
  return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Records how the constant's value is held, and the literal of a plain integer. */
static void
note_value(id_info *info, uint32_t op, const uint32_t *words, const spv_type *t)
{
  info->holds = t->form == FORM_VALUE ? HOLDS_ROW : HOLDS_LEAVES;
  if (t->form != FORM_VALUE || VYRE_TYPE_LANES(t->value) != 1 || !vyre_kind_is_int(VYRE_TYPE_KIND(t->value)) ||
      (info->flags & ID_SPEC))
    return;
  if (op == SpvOpConstantNull)
    info->root = 0;
  else if (op == SpvOpConstant || op == SpvOpSpecConstant)
    info->root = fit_literal(words + 3, VYRE_TYPE_KIND(t->value));
  else
    return;
  info->flags |= ID_LITERAL;
}

/* Checks that the operands of OpSpecConstantOp are constants defined before it, because some compilers violate that. */
static bool
check_operands(import *m, const uint32_t *words, uint32_t count)
{
  const uint32_t op = words[3];
  const uint32_t literals_from = op == SpvOpCompositeExtract                              ? 5
                                 : op == SpvOpCompositeInsert || op == SpvOpVectorShuffle ? 6
                                                                                          : count;
  if (op == SpvOpCooperativeMatrixLengthNV)
    return import_type(m, words[4]) != NULL;
  for (uint32_t k = 4; k < count && k < literals_from; k++)
    if (!import_id(m, words[k]))
      return false;
    else if (m->ids[words[k]].kind != ID_CONSTANT)
      return import_uncovered(m, "operand %u is not a constant", words[k]);
  return true;
}

bool
import_declare_constant(import *m, uint32_t op)
{
  const uint32_t *words = m->words + m->at;
  const uint32_t count = words[0] >> 16;
  const spv_type *t = import_needs(m, 3) ? import_type(m, words[1]) : NULL;
  if (!t)
    return false;
  uint16_t flags = 0;
  uint32_t spec_id;
  switch (op) {
  case SpvOpConstantTrue:
  case SpvOpConstantFalse:
  case SpvOpConstant:
    if (!declare_bits(m, op, count, t))
      return false;
    break;
  case SpvOpSpecConstantTrue:
  case SpvOpSpecConstantFalse:
  case SpvOpSpecConstant:
    if (!declare_bits(m, op, count, t))
      return false;
    if (words[2] < m->bound && import_decoration(m, words[2], SpvDecorationSpecId, &spec_id)) {
      uint32_t *c = list_add(m, &m->constants, sizeof(uint32_t), 1);
      if (!c)
        return false;
      *c = words[2];
      flags = ID_SPEC;
    }
    break;
  case SpvOpConstantComposite:
  case SpvOpSpecConstantComposite:
  case IMPORT_CONSTANT_REPLICATE:
  case IMPORT_SPEC_CONSTANT_REPLICATE:
    if (!declare_composite(m, words, count, t, &flags))
      return false;
    break;
  case SpvOpSpecConstantOp:
    if (!import_needs(m, 5) || !check_operands(m, words, count))
      return false;
    flags = ID_SPEC;
    break;
  case SpvOpConstantNull:
  case SpvOpUndef:
    break;
  case SpvOpConstantSampler:
    if (!import_needs(m, 6) || !import_is_opaque_type(t))
      return import_uncovered(m, "type %u is not a sampler type", words[1]);
    break;
  default:
    return import_uncovered(m, "not supported");
  }
  if (!import_define(m, words[2], ID_CONSTANT, words[1]))
    return false;
  m->ids[words[2]].flags |= flags;
  note_value(&m->ids[words[2]], op, words, t);
  return true;
}

uint32_t
import_declare_numbers(import *m)
{
  const uint32_t *const all = m->words, bound = m->bound, end = m->word_count;
  id_info *const ids = m->ids;
  uint32_t at = m->at;
  for (uint32_t count; at < end; at += count) {
    const uint32_t *const words = all + at;
    count = words[0] >> 16;
    if ((words[0] & 0xffffu) != SpvOpConstant || count < 4 || count > end - at || words[1] >= bound || words[2] >= bound)
      break;
    const id_info *const type = &ids[words[1]];
    id_info *const info = &ids[words[2]];
    if (type->kind != ID_TYPE || info->kind != ID_NONE || words[2] == 0 || count != 3u + type->t->literal_words)
      break;
    info->t = type->t;
    info->def = at;
    info->type = words[1];
    info->kind = ID_CONSTANT;
    info->holds = HOLDS_ROW;
    const vyre_kind kind = VYRE_TYPE_KIND(type->t->value);
    if (!vyre_kind_is_int(kind))
      continue;
    info->root = fit_literal(words + 3, kind);
    info->flags |= ID_LITERAL;
  }
  return at - m->at;
}

/* Returns the kind of a scalar constant. */
static vyre_kind
scalar_kind(const import *m, uint32_t id)
{
  return VYRE_TYPE_KIND(m->ids[id].t->value);
}

/* Gets the bits of a scalar constant without specialization. */
static bool
scalar_bits(const import *m, uint32_t id, uint64_t *out)
{
  const uint32_t *words = m->words + m->ids[id].def;
  *out = 0;
  if (m->ids[id].flags & ID_SPEC)
    return false;
  switch (words[0] & 0xffffu) {
  case SpvOpConstantTrue:
  case SpvOpSpecConstantTrue:
    *out = 1;
    return true;
  case SpvOpConstantFalse:
  case SpvOpSpecConstantFalse:
  case SpvOpConstantNull:
  case SpvOpUndef:
    return true;
  case SpvOpConstant:
  case SpvOpSpecConstant:
    *out = import_literal_bits(words + 3, scalar_kind(m, id));
    return true;
  default:
    return false;
  }
}

static uint32_t
make_scalar(import *m, uint32_t id, const spv_type *t)
{
  uint64_t bits;
  uint32_t spec_id;
  if (scalar_bits(m, id, &bits))
    return vyre_build_const(&m->b, t->value, bits).id;
  const uint32_t *words = m->words + m->ids[id].def;
  uint32_t op = words[0] & 0xffffu;
  bits = op == SpvOpSpecConstant ? import_literal_bits(words + 3, VYRE_TYPE_KIND(t->value)) : op == SpvOpSpecConstantTrue;
  if (!import_decoration(m, id, SpvDecorationSpecId, &spec_id))
    return vyre_build_const(&m->b, t->value, bits).id;
  vyre_builder b = import_top(m);
  return vyre_build_spec(&b, t->value, bits, spec_id).id;
}

static uint32_t
make_vector(import *m, const uint32_t *words, const spv_type *t)
{
  uint64_t bits[4];
  uint32_t same = 0;
  const uint32_t each = import_is_replicate(words[0] & 0xffffu) ? 0 : 1;
  while (same < t->count && scalar_bits(m, words[3 + same * each], &bits[same]) && bits[same] == bits[0])
    same++;
  if (same == t->count)
    return vyre_build_const(&m->b, t->value, bits[0]).id;
  vyre_row parts[4];
  for (uint32_t k = 0; k < t->count; k++) {
    parts[k].id = import_row(m, words[3 + k * each]);
    if (!parts[k].id)
      return 0;
  }
  vyre_builder b = import_top(m);
  return vyre_build_join(&b, parts, t->count).id;
}

/* Writes the leaf rows of a constant of several leaves to `constant_leaves` from `at` on. */
static bool
make_leaves(import *m, uint32_t id, const spv_type *t, uint32_t at)
{
  const uint32_t *words = m->words + m->ids[id].def;
  uint32_t op = words[0] & 0xffffu;
  if (op == SpvOpConstantNull || op == SpvOpUndef) {
    for (uint32_t k = 0; k < t->leaves; k++) {
      uint32_t row = op == SpvOpUndef ? import_undefined(m, m->ids[id].type, k) : import_zero(m, m->ids[id].type, k);
      *AT(uint32_t, m->constant_leaves, at + k) = row;
    }
    return true;
  }
  for (uint32_t k = 0; k < t->count; k++) {
    spv_value v;
    if (!import_value(m, words[import_is_replicate(op) ? 3 : 3 + k], &v))
      return false;
    for (uint32_t i = 0; i < v.count; i++)
      *AT(uint32_t, m->constant_leaves, at++) = v.leaves[i];
  }
  return true;
}

/* Makes an OpSpecConstantOp at the program's start.  Validators do not check its operand types, so a mismatch is reported as
 * unsupported, not as an error. */
static bool
make_operation(import *m, id_info *info, uint32_t id)
{
  const uint32_t *words = m->words + info->def;
  uint32_t count = words[0] >> 16, op = words[3];
  const operation *o = import_operation_of(op);
  vyre_builder saved = m->b;
  uint32_t region = m->region, from = m->at;
  m->b = import_top(m);
  m->region = m->program;
  m->at = info->def;
  if (op == SpvOpCompositeExtract || op == SpvOpCompositeInsert || op == SpvOpVectorShuffle || op == SpvOpSelect)
    (void)import_composite(m, op, info->type, id, words + 4, count - 4);
  else if (op == SpvOpCooperativeMatrixLengthNV)
    (void)import_matrix_length(m, info->type, id, words[4]);
  else if (o)
    (void)import_operation(m, o, info->type, id, words + 4, count - 4);
  else
    (void)import_uncovered(m, "%s is not supported\nFix: remove the code that needs this instruction", import_op_name(op));
  m->uncovered |= failed(m);
  m->b = saved;
  m->region = region;
  m->at = from;
  return !failed(m);
}

/* Makes the value of a constant other than a plain number. */
APART static bool
make_other(import *m, id_info *info, uint32_t id)
{
  const uint32_t at = m->at, *words = m->words + info->def, op = words[0] & 0xffffu;
  m->at = info->def;
  const spv_type *t = import_value_type(m, info->type);
  if (!t)
    return false;
  if (import_is_opaque_type(t)) {
    if (!import_opaque_constant(m, info))
      return false;
  } else if (op == SpvOpSpecConstantOp) {
    if (!make_operation(m, info, id))
      return false;
  } else if (t->form == FORM_VALUE) {
    bool composite = op == SpvOpConstantComposite || op == SpvOpSpecConstantComposite || import_is_replicate(op);
    const uint32_t row = composite          ? make_vector(m, words, t)
                         : op == SpvOpUndef ? import_undefined(m, info->type, 0)
                                            : make_scalar(m, id, t);
    if (failed(m))
      return false;
    info->value = row;
    if ((info->flags & ID_SPEC) && !vyre_row_name(m->module, (vyre_row){row}))
      (void)import_name_row(m, row, id);
  } else {
    uint32_t first = m->constant_leaves.count;
    if (first > 1u << 26)
      return import_uncovered(m, "the constants have more scalars than vyre supports");
    if (t->leaves && !list_add(m, &m->constant_leaves, sizeof(uint32_t), t->leaves))
      return false;
    if (!make_leaves(m, id, t, first))
      return false;
    info->value = first;
  }
  info->epoch = m->epochs[ID_CONSTANT];
  m->at = at;
  return !failed(m);
}

bool
import_constant(import *m, id_info *info, uint32_t id)
{
  return import_number(m, info) != 0 || make_other(m, info, id);
}

static bool
append_words(import *m, list *out, const uint32_t *word, uint32_t count)
{
  if (out->count + (uint64_t)count > 1u << 24)
    return import_uncovered(m, "an initializer of more than %u scalars is not supported", 1u << 24);
  if (count == 0) /* an empty struct */
    return true;
  uint32_t *words = list_add(m, out, sizeof(uint32_t), count);
  for (uint32_t k = 0; words && k < count; k++)
    words[k] = word ? word[k] : 0;
  return words != NULL;
}

/* Appends a scalar of one word, the common element of tables.  Returns false, without effect, for other ids. */
static bool
append_scalar(import *m, list *out, uint32_t id)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  const uint32_t *words = m->words + info->def;
  if (info->kind != ID_CONSTANT || (info->flags & ID_SPEC) || (words[0] & 0xffffu) != SpvOpConstant || out->count >= 1u << 24)
    return false;
  const vyre_kind kind = VYRE_TYPE_KIND(info->t->value);
  return import_literal_words(kind) == 1 && list_add_word(m, out, (uint32_t)import_literal_bits(words + 3, kind));
}

/* Returns the number of words of an initializer of that type: two for each 64-bit scalar. */
static uint32_t
words_in(import *m, uint32_t id)
{
  const spv_type *t = import_type(m, id);
  if (!t || t->leaves > 1u << 22)
    return NONE;
  uint32_t count = 0;
  for (uint32_t k = 0; k < t->leaves; k++) {
    vyre_type type = import_leaf_type(m, id, k);
    count += VYRE_TYPE_LANES(type) * import_literal_words(VYRE_TYPE_KIND(type));
  }
  return count;
}

bool
import_constant_words(import *m, uint32_t id, list *out)
{
  const id_info *info = import_id(m, id);
  if (!info || info->kind != ID_CONSTANT || (info->flags & ID_SPEC))
    return import_uncovered(m, "initializer %u is not a constant without specialization", id);
  const uint32_t *words = m->words + info->def;
  uint32_t op = words[0] & 0xffffu;
  uint64_t bits;
  if (op == SpvOpConstantNull || op == SpvOpUndef) {
    uint32_t count = words_in(m, info->type);
    return count == NONE ? import_uncovered(m, "an initializer of type %u is not supported", info->type)
                         : append_words(m, out, NULL, count);
  }
  if (scalar_bits(m, id, &bits)) {
    const uint32_t both[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    return append_words(m, out, both, import_literal_words(scalar_kind(m, id)));
  }
  const bool replicates = import_is_replicate(op);
  const uint32_t parts = replicates ? info->t->count : (words[0] >> 16) - 3;
  for (uint32_t k = 0; k < parts; k++) {
    const uint32_t part = words[replicates ? 3 : 3 + k];
    if (!append_scalar(m, out, part) && !import_constant_words(m, part, out))
      return false;
  }
  return true;
}
