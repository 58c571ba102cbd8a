/* Blocks that rows leave early, such as inlined functions with several returns:
 *
 *   block %b { if %c { set %r, 1u32  leave %b }  set %r, %x }    ; becomes
 *   if %c { set %r, 1u32 } else { set %r, %x }
 *
 * The rows after an `if` move to the end of the arm that reaches them.  If both arms reach them, each arm gets a copy if they are
 * few and cheap.  Otherwise a variable holds whether control left the block:
 *
 *   if %c { if %d { set %r, %x  leave %b } }  store %y[0], 1u32    ; becomes
 *   set %f, false  if %c { if %d { set %r, %x  set %f, true } }  if get %f { } else { store %y[0], 1u32 }
 *
 * Each leave is then the last row on its path, and cleaner_block removes it.  Drivers do the same to returns, but a leave of a
 * block becomes a break of a switch, for which they keep more values alive and test a flag more often.
 *
 * A block changes only if all its leaves go.  A leave stays in a loop, a switch or another block: there the break of a switch was
 * better after AMD's compiler, measured on 56 shaders.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"

enum { MOST_IFS = 64, MOST_COPIED = 8 };           /* with leaves of one block; rows after one `if` */
enum { MOST_NEW = MOST_IFS * (MOST_COPIED + 16) }; /* of one block: copies, and the rows of a guard and of its leaves */

static const vyre_type BOOL = VYRE_TYPE(VYRE_BOOL, 1);

typedef struct nester {
  cleaner *k;
  uint32_t block;
  uint32_t ifs;  /* that may still be visited */
  uint32_t flag; /* a variable that is true if control left the block; 0 until needed */
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

/* Returns whether the row is in the construct. */
static bool
is_inside(const nester *n, uint32_t row, uint32_t construct)
{
  while (row != construct && row != n->block)
    row = n->k->v->parent[row];
  return row == construct;
}

/* ---- checks ----------------------------------------------------------------------------------------------------------------- */

static bool
is_cheap(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return op == VYRE_OP_get || op == VYRE_OP_set || (vyre_row_is_pure(v, row) && !vyre_op_is_opaque(op));
}

/* Returns whether the rows from `row` on in its region are few and cheap. */
static bool
may_copy(const vyre_view *v, uint32_t row)
{
  uint32_t count = 0;
  for (; row && count <= MOST_COPIED; row = v->next[row]) {
    if (cleaner_has_place(v, row) && !is_cheap(v, row))
      return false;
    count++;
  }
  return count <= MOST_COPIED;
}

/* Returns whether all constructs with leaves in the region are `if`s, and not too many. */
static bool
may_nest(nester *n, uint32_t region)
{
  const vyre_view *v = n->k->v;
  for (uint32_t row = v->first[region]; row; row = v->next[row]) {
    if (!has_leave(n, row) || vyre_op_of(v, row) == VYRE_OP_leave)
      continue;
    if (vyre_op_of(v, row) != VYRE_OP_if || n->ifs-- == 0 || !may_nest(n, v->first[row]) || !may_nest(n, v->last[row]))
      return false;
  }
  return true;
}

/* ---- edits --------------------------------------------------------------------------------------------------------------- */

/* Moves the rows after `row` to the end of the region, or copies them there.  A row at the end is needed to insert before it. */
static void
take_rest(nester *n, uint32_t row, uint32_t region, bool copies)
{
  const vyre_view *v = n->k->v;
  const vyre_host *host = n->k->host;
  const uint32_t end = host->append_row(n->k->module, region, VYRE_ROW(VYRE_OP_return, 0, 0), 0, 0, 0, 0, 0);
  n->k->out_of_memory |= end == 0;
  if (end == 0)
    return;
  if (copies)
    for (uint32_t at = v->next[row]; at; at = v->next[at])
      (void)host->clone(n->k->module, at, end, n->k->copies, n->k->room);
  for (uint32_t at = v->next[row], next; at; at = next) {
    next = v->next[at];
    if (copies)
      n->k->copies[at] = 0;
    else
      host->move_before(n->k->module, at, end);
  }
  host->kill(n->k->module, end);
}

static void
set_flag(const nester *n, uint32_t before, bool value)
{
  const vyre_host *host = n->k->host;
  const uint32_t literal = host->constant(n->k->module, n->block, BOOL, value);
  (void)host->insert_row(n->k->module, before, VYRE_ROW(VYRE_OP_set, 0, 0), 0, 0, n->flag, literal, 0);
}

/* Returns whether the row sets the flag, for another guard. */
static bool
sets_flag(const nester *n, uint32_t row)
{
  return vyre_op_of(n->k->v, row) == VYRE_OP_set && n->k->v->a[row] == n->flag;
}

static void
make_flag(nester *n)
{
  const vyre_view *v = n->k->v;
  uint32_t row = v->first[vyre_program_of(v, n->block)];
  while (vyre_op_of(v, row) == VYRE_OP_workgroup || vyre_op_of(v, row) == VYRE_OP_spec || vyre_op_of(v, row) == VYRE_OP_const ||
         vyre_op_of(v, row) == VYRE_OP_var || vyre_op_of(v, row) == VYRE_OP_buffer)
    row = v->next[row];
  n->flag = n->k->host->insert_row(n->k->module, row, VYRE_ROW(VYRE_OP_var, BOOL, 0), 0, 0, 0, 0, 0);
}

/* Puts the rows after the construct into an `if`, which a leave in the construct skips.  Returns their region. */
static uint32_t
guard_rest(nester *n, uint32_t construct)
{
  const vyre_view *v = n->k->v;
  const vyre_host *host = n->k->host;
  if (n->flag == 0)
    make_flag(n);
  set_flag(n, construct, false);
  for (uint32_t jump = n->k->jumps[n->block]; jump; jump = n->k->link[jump])
    if (vyre_op_of(v, jump) == VYRE_OP_leave && is_inside(n, jump, construct) && !sets_flag(n, v->prev[jump]))
      set_flag(n, jump, true);
  const uint32_t next = v->next[construct];
  const uint32_t left = host->insert_row(n->k->module, next, VYRE_ROW(VYRE_OP_get, BOOL, 0), 0, 0, n->flag, 0, 0);
  const uint32_t test = host->insert_row(n->k->module, next, VYRE_ROW(VYRE_OP_if, 0, 0), 0, 0, left, 0, 0);
  n->k->out_of_memory |= n->flag == 0 || left == 0 || test == 0;
  if (n->k->out_of_memory)
    return 0;
  take_rest(n, test, v->last[test], false);
  return v->last[test];
}

/* Moves, copies and guards rows, so that the leaves in the region end it. */
static void
nest(nester *n, uint32_t region)
{
  const vyre_view *v = n->k->v;
  uint32_t row = v->first[region], guarded_region = 0;
  while (row && (!has_leave(n, row) || vyre_op_of(v, row) == VYRE_OP_leave))
    row = v->next[row];
  if (row == 0 || n->k->out_of_memory)
    return;
  const bool has_rest = cleaner_next_placed(v, v->next[row]) != 0;
  const uint32_t then = v->first[row], otherwise = v->last[row];
  const bool then_goes_on = cleaner_completes(n->k, then), otherwise_goes_on = cleaner_completes(n->k, otherwise);
  if (has_rest && then_goes_on && otherwise_goes_on && !may_copy(v, v->next[row])) {
    guarded_region = guard_rest(n, row);
  } else if (has_rest && (then_goes_on || otherwise_goes_on)) {
    if (then_goes_on && otherwise_goes_on)
      take_rest(n, row, then, true);
    take_rest(n, row, otherwise_goes_on ? otherwise : then, false);
  }
  nest(n, then);
  nest(n, otherwise);
  if (guarded_region == 0)
    return;
  for (uint32_t jump = n->k->jumps[n->block]; jump; jump = n->k->link[jump])
    if (vyre_op_of(v, jump) == VYRE_OP_leave && is_inside(n, jump, row))
      cleaner_drop_jump(n->k, jump, row);
  /* Control that left the block now continues after the guard, so the enclosing constructs complete. */
  for (uint32_t at = v->parent[row]; at != n->block; at = v->parent[at])
    if (at < n->k->rows)
      n->k->completes[at] = 1;
  nest(n, guarded_region);
}

bool
cleaner_make_room(cleaner *k, uint32_t more)
{
  const uint32_t rows = k->v->rows + more, before = k->room;
  if (rows <= before || k->out_of_memory)
    return !k->out_of_memory;
  const uint32_t *const leaving = k->leaving;
  k->room = 2 * rows;
  k->leaving = k->host->alloc(k->ctx, k->room * sizeof *k->leaving);
  k->copies = k->host->alloc(k->ctx, k->room * sizeof *k->copies);
  k->out_of_memory |= !k->leaving || !k->copies;
  for (uint32_t row = 0; row < before && !k->out_of_memory; row++)
    k->leaving[row] = leaving[row];
  return !k->out_of_memory;
}

void
cleaner_nest(cleaner *k, uint32_t block)
{
  nester n = {.k = k, .block = block, .ifs = MOST_IFS};
  if (!cleaner_has_jump(k, block, VYRE_OP_leave) || !cleaner_make_room(k, MOST_NEW))
    return;
  mark_leaves(&n);
  if (!may_nest(&n, k->v->first[block]))
    return;
  nest(&n, k->v->first[block]);
}
