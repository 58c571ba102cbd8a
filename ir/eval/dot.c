/* Integer dot products.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

#include "internal.h"
#include "scalar.h"
#include "vyre/dot.h"

/* Returns component `k` of an operand, extended to 64 bits. */
static uint64_t
component(const vyre_eval_operand *operand, const vyre_dot_shape *shape, bool is_signed, uint32_t k)
{
  const uint64_t bits = shape->packed ? lane_of(operand, 0) >> 8 * k & 0xff : lane_of(operand, k);
  return is_signed ? (uint64_t)sign_extend(shape->bits, bits) : bits;
}

static bool
has_accumulator(const row_eval *row)
{
  return row->operands[2].value && row->operands[2].type;
}

bool
vyre_eval_int_dot(const row_eval *row)
{
  const vyre_kind kind = VYRE_TYPE_KIND(row->operands[0].type), to = VYRE_TYPE_KIND(row->type);
  const vyre_dot_shape shape = vyre_dot_shape_of(row->op, row->operands[0].type);
  if (!vyre_kind_is_int(kind) || !vyre_kind_is_int(to))
    return false;
  const unsigned bits = vyre_kind_bits(to);
  const uint64_t mask = bits_mask(bits), top = mask >> 1;
  uint64_t sum = 0;
  for (uint32_t k = 0; k < shape.lanes; k++)
    sum += component(&row->operands[0], &shape, shape.left_signed, k) * component(&row->operands[1], &shape, shape.right_signed, k);
  sum &= mask;
  if (has_accumulator(row)) {
    const uint64_t accumulator = lane_of(&row->operands[2], 0), total = (sum + accumulator) & mask;
    if (!shape.left_signed)
      sum = total < sum ? mask : total;
    else if (((sum ^ total) & (accumulator ^ total)) > top) /* both have the opposite sign of the total */
      sum = accumulator > top ? top + 1 : top;
    else
      sum = total;
  }
  row->out[0].lane[0] = sum;
  return true;
}

bool
vyre_eval_int_dot_overflows(const row_eval *row)
{
  const vyre_dot_shape shape = vyre_dot_shape_of(row->op, row->operands[0].type);
  const uint64_t mask = bits_mask(vyre_kind_bits(VYRE_TYPE_KIND(row->type)));
  const int128 most = (int128)(shape.left_signed ? mask >> 1 : mask), least = shape.left_signed ? -most - 1 : 0;
  int128 above = 0, below = 0;
  for (uint32_t k = 0; k < shape.lanes; k++) {
    const uint64_t x = component(&row->operands[0], &shape, shape.left_signed, k);
    const uint64_t y = component(&row->operands[1], &shape, shape.right_signed, k);
    if (!shape.left_signed && (uint128)x * y > mask)
      return true; /* int128 cannot hold some of these products */
    const int128 product = !shape.left_signed   ? (int128)((uint128)x * y)
                           : shape.right_signed ? (int128)(int64_t)x * (int64_t)y
                                                : (int128)(int64_t)x * (int128)y;
    if (product > most || product < least)
      return true;
    above += product > 0 ? product : 0;
    below += product < 0 ? product : 0;
  }
  return above > most || below < least;
}
