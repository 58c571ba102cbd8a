/* What text, verifier and interpreter ask about subgroup ops: the result's type, which payload they have.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_SUBGROUP_H
#define VYRE_IR_SUBGROUP_H

#include "vyre/types.h"

/* subgroup_lane and the like: the built-ins of subgroups. */
static inline bool
subgroup_is_place(vyre_opcode op)
{
  return op >= VYRE_OP_subgroup_lane && op <= VYRE_OP_subgroup_lt_mask;
}

/* Combines values of lanes: add to xor. */
static inline bool
subgroup_combines(vyre_opcode op)
{
  return op >= VYRE_OP_subgroup_add && op <= VYRE_OP_subgroup_xor;
}

/* The vyre_group values that an op's imm may have, a bit each. */
static inline unsigned
subgroup_groups(vyre_opcode op)
{
  const unsigned clustered = 1u << VYRE_GROUP_CLUSTERED;
  const unsigned scans = 1u << VYRE_GROUP_REDUCE | 1u << VYRE_GROUP_INCLUSIVE | 1u << VYRE_GROUP_EXCLUSIVE;
  if (op == VYRE_OP_subgroup_ballot_count)
    return scans;
  if (op == VYRE_OP_subgroup_rotate)
    return 1u << VYRE_GROUP_REDUCE | clustered;
  return subgroup_combines(op) ? scans | clustered : 1u << VYRE_GROUP_REDUCE;
}

/* The type of a row on an operand a of type `a`. */
static inline vyre_type
subgroup_type(vyre_opcode op, vyre_type a)
{
  switch ((uint32_t)op) {
  case VYRE_OP_subgroup_elect:
  case VYRE_OP_subgroup_all:
  case VYRE_OP_subgroup_any:
  case VYRE_OP_subgroup_alleq:
  case VYRE_OP_subgroup_inverse_ballot:
  case VYRE_OP_subgroup_ballot_bit:
    return VYRE_TYPE(VYRE_BOOL, 1);
  case VYRE_OP_subgroup_lane:
  case VYRE_OP_subgroup_id:
  case VYRE_OP_subgroup_size:
  case VYRE_OP_subgroups:
  case VYRE_OP_subgroup_ballot_count:
  case VYRE_OP_subgroup_ballot_findlsb:
  case VYRE_OP_subgroup_ballot_findmsb:
    return VYRE_TYPE(VYRE_U32, 1);
  case VYRE_OP_subgroup_eq_mask:
  case VYRE_OP_subgroup_ge_mask:
  case VYRE_OP_subgroup_gt_mask:
  case VYRE_OP_subgroup_le_mask:
  case VYRE_OP_subgroup_lt_mask:
  case VYRE_OP_subgroup_ballot:
    return VYRE_TYPE(VYRE_U32, 4);
  default:
    return a;
  }
}

#endif
