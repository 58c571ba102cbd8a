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
 * the leave's target.  It gives vars other values, and each edge to the construct's merge block can do that for itself.  Then the
 * leave is an edge to that merge block like the others, but without the tail.  Early returns of inlined functions look like that.
 *
 * Cost: rows of the tail times the edges of its construct; a tail has at most MOST_ROWS.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

enum { MOST_ROWS = 32 };

bool
vyre_spv_take_tail(vyre_spv *s, uint32_t construct, uint32_t target)
{
  const vyre_opcode op = vyre_spv_opcode(s, target);
  uint32_t count = 0;
  if ((op != VYRE_OP_block && op != VYRE_OP_switch) || s->parent[s->parent[construct]] != target)
    return false;
  if (s->use[construct - s->base] & VYRE_SPV_HAS_TAIL)
    return true;
  for (uint32_t row = s->next[construct]; row; row = s->next[row]) {
    const vyre_opcode tail = vyre_spv_opcode(s, row);
    if ((tail != VYRE_OP_get && tail != VYRE_OP_set) || vyre_spv_is_in_memory(s, row) || ++count > MOST_ROWS)
      return false;
  }
  s->use[construct - s->base] |= VYRE_SPV_HAS_TAIL;
  for (uint32_t row = s->next[construct]; row; row = s->next[row])
    s->use[row - s->base] |= VYRE_SPV_IN_TAIL;
  return true;
}

void
vyre_spv_follow_tail(vyre_spv *s, const vyre_spv_scope *scope, uint32_t *values)
{
  for (uint32_t i = 0; i < scope->var_count; i++)
    s->vars[scope->vars[i]].seen = i;
  for (uint32_t row = scope->tail; row && !vyre_spv_failed(s); row = s->next[row]) {
    const uint32_t value = s->aux[s->a[row] - s->base], place = s->vars[value].seen;
    uint32_t *const id = place < scope->var_count && scope->vars[place] == value ? &values[place] : &s->vars[value].id;
    if (vyre_spv_opcode(s, row) == VYRE_OP_get)
      s->id[row - s->base] = vyre_spv_or_zero(s, value, *id);
    else
      *id = vyre_spv_set_value(s, row); /* the survey has put what a tail sets among the construct's vars */
  }
}
