/* Constants: literals, specialization constants, and OpSpecConstantOp on them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

/* Narrow literals fill a word: signed ones are sign-extended, others zero-extended. */
uint32_t
vyre_spv_literal(vyre_kind kind, uint64_t bits, uint32_t out[2])
{
  const uint32_t width = vyre_kind_bits(kind);
  out[0] = (uint32_t)bits;
  out[1] = (uint32_t)(bits >> 32);
  if (width == 64)
    return 2;
  if (width == 8 || width == 16) {
    const uint32_t shifted = out[0] << (32 - width);
    out[0] = vyre_kind_is_signed(kind) ? (uint32_t)((int32_t)shifted >> (32 - width)) : shifted >> (32 - width);
  }
  return 1;
}

static uint32_t
new_scalar(vyre_spv *s, vyre_kind kind, uint64_t bits)
{
  const uint32_t type = vyre_spv_value_type(s, VYRE_TYPE(kind, 1)), id = s->next_id++;
  uint32_t literal[2];
  const uint32_t count = kind == VYRE_BOOL ? 0 : vyre_spv_literal(kind, bits, literal);
  const SpvOp opcode = kind != VYRE_BOOL ? SpvOpConstant : bits ? SpvOpConstantTrue : SpvOpConstantFalse;
  uint32_t *const words = vyre_spv_room(s, &s->globals, 3 + count);
  words[0] = (3 + count) << 16 | opcode;
  words[1] = type;
  words[2] = id;
  for (uint32_t i = 0; i < count; i++)
    words[3 + i] = literal[i];
  return id;
}

uint32_t
vyre_spv_scalar(vyre_spv *s, vyre_kind kind, uint64_t bits)
{
  uint32_t *const small = vyre_spv_small(s, VYRE_TYPE(kind, 1), bits);
  if (small)
    return *small ? *small : (*small = new_scalar(s, kind, bits));
  vyre_spv_made *made = vyre_spv_made_of(s, VYRE_SPV_A_SCALAR, bits, kind);
  if (!made->id)
    made->id = new_scalar(s, kind, bits);
  return made->id;
}

uint32_t
vyre_spv_lanes(vyre_spv *s, vyre_type type, const uint64_t lanes[4])
{
  uint32_t operands[5];
  const uint32_t count = VYRE_TYPE_LANES(type);
  if (count == 1)
    return vyre_spv_scalar(s, VYRE_TYPE_KIND(type), lanes[0]);
  operands[0] = vyre_spv_value_type(s, type);
  for (uint32_t i = 0; i < count; i++)
    operands[1 + i] = i > 0 && lanes[i] == lanes[i - 1] ? operands[i] : vyre_spv_scalar(s, VYRE_TYPE_KIND(type), lanes[i]);
  return vyre_spv_intern(s, SpvOpConstantComposite, true, operands, 1 + count, NULL, 0, NULL);
}

uint32_t
vyre_spv_constant(vyre_spv *s, vyre_type type, uint64_t bits)
{
  const uint64_t lanes[4] = {bits, bits, bits, bits};
  return vyre_spv_lanes(s, type, lanes);
}

uint32_t
vyre_spv_u32(vyre_spv *s, uint32_t value)
{
  return vyre_spv_scalar(s, VYRE_U32, value);
}

uint32_t
vyre_spv_null(vyre_spv *s, uint32_t type)
{
  return vyre_spv_intern(s, SpvOpConstantNull, true, &type, 1, NULL, 0, NULL);
}

/* Appends the const row of each lane of the operands of a join; joins nest at most as deep as there are lanes. */
static bool
const_rows(const vyre_spv *s, uint32_t join, uint32_t rows[4], uint32_t *count, uint32_t depth)
{
  uint32_t operand = s->a[join];
  for (int k = 0; operand; operand = k == 0 ? s->b[join] : k == 1 ? s->c[join] : 0, k++) {
    const uint32_t op = s->op[operand];
    if (VYRE_ROW_OP(op) != VYRE_OP_const) {
      if (VYRE_ROW_OP(op) != VYRE_OP_join || depth == 3 || !const_rows(s, operand, rows, count, depth + 1))
        return false;
      continue;
    }
    for (uint32_t left = VYRE_TYPE_LANES(VYRE_ROW_TYPE(op)); left > 0; left--) {
      if (*count == 4)
        return false;
      rows[(*count)++] = operand;
    }
  }
  return true;
}

bool
vyre_spv_const_rows(const vyre_spv *s, uint32_t join, uint32_t rows[4])
{
  uint32_t count = 0;
  return const_rows(s, join, rows, &count, 0) && count == VYRE_TYPE_LANES(vyre_spv_row_type(s, join));
}

uint32_t
vyre_spv_spec(vyre_spv *s, uint32_t row)
{
  const vyre_type type = vyre_spv_row_type(s, row);
  const uint32_t spec_id = vyre_row_spec_id(s->module, (vyre_row){row});
  uint32_t operands[3] = {vyre_spv_value_type(s, type), 0, 0};
  const uint32_t count = 1 + vyre_spv_literal(VYRE_TYPE_KIND(type), vyre_spv_payload(s, row), operands + 1);
  bool fresh;
  uint32_t id;
  if (VYRE_TYPE_LANES(type) != 1) {
    vyre_spv_fail(s, "a specialization constant is not a scalar");
    return 0;
  }
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    id = vyre_spv_intern(s, s->imm[row] ? SpvOpSpecConstantTrue : SpvOpSpecConstantFalse, true, operands, 1, &spec_id, 1, &fresh);
  else
    id = vyre_spv_intern(s, SpvOpSpecConstant, true, operands, count, &spec_id, 1, &fresh);
  if (fresh) {
    const uint32_t decoration[3] = {id, SpvDecorationSpecId, spec_id};
    if (spec_id != UINT32_MAX) /* it may not have a SpecId */
      vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, decoration, 3);
    vyre_spv_name(s, row, id);
  }
  return id;
}

static void
pin_row(vyre_spv *s, uint32_t row, uint32_t depth)
{
  if (row < s->base || row >= s->end) {
    vyre_spv_fail(s, "a size is row %u, which is not in this program", row);
    return;
  }
  if (s->id[row - s->base] || vyre_spv_failed(s))
    return;
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const uint32_t outer = s->row;
  s->row = row;
  if (op != VYRE_OP_const && op != VYRE_OP_spec) {
    if (!(vyre_op_infos[op].flags & VYRE_OP_PURE) || depth > 1000)
      vyre_spv_fail(s, "a size is '%s', which is not a specialization constant", vyre_op_infos[op].text);
    if (s->a[row])
      pin_row(s, s->a[row], depth + 1);
    if (s->b[row])
      pin_row(s, s->b[row], depth + 1);
    if (s->c[row])
      pin_row(s, s->c[row], depth + 1);
  }
  if (!vyre_spv_failed(s))
    vyre_spv_row(s, row);
  s->row = outer;
}

uint32_t
vyre_spv_pinned(vyre_spv *s, uint32_t row)
{
  const bool constant = s->constant, plain = s->plain;
  s->constant = true;
  s->plain = false;
  pin_row(s, row, 0);
  s->constant = constant;
  s->plain = plain;
  return vyre_spv_failed(s) ? 0 : s->id[row - s->base];
}

typedef struct initializer_words {
  const uint32_t *words;
  uint32_t count, used;
} initializer_words;

static uint32_t
next_word(initializer_words *from)
{
  return from->used < from->count ? from->words[from->used++] : 0;
}

static uint32_t
write_initializer(vyre_spv *s, vyre_type_id type, initializer_words *from)
{
  if (vyre_spv_failed(s))
    return 0;
  if (type < 256) {
    uint64_t lanes[4] = {0};
    const bool wide = vyre_kind_bits(VYRE_TYPE_KIND((vyre_type)type)) == 64;
    for (uint32_t i = 0; i < VYRE_TYPE_LANES((vyre_type)type); i++) {
      lanes[i] = next_word(from);
      lanes[i] |= wide ? (uint64_t)next_word(from) << 32 : 0;
    }
    return vyre_spv_lanes(s, (vyre_type)type, lanes);
  }
  const vyre_type_info info = vyre_type_get(s->module, type);
  const size_t start = s->scratch.count;
  vyre_spv_push(s, &s->scratch, vyre_spv_type(s, type, VYRE_MODE_BARE));
  if (info.count == 0)
    vyre_spv_fail(s, "an initializer for an array whose length is not a literal");
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)info.element);
  const bool words = info.form == VYRE_FORM_ARRAY && info.element < 256 && VYRE_TYPE_LANES((vyre_type)info.element) == 1 &&
                     vyre_kind_bits(kind) < 64;
  for (uint32_t i = 0; words && i < info.count && !vyre_spv_failed(s); i++) /* the common element of tables */
    vyre_spv_push(s, &s->scratch, vyre_spv_scalar(s, kind, next_word(from)));
  for (uint32_t i = 0; !words && i < info.count && !vyre_spv_failed(s); i++)
    vyre_spv_push(s, &s->scratch, write_initializer(s, info.form == VYRE_FORM_STRUCT ? info.members[i].type : info.element, from));
  if (vyre_spv_failed(s))
    return 0;
  const uint32_t *operands = s->scratch.data + start;
  const uint32_t id = vyre_spv_intern(s, SpvOpConstantComposite, true, operands, s->scratch.count - start, NULL, 0, NULL);
  s->scratch.count = start;
  return id;
}

uint32_t
vyre_spv_initializer(vyre_spv *s, vyre_type_id type, uint32_t initializer)
{
  initializer_words from = {0};
  from.words = vyre_module_initializer(s->module, initializer, &from.count);
  uint32_t nonzero = 0;
  for (uint32_t i = 0; i < from.count; i++)
    nonzero |= from.words[i];
  if (!nonzero)
    return vyre_spv_null(s, vyre_spv_type(s, type, VYRE_MODE_BARE));
  return write_initializer(s, type, &from);
}
