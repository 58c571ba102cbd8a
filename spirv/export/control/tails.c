/* Leaves that need no flag, because their target ends just after the construct that they cross.
 *
 *  block %b {
 *    switch %k {
 *      case 0u32 { set %r, 1u32  leave %b }
 *      default   { set %f, 2u32 }
 *    }
 *    %v = get %f      ; the tail of the switch
 *    set %r, %v
 *  }
 *
 * A construct's tail is the rest of its region, if that has only gets, sets and constants and ends where the leave's target ends.
 * A tail writes no instruction.  So each edge to the end of the construct brings the values after the tail, as the edge of the
 * leave does.  Early returns of inlined functions have this form.
 *
 * Cost: rows of the tail, at most MOST_ROWS, for each edge.
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
vyre_spv_claim_tail(vyre_spv *s, uint32_t construct, uint32_t target)
{
  const vyre_opcode op = vyre_spv_opcode(s, target);
  if ((op != VYRE_OP_block && op != VYRE_OP_switch) || s->parent[s->parent[construct]] != target)
    return false;
  if (vyre_spv_has_tail(s, construct))
    return true;
  if (!vyre_spv_is_silent(s, s->next[construct]))
    return false;
  s->use[construct - s->base] |= VYRE_SPV_HAS_TAIL;
  return true;
}

uint32_t
vyre_spv_run_tails(vyre_spv *s, uint32_t construct)
{
  for (; vyre_spv_has_tail(s, construct); construct = s->parent[s->parent[construct]])
    for (uint32_t row = s->next[construct]; row && !vyre_spv_failed(s); row = s->next[row])
      if (vyre_spv_opcode(s, row) == VYRE_OP_get)
        vyre_spv_get(s, row);
      else if (vyre_spv_opcode(s, row) == VYRE_OP_set)
        vyre_spv_set(s, row);
      else if (!s->id[row - s->base])
        vyre_spv_row(s, row);
  return construct;
}
