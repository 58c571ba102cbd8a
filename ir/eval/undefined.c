/* Decides whether a row of a relaxed program is undefined: evaluates the `undefined` column of ops.def on given operands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

#include "internal.h"
#include "scalar.h"

static bool
is_outside_domain(vyre_opcode op, double x, double y)
{
  switch ((uint32_t)op) {
  case VYRE_OP_sqrt:
    return x < 0.0;
  case VYRE_OP_rsqrt:
  case VYRE_OP_log:
  case VYRE_OP_log2:
    return x <= 0.0;
  case VYRE_OP_asin:
  case VYRE_OP_acos:
    return fabs(x) > 1.0;
  case VYRE_OP_acosh:
    return x < 1.0;
  case VYRE_OP_atanh:
    return fabs(x) >= 1.0;
  case VYRE_OP_atan2:
    return x == 0.0 && y == 0.0;
  case VYRE_OP_pow:
    return x < 0.0 || (x == 0.0 && y <= 0.0);
  case VYRE_OP_frexp:
    return !isfinite(x);
  default:
    return false;
  }
}

static bool
clamp_is_crossed(const row_eval *row, vyre_kind kind, unsigned bits, uint32_t i)
{
  const uint64_t x = lane_of(&row->operands[0], i), y = lane_of(&row->operands[1], i), z = lane_of(&row->operands[2], i);
  if (row->op == VYRE_OP_uclamp)
    return y > z;
  if (row->op == VYRE_OP_sclamp)
    return sign_extend(bits, y) > sign_extend(bits, z);
  if (!vyre_kind_is_float(kind))
    return false;
  const double p = double_of_lane(kind, x), q = double_of_lane(kind, y), r = double_of_lane(kind, z);
  if (row->op == VYRE_OP_smoothstep)
    return p >= q;
  return q > r || (row->op == VYRE_OP_fclamp && (isnan(p) || isnan(q) || isnan(r)));
}

/* Returns whether the kind cannot hold the value truncated toward zero. */
static bool
exceeds_int_range(vyre_kind kind, double x)
{
  const unsigned bits = vyre_kind_bits(kind);
  if (vyre_kind_is_signed(kind))
    return !(trunc(x) >= -ldexp(1.0, (int)bits - 1) && x < ldexp(1.0, (int)bits - 1));
  return !(x > -1.0 && x < ldexp(1.0, (int)bits));
}

static bool
field_is_out(const row_eval *row, unsigned bits)
{
  uint64_t offset = lane_of(&row->operands[1], 0), count = lane_of(&row->operands[2], 0);
  if (row->op == VYRE_OP_bfi) {
    if (row->operands[2].parts != 2)
      return false;
    offset = row->operands[2].value[0].lane[0];
    count = row->operands[2].value[1].lane[0];
  }
  return offset > bits || count > bits - offset;
}

static bool
lane_is_undefined(const row_eval *row, vyre_undefined when, vyre_kind kind, uint32_t i)
{
  const unsigned bits = vyre_kind_bits(kind);
  const uint64_t x = lane_of(&row->operands[0], i), y = lane_of(&row->operands[1], i);
  const bool is_float = vyre_kind_is_float(kind);
  switch (when) {
  case VYRE_UNDEFINED_DIV_BY_0:
    return y == 0;
  case VYRE_UNDEFINED_DIV_OVERFLOW:
    return y == 0 || (y == bits_mask(bits) && x == UINT64_C(1) << (bits - 1));
  case VYRE_UNDEFINED_SHIFT_RANGE:
    return y >= bits;
  case VYRE_UNDEFINED_NAN_OPERAND:
    return is_float && (isnan(double_of_lane(kind, x)) || isnan(double_of_lane(kind, y)));
  case VYRE_UNDEFINED_CLAMP_RANGE:
    return clamp_is_crossed(row, kind, bits, i);
  case VYRE_UNDEFINED_FLOAT_RANGE:
    return is_float && vyre_kind_is_int(VYRE_TYPE_KIND(row->type)) &&
           exceeds_int_range(VYRE_TYPE_KIND(row->type), double_of_lane(kind, x));
  case VYRE_UNDEFINED_DOMAIN:
    return is_float && is_outside_domain(row->op, double_of_lane(kind, x), double_of_lane(kind, y));
  case VYRE_UNDEFINED_NEVER:
  case VYRE_UNDEFINED_OUT_OF_BOUNDS:
  case VYRE_UNDEFINED_BITFIELD_RANGE:
  case VYRE_UNDEFINED_LANE_RANGE:
  case VYRE_UNDEFINED_LANES:
  case VYRE_UNDEFINED_DOT_OVERFLOW:
    return false;
  }
  return false;
}

bool
vyre_eval_is_undefined(const row_eval *row)
{
  const vyre_undefined when = (vyre_undefined)vyre_op_infos[row->op].undefined;
  const vyre_eval_operand *a = &row->operands[0];
  if (when == VYRE_UNDEFINED_NEVER)
    return false;
  if (when == VYRE_UNDEFINED_LANE_RANGE)
    return lane_of(&row->operands[row->op == VYRE_OP_lane ? 1 : 2], 0) >= lanes_of(a);
  if (when == VYRE_UNDEFINED_BITFIELD_RANGE)
    return field_is_out(row, vyre_kind_bits(VYRE_TYPE_KIND(a->type)));
  if (when == VYRE_UNDEFINED_DOT_OVERFLOW)
    return row->operands[2].value && row->operands[2].type && vyre_eval_int_dot_overflows(row);
  if (row->op == VYRE_OP_inverse)
    return vyre_eval_is_singular(a);
  for (uint32_t i = 0; i < lanes_of(a); i++)
    if (lane_is_undefined(row, when, VYRE_TYPE_KIND(a->type), i))
      return true;
  return false;
}
