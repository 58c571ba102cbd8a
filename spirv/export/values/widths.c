/* Ops that Vulkan's SPIR-V only has for 32 bits, at other widths: counts, searches, reversals and fields of bits.
 *
 * Narrow integers are computed in 32 bits and truncated; 64 bits are two halves, or shifts.  In strict programs, an out-of-range
 * field is cut first (docs/ir.md, "Meaning").  Functions of GLSL.std.450 without an f64 form are rejected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

/* The current row.  `wide` is its unsigned type, `word` is u32 with as many lanes. */
typedef struct shape {
  vyre_spv *s;
  vyre_type type, wide, word;
  uint32_t type_id, wide_id, word_id, bool_id;
  uint32_t bits;
} shape;

static uint32_t
wide_literal(const shape *p, uint64_t value)
{
  return vyre_spv_constant(p->s, p->wide, value);
}

static uint32_t
word_literal(const shape *p, uint32_t value)
{
  return vyre_spv_constant(p->s, p->word, value);
}

static uint32_t
wide_op(const shape *p, uint32_t opcode, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(p->s, opcode, p->wide_id, a, b);
}

static uint32_t
word_ext(const shape *p, uint32_t function, uint32_t a)
{
  return vyre_spv_ext(p->s, function, p->word_id, &a, 1);
}

static uint32_t
as_wide(const shape *p, uint32_t value)
{
  return p->wide == p->type ? value : vyre_spv_op1(p->s, SpvOpBitcast, p->wide_id, value);
}

static uint32_t
as_type(const shape *p, uint32_t value)
{
  return p->wide == p->type ? value : vyre_spv_op1(p->s, SpvOpBitcast, p->type_id, value);
}

/* Converts u32 to the row's type: truncates, zero-extends, or sign-extends if `by_sign`. */
static uint32_t
from_word(const shape *p, uint32_t value, bool by_sign)
{
  return as_type(p, vyre_spv_op1(p->s, by_sign ? SpvOpSConvert : SpvOpUConvert, p->wide_id, value));
}

/* ---- narrow ---- */

static uint32_t
narrow_field(const shape *p, vyre_opcode op, uint32_t value, uint32_t insert, uint32_t offset, uint32_t count)
{
  if (op == VYRE_OP_bfi) {
    const uint32_t operands[4] = {value, vyre_spv_op1(p->s, SpvOpUConvert, p->word_id, as_wide(p, insert)), offset, count};
    return from_word(p, vyre_spv_op(p->s, SpvOpBitFieldInsert, p->word_id, operands, 4), false);
  }
  const uint32_t opcode = op == VYRE_OP_sbfe ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract;
  return from_word(p, vyre_spv_op3(p->s, opcode, p->word_id, value, offset, count), false);
}

static uint32_t
narrow(const shape *p, vyre_opcode op, uint32_t value)
{
  vyre_spv *s = p->s;
  const uint32_t plain = as_wide(p, value);
  const uint32_t word = vyre_spv_op1(s, op == VYRE_OP_findsmsb ? SpvOpSConvert : SpvOpUConvert, p->word_id, plain);
  switch (op) {
  case VYRE_OP_bitcount:
    return from_word(p, vyre_spv_op1(s, SpvOpBitCount, p->word_id, word), false);
  case VYRE_OP_bitrev: {
    const uint32_t turned = vyre_spv_op1(s, SpvOpBitReverse, p->word_id, word), left = word_literal(p, 32 - p->bits);
    return from_word(p, vyre_spv_op2(s, SpvOpShiftRightLogical, p->word_id, turned, left), false);
  }
  case VYRE_OP_findlsb:
    return from_word(p, word_ext(p, GLSLstd450FindILsb, word), false);
  case VYRE_OP_findumsb:
    return from_word(p, word_ext(p, GLSLstd450FindUMsb, word), false);
  default:
    return from_word(p, word_ext(p, GLSLstd450FindSMsb, word), false);
  }
}

/* ---- 64 bits ---- */

/* Returns (1 << count) - 1, for a count of 0 to 64. */
static uint32_t
field_mask(const shape *p, uint32_t count)
{
  const uint32_t empty = vyre_spv_op2(p->s, SpvOpIEqual, p->bool_id, count, wide_literal(p, 0));
  const uint32_t most = wide_literal(p, 63);
  const uint32_t left = wide_op(p, SpvOpBitwiseAnd, wide_op(p, SpvOpISub, wide_literal(p, 64), count), most);
  const uint32_t mask = wide_op(p, SpvOpShiftRightLogical, wide_literal(p, UINT64_MAX), left);
  return vyre_spv_op3(p->s, SpvOpSelect, p->wide_id, empty, wide_literal(p, 0), mask);
}

/* Offset and count have the row's type; the offset is below 64. */
static uint32_t
long_field(const shape *p, vyre_opcode op, uint32_t value, uint32_t insert, uint32_t offset, uint32_t count)
{
  const uint32_t mask = field_mask(p, count), plain = as_wide(p, value);
  if (op == VYRE_OP_bfi) {
    const uint32_t placed = wide_op(p, SpvOpShiftLeftLogical, mask, offset);
    const uint32_t kept = wide_op(p, SpvOpBitwiseAnd, plain, vyre_spv_op1(p->s, SpvOpNot, p->wide_id, placed));
    const uint32_t put = wide_op(p, SpvOpBitwiseAnd, wide_op(p, SpvOpShiftLeftLogical, as_wide(p, insert), offset), placed);
    return as_type(p, wide_op(p, SpvOpBitwiseOr, kept, put));
  }
  const uint32_t field = wide_op(p, SpvOpBitwiseAnd, wide_op(p, SpvOpShiftRightLogical, plain, offset), mask);
  if (op == VYRE_OP_ubfe)
    return as_type(p, field);
  /* Sign-extends the field from its top bit: (field ^ top) - top.  top is 0 for an empty field. */
  const uint32_t top = wide_op(p, SpvOpBitwiseXor, mask, wide_op(p, SpvOpShiftRightLogical, mask, wide_literal(p, 1)));
  return as_type(p, wide_op(p, SpvOpISub, wide_op(p, SpvOpBitwiseXor, field, top), top));
}

static uint32_t
choose_word(const shape *p, uint32_t half, uint32_t yes, uint32_t no)
{
  const uint32_t some = vyre_spv_op2(p->s, SpvOpINotEqual, p->bool_id, half, word_literal(p, 0));
  return vyre_spv_op3(p->s, SpvOpSelect, p->word_id, some, yes, no);
}

static uint32_t
in_halves(const shape *p, vyre_opcode op, uint32_t value)
{
  vyre_spv *s = p->s;
  uint32_t plain = as_wide(p, value);
  if (op == VYRE_OP_findsmsb) /* the highest bit that differs from the sign */
    plain = wide_op(p, SpvOpBitwiseXor, plain, wide_op(p, SpvOpShiftRightArithmetic, plain, wide_literal(p, 63)));
  const uint32_t low = vyre_spv_op1(s, SpvOpUConvert, p->word_id, plain);
  const uint32_t high = vyre_spv_op1(s, SpvOpUConvert, p->word_id, wide_op(p, SpvOpShiftRightLogical, plain, wide_literal(p, 32)));
  uint32_t a, b;
  switch (op) {
  case VYRE_OP_bitcount:
    a = vyre_spv_op1(s, SpvOpBitCount, p->word_id, low);
    b = vyre_spv_op1(s, SpvOpBitCount, p->word_id, high);
    return from_word(p, vyre_spv_op2(s, SpvOpIAdd, p->word_id, a, b), false);
  case VYRE_OP_bitrev:
    a = vyre_spv_op1(s, SpvOpUConvert, p->wide_id, vyre_spv_op1(s, SpvOpBitReverse, p->word_id, low));
    b = vyre_spv_op1(s, SpvOpUConvert, p->wide_id, vyre_spv_op1(s, SpvOpBitReverse, p->word_id, high));
    return as_type(p, wide_op(p, SpvOpBitwiseOr, wide_op(p, SpvOpShiftLeftLogical, a, wide_literal(p, 32)), b));
  case VYRE_OP_findlsb: {
    a = word_ext(p, GLSLstd450FindILsb, low);
    b = word_ext(p, GLSLstd450FindILsb, high);
    const uint32_t none = word_literal(p, UINT32_MAX);
    b = choose_word(p, high, vyre_spv_op2(s, SpvOpIAdd, p->word_id, b, word_literal(p, 32)), none);
    return from_word(p, choose_word(p, low, a, b), true);
  }
  default: {
    a = word_ext(p, GLSLstd450FindUMsb, low);
    const uint32_t below = word_literal(p, 32);
    b = vyre_spv_op2(s, SpvOpIAdd, p->word_id, word_ext(p, GLSLstd450FindUMsb, high), below);
    return from_word(p, choose_word(p, high, b, a), true);
  }
  }
}

/* ---- fields ---- */

static uint32_t
field(const shape *p, uint32_t row, vyre_opcode op)
{
  vyre_spv *s = p->s;
  const bool inserts = op == VYRE_OP_bfi;
  const uint32_t offset_row = inserts ? s->a[s->c[row]] : s->b[row], count_row = inserts ? s->b[s->c[row]] : s->c[row];
  const uint32_t value = vyre_spv_value(s, s->a[row]), insert = inserts ? vyre_spv_value(s, s->b[row]) : 0;
  uint32_t offset = vyre_spv_value(s, offset_row), count = vyre_spv_value(s, count_row), inside = 0;
  const vyre_type u32 = VYRE_TYPE(VYRE_U32, 1), boolean = VYRE_TYPE(VYRE_BOOL, 1);
  const uint32_t u32_id = vyre_spv_value_type(s, u32), bits = vyre_spv_u32(s, p->bits);
  if (s->strict) { /* as in guards.c: a field beyond the end is empty, and a field across the end is cut */
    inside = vyre_spv_op2(s, SpvOpULessThan, vyre_spv_value_type(s, boolean), offset, bits);
    offset = vyre_spv_op3(s, SpvOpSelect, u32_id, inside, offset, vyre_spv_u32(s, 0));
    const uint32_t limits[2] = {count, vyre_spv_op2(s, SpvOpISub, u32_id, bits, offset)};
    count = vyre_spv_ext(s, GLSLstd450UMin, u32_id, limits, 2);
    count = vyre_spv_op3(s, SpvOpSelect, u32_id, inside, count, vyre_spv_u32(s, 0)); /* empty: the result is 0, or the base */
  }
  if (p->bits < 32)
    return narrow_field(p, op, vyre_spv_op1(s, SpvOpUConvert, p->word_id, as_wide(p, value)), insert, offset, count);
  const uint32_t scalar = vyre_spv_value_type(s, VYRE_TYPE(VYRE_TYPE_KIND(p->wide), 1)), lanes = VYRE_TYPE_LANES(p->type);
  uint32_t pair[2];
  pair[0] = vyre_spv_op1(s, SpvOpUConvert, scalar, offset);
  pair[1] = vyre_spv_op1(s, SpvOpUConvert, scalar, count);
  for (int i = 0; i < 2 && lanes > 1; i++) {
    const uint32_t parts[4] = {pair[i], pair[i], pair[i], pair[i]};
    pair[i] = vyre_spv_op(s, SpvOpCompositeConstruct, p->wide_id, parts, lanes);
  }
  return long_field(p, op, value, insert, pair[0], pair[1]);
}

uint32_t
vyre_spv_other_width(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const vyre_type type = vyre_spv_row_type(s, row);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type), bits = vyre_kind_bits(kind);
  if (op > VYRE_OP_bfi) { /* float functions */
    if (kind == VYRE_F64 || (op == VYRE_OP_quantize16 && kind != VYRE_F32))
      vyre_spv_fail(s, "SPIR-V has no '%s' of %u bits\nFix: compute it in f32", vyre_op_infos[op].text, bits);
    return 0;
  }
  if (bits == 32)
    return 0;
  shape p = {.s = s, .type = type, .wide = VYRE_TYPE(vyre_spv_bits_kind(kind), lanes), .word = VYRE_TYPE(VYRE_U32, lanes)};
  p.type_id = vyre_spv_value_type(s, type);
  p.wide_id = vyre_spv_value_type(s, p.wide);
  p.word_id = vyre_spv_value_type(s, p.word);
  p.bool_id = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, lanes));
  p.bits = bits;
  if (op == VYRE_OP_ubfe || op == VYRE_OP_sbfe || op == VYRE_OP_bfi)
    return field(&p, row, op);
  const uint32_t value = vyre_spv_value(s, s->a[row]);
  return bits < 32 ? narrow(&p, op, value) : in_halves(&p, op, value);
}
