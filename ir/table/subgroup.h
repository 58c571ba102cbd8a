/* The payloads of subgroup ops.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_SUBGROUP_H
#define VYRE_IR_SUBGROUP_H

#include "vyre/types.h"

/* Returns whether the op combines values of lanes: subgroup_add to subgroup_xor. */
static inline bool
subgroup_combines(vyre_opcode op)
{
  return op >= VYRE_OP_subgroup_add && op <= VYRE_OP_subgroup_xor;
}

/* Returns the vyre_group values that the op's imm may have, a bit for each. */
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

#endif
