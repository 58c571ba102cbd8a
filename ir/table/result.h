/* The result types of ops. Builders and the parser use them, and the verifier compares rows with them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_RESULT_H
#define VYRE_IR_RESULT_H

#include "vyre/types.h"

/* The type of a row; for a tuple also its payload, the number of parts and their type. */
typedef struct typed {
  vyre_type type;
  uint32_t imm;
} typed;

/* Returns the result type of an op whose rule is SAME or BOOL. */
static inline vyre_type
result_uniform(const vyre_op_info *info, vyre_type a)
{
  return info->rule == VYRE_RULE_BOOL ? VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(a)) : a;
}

/* Returns the lanes of a `join` of these operands. The type of a missing operand is 0. */
static inline uint32_t
result_joined_lanes(const typed operands[3])
{
  return VYRE_TYPE_LANES(operands[0].type) + VYRE_TYPE_LANES(operands[1].type) +
         (operands[2].type ? VYRE_TYPE_LANES(operands[2].type) : 0);
}

/* Returns the type of a part of a `frexp` of a value of type `a`. */
static inline vyre_type
result_frexp_part(vyre_type a, uint32_t part)
{
  return part == 0 ? a : VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(a));
}

/* Returns the result of an op on valid operands. The type must follow from the operands alone: the op is not a memory access,
 * `tuple` or `part`, and has no opaque value. If its rule is FREE, it is `matvec` or `vecmat`. */
typed result_of(vyre_opcode op, const typed operands[3]);

#endif
