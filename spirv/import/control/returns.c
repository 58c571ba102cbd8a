/* Turns early returns of inlined functions, and other jumps that leave a block or the one case of a switch, into arms.
 *
 *  block %b {                                   if %c {
 *    if %c { set %r, 1u32  leave %b }             set %r, 1u32
 *    %v = load %x[%i]                           } else {
 *    set %r, %v                           =>      %v = load %x[%i]
 *  }                                              set %r, %v
 *                                               }
 *
 * If one arm of an `if` returns, only the other arm reaches the rows after the `if`.  These rows move to the end of the other arm,
 * and the return needs no jump.  A block that no jump leaves any more is removed; drivers would treat it as a switch with flags.
 * Tools that inline write a switch for such a block.
 *
 * Regions are walked from their last row to their first, so the returns after an `if` are converted before these rows move.  A row
 * moves once for each return before it, at most MOST times.
 *
 * Limits: returns in loops and switches remain leaves, and so do returns in an `if` whose arms may both continue.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

enum { MOST = 24 }; /* limit of the nesting that it adds to a construct */

typedef struct whole {
  uint32_t row;            /* the construct that the jumps leave */
  uint32_t leaves, nested; /* jumps that leave it; jumps that became arms with the rows after them */
} whole;

static bool
is_leave(const import *m, uint32_t row, uint32_t body)
{
  return row && VYRE_ROW_OP(m->view->op[row]) == VYRE_OP_leave && m->view->a[row] == body;
}

static bool
is_ended(const import *m, uint32_t region)
{
  const uint32_t last = m->view->last[region];
  return last && (vyre_op_info_of(m->view, VYRE_ROW_OP(m->view->op[last]))->flags & VYRE_OP_ENDS) != 0;
}

static void
drop_leave(import *m, uint32_t region, whole *of)
{
  const uint32_t last = m->view->last[region];
  if (!is_leave(m, last, of->row))
    return;
  vyre_row_kill(m->module, (vyre_row){last});
  of->leaves--;
}

/* Converts the rows up to `row` of a region whose end is the end of the construct. */
static void
nest_rows(import *m, uint32_t row, whole *of)
{
  const vyre_view *v = m->view;
  for (; row && of->leaves && !failed(m); row = v->prev[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_if)
      continue;
    const uint32_t arms[2] = {v->first[row], v->last[row]};
    const uint32_t returning = is_leave(m, v->last[arms[0]], of->row) ? 0 : 1;
    const uint32_t other = arms[!returning], moved = v->next[row] ? v->last[other] : 0;
    if (v->next[row]) {
      if (of->nested == MOST || is_ended(m, other) || !is_leave(m, v->last[arms[returning]], of->row))
        continue;
      vyre_rows_move(m->module, (vyre_row){v->next[row]}, (vyre_row){other}, VYRE_NONE);
      of->nested++;
      nest_rows(m, moved, of);
    } else {
      drop_leave(m, other, of);
      nest_rows(m, v->last[other], of);
    }
    drop_leave(m, arms[returning], of);
    nest_rows(m, v->last[arms[returning]], of);
  }
}

void
import_nest_returns(import *m, uint32_t row, uint32_t leaves)
{
  const uint32_t region = m->view->first[row];
  whole of = {.row = row, .leaves = leaves};
  nest_rows(m, m->view->last[region], &of);
  if (of.leaves || failed(m))
    return;
  vyre_rows_move(m->module, (vyre_row){m->view->first[region]}, (vyre_row){m->view->parent[row]}, (vyre_row){row});
  vyre_row_kill(m->module, (vyre_row){row});
}
