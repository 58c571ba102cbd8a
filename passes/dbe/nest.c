/* Blocks that rows leave early, such as inlined functions with several returns:
 *
 *   block %b { if %c { set %r, 1u32  leave %b }  set %r, %x }    ; becomes
 *   if %c { set %r, 1u32 } else { set %r, %x }
 *
 * The rows after an `if` move to the end of the arm that reaches them.  If both arms reach them, and they are few and cheap, each
 * arm gets a copy.  Then each leave ends the block anyway, and cleaner_block removes it.  Drivers compute a flag for each leave,
 * and test it in the rows after it.
 *
 * A block changes only if all its leaves go.  A leave stays in a loop, a switch or another block.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"

enum { MOST_IFS = 64, MOST_COPIED = 8 }; /* of one block; rows after one `if` */
enum { TOO_MANY = MOST_COPIED + 1, MOST_NEW = MOST_IFS * (MOST_COPIED + 2) };

typedef struct nester {
  cleaner *k;
  uint32_t block;
  uint32_t ifs; /* that may still be visited */
} nester;

static bool
has_leave(const nester *n, uint32_t row)
{
  return row < n->k->rows && n->k->leaving[row] == n->block;
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

static bool
is_cheap(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return op == VYRE_OP_get || op == VYRE_OP_set || (vyre_row_is_pure(v, row) && !vyre_op_is_opaque(op));
}

/* Returns the number of rows from `row` on in its region and of the `following` ones, or TOO_MANY if they may not be copied. */
static uint32_t
count_rest(const vyre_view *v, uint32_t row, uint32_t following)
{
  uint32_t count = following;
  for (; row && count < TOO_MANY; row = v->next[row])
    count = is_cheap(v, row) ? count + 1 : cleaner_has_place(v, row) ? TOO_MANY : count;
  return count;
}

/* Returns whether all leaves in the region can end it.  `following` is the number of rows that control reaches after the region, or
 * TOO_MANY.  `depth` bounds the recursion. */
static bool
may_nest(nester *n, uint32_t region, uint32_t following, uint32_t depth)
{
  const vyre_view *v = n->k->v;
  for (uint32_t row = v->first[region]; row; row = v->next[row]) {
    if (!has_leave(n, row) || vyre_op_of(v, row) == VYRE_OP_leave)
      continue;
    if (vyre_op_of(v, row) != VYRE_OP_if || depth == 0 || n->ifs-- == 0)
      return false;
    const uint32_t then = v->first[row], otherwise = v->last[row];
    const uint32_t rest = cleaner_next_placed(v, v->next[row]) ? count_rest(v, v->next[row], following) : following;
    const bool then_goes_on = cleaner_completes(n->k, then), otherwise_goes_on = cleaner_completes(n->k, otherwise);
    if (rest == TOO_MANY && then_goes_on && otherwise_goes_on)
      return false;
    if (!may_nest(n, then, then_goes_on ? rest : 0, depth - 1) || !may_nest(n, otherwise, otherwise_goes_on ? rest : 0, depth - 1))
      return false;
  }
  return true;
}

/* Moves the rows after `row` to the end of the region, or copies them there. */
static void
take_rest(nester *n, uint32_t row, uint32_t region, bool copies)
{
  const vyre_view *v = n->k->v;
  const vyre_host *host = n->k->host;
  const uint32_t end = host->append_row(n->k->module, region, VYRE_ROW(VYRE_OP_return, 0, 0), 0, 0, 0, 0, 0);
  if (copies)
    for (uint32_t at = v->next[row]; at; at = v->next[at])
      (void)host->clone(n->k->module, at, end, n->k->copies, n->k->copy_rows);
  for (uint32_t at = v->next[row], next; at; at = next) {
    next = v->next[at];
    if (copies)
      n->k->copies[at] = 0;
    else
      host->move_before(n->k->module, at, end);
  }
  host->kill(n->k->module, end);
}

/* Moves and copies rows, so that the leaves in the region end it. */
static void
nest(nester *n, uint32_t region)
{
  const vyre_view *v = n->k->v;
  uint32_t row = v->first[region];
  while (row && (!has_leave(n, row) || vyre_op_of(v, row) == VYRE_OP_leave))
    row = v->next[row];
  if (row == 0)
    return;
  const uint32_t then = v->first[row], otherwise = v->last[row];
  const bool then_goes_on = cleaner_completes(n->k, then), otherwise_goes_on = cleaner_completes(n->k, otherwise);
  if (cleaner_next_placed(v, v->next[row]) && (then_goes_on || otherwise_goes_on)) {
    if (then_goes_on && otherwise_goes_on)
      take_rest(n, row, then, true);
    take_rest(n, row, otherwise_goes_on ? otherwise : then, false);
  }
  nest(n, then);
  nest(n, otherwise);
}

void
cleaner_nest(cleaner *k, uint32_t block)
{
  nester n = {.k = k, .block = block, .ifs = MOST_IFS};
  if (!cleaner_has_jump(k, block, VYRE_OP_leave) || !cleaner_allocate(k, &k->leaving))
    return;
  mark_leaves(&n);
  if (!may_nest(&n, k->v->first[block], 0, MOST_IFS))
    return;
  if (k->copy_rows < k->v->rows + MOST_NEW) {
    k->copy_rows = 2 * (k->v->rows + MOST_NEW);
    k->copies = k->host->alloc(k->ctx, k->copy_rows * sizeof *k->copies);
    k->out_of_memory |= k->copies == NULL;
  }
  if (k->copies)
    nest(&n, k->v->first[block]);
}
