/* Guards that rows of strict programs need in addition to their instruction, so that each case has one defined result (docs/ir.md,
 * "Meaning").
 *
 * A row only has guards for the cases that SPIR-V leaves undefined and that no literal operand excludes.  For addresses see
 * addresses.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/values/operation.h"

static uint32_t
logical_and(const operation *g, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(g->s, SpvOpLogicalAnd, g->bool_id, a, b);
}

static uint32_t
logical_or(const operation *g, uint32_t a, uint32_t b)
{
  return vyre_spv_op2(g->s, SpvOpLogicalOr, g->bool_id, a, b);
}

/* x / 0 is all ones, x % 0 is 0. */
static uint32_t
unsigned_division(const operation *g, bool remainder)
{
  const uint32_t opcode = remainder ? SpvOpUMod : SpvOpUDiv;
  if (g->is_literal)
    return g->value ? op(g, opcode, g->a, g->b) : literal(g, remainder ? 0 : g->ones);
  const uint32_t zero = compare(g, SpvOpIEqual, g->b, literal(g, 0));
  const uint32_t result = op(g, opcode, g->a, choose(g, zero, literal(g, 1), g->b));
  return remainder ? result : choose(g, zero, literal(g, g->ones), result);
}

/* Returns a divisor without undefined cases: 1 if it is 0, or if it is -1 and the dividend is MIN. */
static uint32_t
safe_divisor(const operation *g, uint32_t *out_zero)
{
  *out_zero = 0;
  if (g->is_literal && g->value != 0 && g->value != g->ones)
    return g->b;
  const uint32_t minimum = compare(g, SpvOpIEqual, g->a, literal(g, g->minimum));
  const uint32_t overflow = logical_and(g, minimum, compare(g, SpvOpIEqual, g->b, literal(g, g->ones)));
  *out_zero = compare(g, SpvOpIEqual, g->b, literal(g, 0));
  const uint32_t faults = logical_or(g, *out_zero, overflow);
  return choose(g, faults, literal(g, 1), g->b);
}

/* x / 0 is -1, and MIN / -1 is MIN, as is MIN / 1. */
static uint32_t
signed_division(const operation *g)
{
  uint32_t zero;
  const uint32_t divisor = safe_divisor(g, &zero);
  const uint32_t result = op(g, SpvOpSDiv, g->a, divisor);
  return zero ? choose(g, zero, literal(g, g->ones), result) : result;
}

/* x % 0 and MIN % -1 are 0, as with the divisor 1.  Uses a division, because some drivers compute OpSRem and OpSMod wrongly for
 * negative operands. */
static uint32_t
signed_remainder(const operation *g, bool modulo)
{
  uint32_t zero;
  const uint32_t divisor = safe_divisor(g, &zero);
  if (g->s->constant)
    return op(g, modulo ? SpvOpSMod : SpvOpSRem, g->a, divisor);
  const uint32_t result = op(g, SpvOpISub, g->a, op(g, SpvOpIMul, op(g, SpvOpSDiv, g->a, divisor), divisor));
  if (!modulo)
    return result;
  /* The result has the divisor's sign: add the divisor if the signs differ and the remainder is not 0. */
  const uint32_t signs = op(g, SpvOpBitwiseXor, result, divisor);
  const uint32_t differ = compare(g, SpvOpSLessThan, signs, literal(g, 0));
  const uint32_t remains = compare(g, SpvOpINotEqual, result, literal(g, 0));
  const uint32_t wrong = logical_and(g, differ, remains);
  return choose(g, wrong, op(g, SpvOpIAdd, result, divisor), result);
}

/* The shift count is modulo the width. */
static uint32_t
shift(const operation *g, uint32_t opcode)
{
  if (g->is_literal)
    return op(g, opcode, g->a, literal(g, g->value & (g->bits - 1)));
  return op(g, opcode, g->a, op(g, SpvOpBitwiseAnd, g->b, literal(g, g->bits - 1)));
}

static bool
is_infinite(vyre_kind kind, uint32_t power)
{
  return kind == VYRE_F16 && power > 15;
}

/* Returns the bits of 2^power, or of infinity if the kind lacks it. */
static uint64_t
power_of_two(vyre_kind kind, uint32_t power)
{
  if (kind == VYRE_F16)
    return (uint64_t)(is_infinite(kind, power) ? 31 : power + 15) << 10;
  return kind == VYRE_F32 ? (uint64_t)(power + 127) << 23 : (uint64_t)(power + 1023) << 52;
}

/* Returns the bits of 3.0. */
static uint64_t
three_of(vyre_kind kind)
{
  return power_of_two(kind, 1) | UINT64_C(1) << (kind == VYRE_F16 ? 9 : kind == VYRE_F32 ? 22 : 51);
}

/* Writes min or max.  min(-0, +0) is -0 and max(-0, +0) is +0, so for two zeros the result is the bitwise or (min) or and (max).
 * Zeros are recognized by their bits.  A comparison is not enough, because a device may compare denormals as zeros, and the
 * combined bits of two denormals equal neither operand.  In a program that flushes denormals, operands that compare equal are
 * combined, and a product with 1 flushes the result. */
static uint32_t
float_minmax(const operation *g, uint32_t a, uint32_t b, bool max)
{
  vyre_spv *s = g->s;
  const uint32_t operands[2] = {a, b};
  const vyre_type bits_type = VYRE_TYPE(vyre_spv_bits_kind(VYRE_TYPE_KIND(g->type)), VYRE_TYPE_LANES(g->type));
  const uint32_t bits = vyre_spv_value_type(s, bits_type);
  const vyre_kind kind = VYRE_TYPE_KIND(g->type);
  const bool flushes = (s->imm[s->program] & vyre_mode_flush(kind)) != 0;
  const uint32_t result = vyre_spv_ext(s, max ? GLSLstd450NMax : GLSLstd450NMin, g->type_id, operands, 2);
  const uint32_t equal = flushes ? compare(g, SpvOpFOrdEqual, a, b) : 0;
  const uint32_t a_bits = vyre_spv_op1(s, SpvOpBitcast, bits, a), b_bits = vyre_spv_op1(s, SpvOpBitcast, bits, b);
  uint32_t mixed = vyre_spv_op2(s, max ? SpvOpBitwiseAnd : SpvOpBitwiseOr, bits, a_bits, b_bits);
  if (flushes) {
    mixed = vyre_spv_op1(s, SpvOpBitcast, g->type_id, mixed);
    mixed = op(g, SpvOpFMul, mixed, vyre_spv_constant(s, g->type, power_of_two(kind, 0)));
    return choose(g, equal, mixed, result);
  }
  const uint32_t either = max ? vyre_spv_op2(s, SpvOpBitwiseOr, bits, a_bits, b_bits) : mixed;
  const uint32_t magnitude = vyre_spv_op2(s, SpvOpShiftLeftLogical, bits, either, vyre_spv_constant(s, bits_type, 1));
  const uint32_t zeros = compare(g, SpvOpIEqual, magnitude, vyre_spv_constant(s, bits_type, 0));
  return choose(g, zeros, vyre_spv_op1(s, SpvOpBitcast, g->type_id, mixed), result);
}

/* SPIR-V's SmoothStep is undefined if low >= high. */
static uint32_t
smoothstep(const operation *g, uint32_t x)
{
  vyre_spv *s = g->s;
  const vyre_kind kind = VYRE_TYPE_KIND(g->type);
  const uint32_t range = op(g, SpvOpFSub, g->b, g->a), distance = op(g, SpvOpFSub, x, g->a);
  const uint32_t ratio = op(g, SpvOpFDiv, distance, range);
  const uint32_t zero = literal(g, 0), one = literal(g, power_of_two(kind, 0)), clamped[3] = {ratio, zero, one};
  const uint32_t t = vyre_spv_ext(s, GLSLstd450NClamp, g->type_id, clamped, 3);
  const uint32_t three = literal(g, three_of(kind));
  const uint32_t slope = op(g, SpvOpFSub, three, op(g, SpvOpFMul, literal(g, power_of_two(kind, 1)), t));
  return op(g, SpvOpFMul, op(g, SpvOpFMul, t, t), slope);
}

/* min(max(x, low), high), for any low and high. */
static uint32_t
clamp(const operation *g, vyre_opcode opcode, uint32_t high)
{
  if (opcode == VYRE_OP_fclamp || opcode == VYRE_OP_nclamp)
    return float_minmax(g, float_minmax(g, g->a, g->b, true), high, false);
  const bool is_signed = opcode == VYRE_OP_sclamp;
  uint32_t operands[2] = {g->a, g->b};
  operands[0] = vyre_spv_ext(g->s, is_signed ? GLSLstd450SMax : GLSLstd450UMax, g->type_id, operands, 2);
  operands[1] = high;
  return vyre_spv_ext(g->s, is_signed ? GLSLstd450SMin : GLSLstd450UMin, g->type_id, operands, 2);
}

/* Saturates; NaN gives 0. */
static uint32_t
float_to_int(const operation *g, vyre_type to)
{
  vyre_spv *s = g->s;
  const vyre_kind from = VYRE_TYPE_KIND(g->type);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(to));
  const uint32_t result = vyre_spv_value_type(s, to), value = g->a;
  /* Limits.  Signed: -2^(n-1), the least value, and 2^(n-1), the first that is too large.  Unsigned: -1, the first that is too
   * small, and 2^n. If the float kind has no such power of two, infinity is the limit, which is itself out of range. */
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(to)), power = is_signed ? bits - 1 : bits;
  const uint64_t high_bits = power_of_two(from, power);
  const uint64_t low_bits = g->minimum | (is_signed ? high_bits : power_of_two(from, 0));
  const bool open = !is_signed || is_infinite(from, power);
  const uint32_t fits_low = compare(g, open ? SpvOpFOrdGreaterThan : SpvOpFOrdGreaterThanEqual, value, literal(g, low_bits));
  const uint32_t fits_high = compare(g, SpvOpFOrdLessThan, value, literal(g, high_bits));
  const uint32_t fits = logical_and(g, fits_low, fits_high);
  const uint32_t safe = choose(g, fits, value, literal(g, 0));
  uint32_t whole = vyre_spv_op1(s, is_signed ? SpvOpConvertFToS : SpvOpConvertFToU, result, safe);
  const uint32_t above = compare(g, SpvOpFOrdGreaterThanEqual, value, literal(g, high_bits));
  whole = vyre_spv_op3(s, SpvOpSelect, result, above, vyre_spv_constant(s, to, is_signed ? (UINT64_C(1) << power) - 1 : UINT64_MAX),
                       whole);
  if (!is_signed)
    return whole;
  const uint32_t below = compare(g, open ? SpvOpFOrdLessThanEqual : SpvOpFOrdLessThan, value, literal(g, low_bits));
  return vyre_spv_op3(s, SpvOpSelect, result, below, vyre_spv_constant(s, to, UINT64_C(1) << power), whole);
}

/* A field at offset 32 or more is empty, and a count ends at the end of the word. */
static uint32_t
bit_field(const operation *g, vyre_opcode opcode, uint32_t offset, uint32_t count)
{
  vyre_spv *s = g->s;
  const vyre_type boolean = VYRE_TYPE(VYRE_BOOL, 1);
  const uint32_t u32 = vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 1)), bits = vyre_spv_u32(s, 32);
  const uint32_t inside = vyre_spv_op2(s, SpvOpULessThan, vyre_spv_value_type(s, boolean), offset, bits);
  const uint32_t at = vyre_spv_op3(s, SpvOpSelect, u32, inside, offset, vyre_spv_u32(s, 0));
  const uint32_t limits[2] = {count, vyre_spv_op2(s, SpvOpISub, u32, bits, at)};
  const uint32_t width = vyre_spv_ext(s, GLSLstd450UMin, u32, limits, 2);
  if (opcode == VYRE_OP_bfi) {
    const uint32_t operands[4] = {g->a, g->b, at, width};
    return vyre_spv_select(s, g->type, inside, boolean, vyre_spv_op(s, SpvOpBitFieldInsert, g->type_id, operands, 4), g->a);
  }
  const uint32_t field =
      vyre_spv_op3(s, opcode == VYRE_OP_sbfe ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract, g->type_id, g->a, at, width);
  return vyre_spv_select(s, g->type, inside, boolean, field, literal(g, 0));
}

/* Returns whether index < lanes, and sets *out_safe to the index if so, otherwise to 0.  The comparison is unsigned, so negative
 * indices are out of range. */
static uint32_t
lane_inside(vyre_spv *s, uint32_t lanes, uint32_t index, uint32_t index_row, uint32_t *out_safe)
{
  const vyre_type type = vyre_spv_row_type(s, index_row);
  const uint32_t boolean = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
  const uint32_t limit = vyre_spv_constant(s, type, lanes);
  const uint32_t inside = vyre_spv_op2(s, SpvOpULessThan, boolean, index, limit);
  const uint32_t zero = vyre_spv_constant(s, type, 0);
  *out_safe = vyre_spv_op3(s, SpvOpSelect, vyre_spv_value_type(s, type), inside, index, zero);
  return inside;
}

uint32_t
vyre_spv_guarded_lane(vyre_spv *s, uint32_t vector, vyre_type type, uint32_t index, uint32_t index_row)
{
  const vyre_type scalar = VYRE_TYPE(VYRE_TYPE_KIND(type), 1), boolean = VYRE_TYPE(VYRE_BOOL, 1);
  const uint32_t lanes = VYRE_TYPE_LANES(type), scalar_id = vyre_spv_value_type(s, scalar);
  uint32_t safe;
  const uint32_t inside = lane_inside(s, lanes, index, index_row, &safe);
  const uint32_t value = lanes == 1 ? vector : vyre_spv_op2(s, SpvOpVectorExtractDynamic, scalar_id, vector, safe);
  return vyre_spv_select(s, scalar, inside, boolean, value, vyre_spv_constant(s, scalar, 0));
}

uint32_t
vyre_spv_guarded_insert(vyre_spv *s, uint32_t vector, vyre_type type, uint32_t value, uint32_t index, uint32_t index_row)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  uint32_t safe;
  const uint32_t inside = lane_inside(s, lanes, index, index_row, &safe);
  if (lanes > 1)
    value = vyre_spv_op3(s, SpvOpVectorInsertDynamic, vyre_spv_value_type(s, type), vector, value, safe);
  return vyre_spv_select(s, type, inside, VYRE_TYPE(VYRE_BOOL, 1), value, vector);
}

uint32_t
vyre_spv_guarded(vyre_spv *s, uint32_t row)
{
  const vyre_opcode opcode = vyre_spv_opcode(s, row);
  const vyre_op_info *info = &vyre_op_infos[opcode];
  /* SPIR-V defines round, nmin, nmax and nclamp for all operands, but not to the bit. */
  if ((info->undefined == VYRE_UNDEFINED_NEVER && opcode != VYRE_OP_round && opcode != VYRE_OP_nmin && opcode != VYRE_OP_nmax &&
       opcode != VYRE_OP_nclamp) ||
      info->undefined == VYRE_UNDEFINED_DOMAIN || info->undefined == VYRE_UNDEFINED_LANE_RANGE ||
      info->undefined == VYRE_UNDEFINED_DOT_OVERFLOW)
    return 0;
  if (info->undefined == VYRE_UNDEFINED_BITFIELD_RANGE && vyre_kind_bits(VYRE_TYPE_KIND(vyre_spv_row_type(s, row))) != 32)
    return 0; /* widths.c has its own guards */
  operation g = operation_of(s, row);
  if (info->operands > 1)
    g.b = vyre_spv_right(s, row, g.type);
  switch (opcode) {
  case VYRE_OP_udiv:
  case VYRE_OP_umod:
    return unsigned_division(&g, opcode == VYRE_OP_umod);
  case VYRE_OP_sdiv:
    return signed_division(&g);
  case VYRE_OP_srem:
  case VYRE_OP_smod:
    return signed_remainder(&g, opcode == VYRE_OP_smod);
  case VYRE_OP_shl:
    return shift(&g, SpvOpShiftLeftLogical);
  case VYRE_OP_ushr:
    return shift(&g, SpvOpShiftRightLogical);
  case VYRE_OP_sshr:
    return shift(&g, SpvOpShiftRightArithmetic);
  case VYRE_OP_fmin:
  case VYRE_OP_nmin:
    return float_minmax(&g, g.a, g.b, false);
  case VYRE_OP_fmax:
  case VYRE_OP_nmax:
    return float_minmax(&g, g.a, g.b, true);
  case VYRE_OP_uclamp:
  case VYRE_OP_sclamp:
  case VYRE_OP_fclamp:
  case VYRE_OP_nclamp:
    return clamp(&g, opcode, vyre_spv_value(s, s->c[row]));
  case VYRE_OP_smoothstep:
    return smoothstep(&g, vyre_spv_value(s, s->c[row]));
  case VYRE_OP_round:
    /* GLSL.std.450 does not define the rounding direction of halves. */
    return vyre_spv_ext(s, GLSLstd450RoundEven, g.type_id, &g.a, 1);
  case VYRE_OP_convert:
    if (!vyre_kind_is_float(VYRE_TYPE_KIND(g.type)) || vyre_kind_is_float(VYRE_TYPE_KIND(vyre_spv_row_type(s, row))))
      return 0;
    return float_to_int(&g, vyre_spv_row_type(s, row));
  case VYRE_OP_ubfe:
  case VYRE_OP_sbfe:
    return bit_field(&g, opcode, g.b, vyre_spv_value(s, s->c[row]));
  case VYRE_OP_bfi:
    return bit_field(&g, opcode, vyre_spv_value(s, s->a[s->c[row]]), vyre_spv_value(s, s->b[s->c[row]]));
  default:
    return 0;
  }
}
