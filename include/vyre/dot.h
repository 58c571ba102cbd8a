/* The shape of an integer dot product: the components of its operands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_DOT_H
#define VYRE_DOT_H

#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_dot_shape {
  uint32_t lanes, bits;           /* of each operand: number of components, and bits of each */
  bool packed;                    /* whether an operand is one 32-bit integer with component 0 lowest */
  bool left_signed, right_signed; /* whether components are sign-extended */
} vyre_dot_shape;

static inline bool
vyre_op_is_int_dot(vyre_opcode op)
{
  return op >= VYRE_OP_sdot && op <= VYRE_OP_sudot;
}

/* Returns the shape for an operand a of the given type. */
static inline vyre_dot_shape
vyre_dot_shape_of(vyre_opcode op, vyre_type operand)
{
  const bool packed = VYRE_TYPE_LANES(operand) == 1;
  vyre_dot_shape shape;
  shape.lanes = packed ? 4 : VYRE_TYPE_LANES(operand);
  shape.bits = packed ? 8 : vyre_kind_bits(VYRE_TYPE_KIND(operand));
  shape.packed = packed;
  shape.left_signed = op != VYRE_OP_udot;
  shape.right_signed = op == VYRE_OP_sdot;
  return shape;
}

/* Returns whether the exact sum of products can exceed an integer of `bits` bits. That integer is unsigned if both operands are
 * unsigned, otherwise signed. */
static inline bool
vyre_dot_may_overflow(const vyre_dot_shape *shape, uint32_t bits)
{
  if (shape->bits >= 32)
    return true; /* two products can exceed 64 bits */
  const uint64_t unsigned_most = (UINT64_C(1) << shape->bits) - 1, signed_most = UINT64_C(1) << (shape->bits - 1);
  const uint64_t left = shape->left_signed ? signed_most : unsigned_most, right = shape->right_signed ? signed_most : unsigned_most;
  const uint64_t sum = shape->lanes * left * right;                    /* the greatest magnitude */
  const bool is_negative = shape->left_signed && !shape->right_signed; /* whether that magnitude belongs to a negative sum */
  return sum > (UINT64_MAX >> (64 - bits) >> (shape->left_signed ? 1 : 0)) + (is_negative ? 1 : 0);
}

#ifdef __cplusplus
}
#endif

#endif
