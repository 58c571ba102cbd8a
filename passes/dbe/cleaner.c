/* Edits of rows, jumps and regions that remove control flow.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"
#include "known.h"

static uint32_t
construct_around(const vyre_view *v, uint32_t row)
{
  return v->parent[v->parent[row]];
}

bool
cleaner_ends_in(const vyre_view *v, uint32_t region, uint32_t op)
{
  return v->last[region] && vyre_op_of(v, v->last[region]) == op;
}

bool
cleaner_allocate(cleaner *k, uint32_t **column)
{
  if (!*column)
    *column = k->host->alloc(k->ctx, k->rows * sizeof(uint32_t));
  k->out_of_memory |= *column == NULL;
  return *column != NULL;
}

/* ---- control flow -------------------------------------------------------------------------------------------------------- */

bool
cleaner_completes(const cleaner *k, uint32_t region)
{
  uint32_t last = k->v->last[region];
  while (last && !cleaner_has_place(k->v, last))
    last = k->v->prev[last];
  const uint32_t flags = vyre_op_flags_of(k->v, last);
  if (last == 0 || vyre_op_of(k->v, last) == VYRE_OP_breakif)
    return true;
  if (flags & VYRE_OP_REGIONS)
    return last >= k->rows || k->completes[last]; /* cleaner_nest makes an `if` with an empty arm */
  return (flags & VYRE_OP_ENDS) == 0;
}

bool
cleaner_has_jump(const cleaner *k, uint32_t construct, uint32_t op)
{
  for (uint32_t jump = k->jumps[construct]; jump; jump = k->link[jump])
    if (vyre_op_of(k->v, jump) == op)
      return true;
  return false;
}

void
cleaner_drop_unreachable(cleaner *k, uint32_t row)
{
  while (k->v->next[row]) {
    k->host->kill(k->module, k->v->next[row]);
    k->unreachable++;
  }
}

void
cleaner_drop(cleaner *k, uint32_t row)
{
  k->host->kill(k->module, row);
  k->constructs++;
}

void
cleaner_replace_by_region(cleaner *k, uint32_t construct, uint32_t region)
{
  if (!cleaner_completes(k, region))
    cleaner_drop_unreachable(k, construct);
  while (k->v->first[region])
    k->host->move_before(k->module, k->v->first[region], construct);
  cleaner_drop(k, construct);
}

void
cleaner_find_operand(cleaner *k, uint32_t row)
{
  const uint32_t value = k->v->a[row], op = vyre_op_of(k->v, value);
  const bool may_be_known = op == VYRE_OP_get || op == VYRE_OP_not || op == VYRE_OP_and || op == VYRE_OP_or; /* others seldom are */
  uint64_t bits;
  if (!may_be_known || !known_value(k->host, k->module, value, &bits))
    return;
  const uint32_t literal = k->host->constant(k->module, row, VYRE_ROW_TYPE(k->v->op[value]), bits);
  k->out_of_memory |= literal == 0;
  if (literal)
    k->host->set_operand(k->module, row, 0, literal);
}

/* ---- redundant jumps ----------------------------------------------------------------------------------------------------- */

/* Returns whether control that runs off the end of the jump's region reaches the jump's target. */
static bool
is_redundant(const vyre_view *v, uint32_t jump, uint32_t construct)
{
  uint32_t row = jump;
  while (construct_around(v, row) != construct) {
    row = construct_around(v, row);
    if (cleaner_next_placed(v, v->next[row]) || vyre_row_is_loop(v, row))
      return false;
  }
  return true;
}

void
cleaner_drop_jump(cleaner *k, uint32_t jump, uint32_t construct)
{
  const vyre_view *v = k->v;
  uint32_t row = construct_around(v, jump);
  k->host->kill(k->module, jump);
  k->jumps_removed++;
  while (row != construct) {
    const uint32_t out = construct_around(v, row);
    if (row < k->rows)
      k->completes[row] = 1;
    if (vyre_op_of(v, row) == VYRE_OP_if && cleaner_is_empty(v, v->first[row]) && cleaner_is_empty(v, v->last[row]))
      cleaner_drop(k, row);
    row = out;
  }
}

void
cleaner_drop_redundant_jumps(cleaner *k, uint32_t construct, uint32_t op)
{
  for (uint32_t jump = k->jumps[construct]; jump; jump = k->link[jump])
    if (vyre_op_of(k->v, jump) == op && is_redundant(k->v, jump, construct))
      cleaner_drop_jump(k, jump, construct);
}

/* ---- blocks -------------------------------------------------------------------------------------------------------------- */

void
cleaner_block(cleaner *k, uint32_t block)
{
  const uint32_t region = k->v->first[block];
  cleaner_nest(k, block);
  cleaner_drop_redundant_jumps(k, block, VYRE_OP_leave);
  if (!cleaner_has_jump(k, block, VYRE_OP_leave))
    cleaner_replace_by_region(k, block, region);
  else
    k->completes[block] = 1;
}

void
cleaner_convert_to_block(cleaner *k, uint32_t row, uint32_t region)
{
  const vyre_view *v = k->v;
  const vyre_host *host = k->host;
  while (v->first[row] != region)
    host->kill(k->module, v->first[row]);
  while (v->last[row] != region)
    host->kill(k->module, v->last[row]);
  for (uint32_t jump = k->jumps[row]; jump; jump = k->link[jump])
    if (vyre_op_of(v, jump) != VYRE_OP_null)
      host->rewrite(k->module, jump, VYRE_ROW(VYRE_OP_leave, 0, 0), 0, 0, row, 0, 0);
  host->rewrite(k->module, region, VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_BLOCK, 0, 0, 0, 0);
  host->rewrite(k->module, row, VYRE_ROW(VYRE_OP_block, 0, 0), 0, 0, 0, 0, 0);
  k->constructs++;
  cleaner_block(k, row);
}
