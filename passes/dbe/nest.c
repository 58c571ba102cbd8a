/* Blocks that rows leave early, such as inlined functions with several returns:
 *
 *   block %b { if %c { set %r, 1u32  leave %b }  set %r, %x }    ; becomes
 *   if %c { set %r, 1u32 } else { set %r, %x }
 *
 * The rows after an `if` move to the end of the arm that reaches them.  Then each leave ends the block anyway, and cleaner_block
 * removes it.  Drivers compute a flag for each leave, and test it in the rows after it.
 *
 * A block changes only if all its leaves go.  A leave stays in a loop, a switch or another block, and in an arm whose `if` has
 * another arm with leaves of which the rows after it depend.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"

enum { MOST_IFS = 64 }; /* moved rows of one block; each nests the following ones */

typedef struct nester {
  cleaner *k;
  uint32_t block;
  uint32_t ifs[MOST_IFS], arms[MOST_IFS]; /* the rows after ifs[i] move to the end of arms[i] */
  uint32_t count;
} nester;

static bool
has_leave(const nester *n, uint32_t row)
{
  return n->k->leaving[row] == n->block;
}

/* Marks the rows with leaves of the block in them. */
static void
mark_leaves(const nester *n)
{
  const vyre_view *v = n->k->v;
  for (uint32_t jump = n->k->jumps[n->block]; jump; jump = n->k->link[jump])
    if (vyre_op_of(v, jump) == VYRE_OP_leave)
      for (uint32_t row = jump; row != n->block && !has_leave(n, row); row = v->parent[row])
        n->k->leaving[row] = n->block;
}

/* Lists the `if`s whose following rows must move, so that the leaves in the region end it.  Returns false if some leave would not
 * end it.  `depth` bounds the recursion. */
static bool
follow(nester *n, uint32_t region, uint32_t depth)
{
  const vyre_view *v = n->k->v;
  for (uint32_t row = v->first[region]; row; row = v->next[row]) {
    if (!has_leave(n, row) || vyre_op_of(v, row) == VYRE_OP_leave)
      continue;
    if (vyre_op_of(v, row) != VYRE_OP_if || depth == 0)
      return false;
    const uint32_t then = v->first[row], otherwise = v->last[row];
    if (cleaner_next_placed(v, v->next[row])) {
      const bool then_goes_on = cleaner_completes(n->k, then);
      const uint32_t arm = then_goes_on ? then : otherwise;
      if (then_goes_on == cleaner_completes(n->k, otherwise) || has_leave(n, arm) || n->count == MOST_IFS)
        return false;
      n->ifs[n->count] = row;
      n->arms[n->count++] = arm;
    }
    if (!follow(n, then, depth - 1) || !follow(n, otherwise, depth - 1))
      return false;
  }
  return true;
}

/* Moves the rows after `row` to the end of the region. */
static void
move_rest(const nester *n, uint32_t row, uint32_t region)
{
  const vyre_view *v = n->k->v;
  const uint32_t end = n->k->host->append_row(n->k->module, region, VYRE_ROW(VYRE_OP_return, 0, 0), 0, 0, 0, 0, 0);
  while (v->next[row])
    n->k->host->move_before(n->k->module, v->next[row], end);
  n->k->host->kill(n->k->module, end);
}

void
cleaner_nest(cleaner *k, uint32_t block)
{
  nester n = {.k = k, .block = block};
  if (!cleaner_has_jump(k, block, VYRE_OP_leave) || !cleaner_allocate(k, &k->leaving))
    return;
  mark_leaves(&n);
  if (!follow(&n, k->v->first[block], MOST_IFS))
    return;
  for (uint32_t i = n.count; i-- > 0;) /* so that each row moves once */
    move_rest(&n, n.ifs[i], n.arms[i]);
}
