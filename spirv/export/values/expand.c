/* Ops that SPIR-V does not have: high products, saturation, absolute differences, rotation.
 *
 * They only use additions, multiplications, shifts, comparisons and selections of the row's own type.  These exist at each width
 * and for either signedness, and OpSpecConstantOp has them, so specialized sizes may use such rows, too.  Only a 32-bit high
 * product uses the instruction that devices have for it.
 *
 * No call has two arguments that both write instructions, because C does not order their evaluation, and so the ids.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/values/operation.h"

/* Returns all ones if the value is negative, otherwise 0. */
static uint32_t
sign_of(const operation *e, uint32_t value)
{
  return op(e, SpvOpShiftRightArithmetic, value, literal(e, e->bits - 1));
}

/* Returns the result of an overflow: the least value if `value` is negative, otherwise the greatest. */
static uint32_t
limit(const operation *e, uint32_t value)
{
  const uint32_t sign = sign_of(e, value);
  return op(e, SpvOpBitwiseXor, sign, literal(e, UINT64_MAX >> (65 - e->bits)));
}

/* ---- products ---- */

/* Returns the high half of the unsigned product, from products of halves that do not overflow. */
static uint32_t
high_by_halves(const operation *e)
{
  const uint32_t half = literal(e, e->bits / 2), mask = literal(e, (UINT64_C(1) << e->bits / 2) - 1);
  const uint32_t a_low = op(e, SpvOpBitwiseAnd, e->a, mask), a_high = op(e, SpvOpShiftRightLogical, e->a, half);
  const uint32_t b_low = op(e, SpvOpBitwiseAnd, e->b, mask), b_high = op(e, SpvOpShiftRightLogical, e->b, half);
  const uint32_t low = op(e, SpvOpShiftRightLogical, op(e, SpvOpIMul, a_low, b_low), half);
  const uint32_t left = op(e, SpvOpIAdd, op(e, SpvOpIMul, a_high, b_low), low);
  const uint32_t left_low = op(e, SpvOpBitwiseAnd, left, mask), left_high = op(e, SpvOpShiftRightLogical, left, half);
  const uint32_t right = op(e, SpvOpIAdd, op(e, SpvOpIMul, a_low, b_high), left_low);
  const uint32_t high = op(e, SpvOpIAdd, op(e, SpvOpIMul, a_high, b_high), left_high);
  return op(e, SpvOpIAdd, high, op(e, SpvOpShiftRightLogical, right, half));
}

static uint32_t
high_product(const operation *e, bool is_signed)
{
  if (e->bits == 32 && !e->s->constant) {
    const uint32_t parts[2] = {e->type_id, e->type_id};
    const uint32_t pair = vyre_spv_struct_of(e->s, parts, 2);
    const uint32_t product = vyre_spv_op2(e->s, is_signed ? SpvOpSMulExtended : SpvOpUMulExtended, pair, e->a, e->b);
    return op(e, SpvOpCompositeExtract, product, 1);
  }
  const uint32_t high = high_by_halves(e);
  if (!is_signed)
    return high;
  /* A negative operand counted as 2^bits more. */
  const uint32_t by_a = op(e, SpvOpBitwiseAnd, sign_of(e, e->a), e->b), by_b = op(e, SpvOpBitwiseAnd, sign_of(e, e->b), e->a);
  return op(e, SpvOpISub, op(e, SpvOpISub, high, by_a), by_b);
}

static uint32_t
saturated_product(const operation *e, bool is_signed)
{
  const uint32_t low = op(e, SpvOpIMul, e->a, e->b), high = high_product(e, is_signed);
  /* The product fits if its high half only extends the low half: zero, or copies of its sign. */
  const uint32_t fits = compare(e, SpvOpIEqual, high, is_signed ? sign_of(e, low) : literal(e, 0));
  return choose(e, fits, low, is_signed ? limit(e, op(e, SpvOpBitwiseXor, e->a, e->b)) : literal(e, UINT64_MAX));
}

/* ---- sums and differences ---- */

/* Signed sum or difference.  A sum overflows if the sign of the result differs from those of both operands; a difference is the sum
 * with the negated operand. */
static uint32_t
saturated_signed(const operation *e, bool subtracts)
{
  const uint32_t result = op(e, subtracts ? SpvOpISub : SpvOpIAdd, e->a, e->b);
  const uint32_t by_a = op(e, SpvOpBitwiseXor, e->a, result);
  const uint32_t by_b = op(e, SpvOpBitwiseXor, subtracts ? e->a : result, e->b);
  const uint32_t both = op(e, SpvOpBitwiseAnd, by_a, by_b), overflow = compare(e, SpvOpSLessThan, both, literal(e, 0));
  return choose(e, overflow, limit(e, e->a), result);
}

/* A difference is a - min(a, b), which the rule sub-umin turns into usubsat.  Programs often use the minimum, too. */
static uint32_t
saturated_unsigned(const operation *e, bool subtracts)
{
  if (subtracts && e->bits == 32 && !e->s->constant) {
    const uint32_t operands[2] = {e->a, e->b};
    const uint32_t least = vyre_spv_ext(e->s, GLSLstd450UMin, e->type_id, operands, 2);
    return op(e, SpvOpISub, e->a, least);
  }
  const uint32_t result = op(e, subtracts ? SpvOpISub : SpvOpIAdd, e->a, e->b);
  const uint32_t overflow = subtracts ? compare(e, SpvOpULessThan, e->a, e->b) : compare(e, SpvOpULessThan, result, e->a);
  return choose(e, overflow, literal(e, subtracts ? 0 : UINT64_MAX), result);
}

uint32_t
vyre_spv_saturated_sum(vyre_spv *s, vyre_type type, uint32_t a, uint32_t b)
{
  operation e = {.s = s, .type = type, .bits = vyre_kind_bits(VYRE_TYPE_KIND(type)), .ones = UINT64_MAX, .a = a, .b = b};
  e.ones >>= 64 - e.bits;
  e.type_id = vyre_spv_value_type(s, type);
  e.bool_id = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type)));
  return vyre_kind_is_signed(VYRE_TYPE_KIND(type)) ? saturated_signed(&e, false) : saturated_unsigned(&e, false);
}

static uint32_t
absolute_difference(const operation *e, bool is_signed)
{
  const uint32_t less = compare(e, is_signed ? SpvOpSLessThan : SpvOpULessThan, e->a, e->b);
  const uint32_t up = op(e, SpvOpISub, e->b, e->a), down = op(e, SpvOpISub, e->a, e->b);
  return choose(e, less, up, down);
}

/* ---- rotation ---- */

static uint32_t
rotation(const operation *e, bool left)
{
  const uint64_t top = e->bits - 1;
  uint32_t near, far;
  if (e->is_literal) {
    near = literal(e, e->value & top);
    far = literal(e, (0 - e->value) & top);
  } else {
    const uint32_t mask = literal(e, top), back = op(e, SpvOpISub, literal(e, 0), e->b);
    near = op(e, SpvOpBitwiseAnd, e->b, mask);
    far = op(e, SpvOpBitwiseAnd, back, mask);
  }
  const uint32_t up = op(e, SpvOpShiftLeftLogical, e->a, left ? near : far);
  return op(e, SpvOpBitwiseOr, up, op(e, SpvOpShiftRightLogical, e->a, left ? far : near));
}

uint32_t
vyre_spv_expanded(vyre_spv *s, uint32_t row)
{
  const vyre_opcode opcode = vyre_spv_opcode(s, row);
  operation e = operation_of(s, row);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(e.type));
  if (opcode == VYRE_OP_rotl || opcode == VYRE_OP_rotr) {
    e.b = e.is_literal ? 0 : vyre_spv_value(s, s->b[row]);
    return rotation(&e, opcode == VYRE_OP_rotl);
  }
  e.b = vyre_spv_right(s, row, e.type);
  switch (opcode) {
  case VYRE_OP_umulhi:
  case VYRE_OP_smulhi:
    return high_product(&e, is_signed);
  case VYRE_OP_umulsat:
  case VYRE_OP_smulsat:
    return saturated_product(&e, is_signed);
  case VYRE_OP_uaddsat:
  case VYRE_OP_usubsat:
    return saturated_unsigned(&e, opcode == VYRE_OP_usubsat);
  case VYRE_OP_saddsat:
  case VYRE_OP_ssubsat:
    return saturated_signed(&e, opcode == VYRE_OP_ssubsat);
  default:
    return absolute_difference(&e, is_signed);
  }
}
