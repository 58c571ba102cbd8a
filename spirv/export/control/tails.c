/* Leaves that need no flag, because their target ends right after the construct that they cross.
 *
 *   block %b {
 *     switch %k {
 *       case 0u32 { set %r, 1u32  leave %b }
 *       default   { set %f, 2u32 }
 *     }
 *     %v = get %f      ; the tail of the switch
 *     set %r, %v
 *   }
 *
 * A construct's tail is what follows it in its region, if that is gets and sets alone and the end of the region is that of
 * the leave's target.  None of it is an instruction: what is known after the target is known in the construct's merge block, to
 * which all edges lead, those of the leave too (phis.c).  Early returns of inlined functions look like that.
 *
 * Cost: rows of the tail, at most MOST_ROWS, for each such leave.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

enum { MOST_ROWS = 32 };

bool
vyre_spv_is_silent(vyre_spv *s, uint32_t row)
{
  uint32_t count = 0;
  for (; row; row = s->next[row]) {
    const vyre_opcode op = vyre_spv_opcode(s, row);
    if (((op != VYRE_OP_get && op != VYRE_OP_set) || vyre_spv_is_in_memory(s, row)) && op != VYRE_OP_const)
      return false;
    if (++count > MOST_ROWS)
      return false;
  }
  return true;
}

bool
vyre_spv_take_tail(vyre_spv *s, uint32_t construct, uint32_t target)
{
  const vyre_opcode op = vyre_spv_opcode(s, target);
  if ((op != VYRE_OP_block && op != VYRE_OP_switch) || s->parent[s->parent[construct]] != target)
    return false;
  if (s->use[construct - s->base] & VYRE_SPV_HAS_TAIL)
    return true;
  if (!vyre_spv_is_silent(s, s->next[construct]))
    return false;
  s->use[construct - s->base] |= VYRE_SPV_HAS_TAIL;
  return true;
}
