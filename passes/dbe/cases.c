/* dbe of `switch`: known selectors, empty cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"

static bool
has_label(const vyre_view *v, uint32_t branch, uint32_t value)
{
  vyre_labels labels = vyre_labels_of(v, branch);
  uint32_t label;
  while ((label = vyre_next_label(v, &labels)) != 0 && vyre_row_imm(v, label) != vyre_row_imm(v, value))
    ;
  return label != 0;
}

/* Returns the case that the literal selector selects, or 0 if there is none. */
static uint32_t
known_case(const vyre_view *v, uint32_t row)
{
  uint32_t fallback = 0;
  for (uint32_t branch = v->first[row]; branch; branch = v->next[branch]) {
    if (has_label(v, branch, v->a[row]))
      return branch;
    if (v->imm[branch] & VYRE_CASE_DEFAULT)
      fallback = branch;
  }
  return fallback;
}

/* Replaces the switch by one case, followed by the cases that it falls into. */
static void
replace_by_case(cleaner *k, uint32_t row, uint32_t branch)
{
  const vyre_view *v = k->v;
  const uint32_t fall = cleaner_ends_in(v, branch, VYRE_OP_fallthrough) ? v->last[branch] : 0;
  bool falls = fall != 0;
  for (uint32_t other = v->next[branch]; falls; other = v->next[other]) {
    falls = cleaner_ends_in(v, other, VYRE_OP_fallthrough);
    while (v->first[other] && vyre_op_of(v, v->first[other]) != VYRE_OP_fallthrough)
      k->host->move_before(k->module, v->first[other], fall);
  }
  if (fall)
    k->host->kill(k->module, fall);
  cleaner_convert_to_block(k, row, branch);
}

/* Drops cases without rows that no case falls into: all of them, or the default only. */
static void
drop_empty_cases(cleaner *k, uint32_t row, bool all)
{
  const vyre_view *v = k->v;
  for (uint32_t branch = v->first[row], next; branch; branch = next) {
    next = v->next[branch];
    if (cleaner_is_empty(v, branch) && !cleaner_ends_in(v, v->prev[branch], VYRE_OP_fallthrough) &&
        (all || (v->imm[branch] & VYRE_CASE_DEFAULT)))
      cleaner_drop(k, branch);
  }
}

static bool
has_default(const vyre_view *v, uint32_t row)
{
  for (uint32_t branch = v->first[row]; branch; branch = v->next[branch])
    if (v->imm[branch] & VYRE_CASE_DEFAULT)
      return true;
  return false;
}

static bool
switch_completes(const cleaner *k, uint32_t row)
{
  bool completes = cleaner_has_jump(k, row, VYRE_OP_leave) || !has_default(k->v, row);
  for (uint32_t branch = k->v->first[row]; branch && !completes; branch = k->v->next[branch])
    completes = cleaner_completes(k, branch);
  return completes;
}

void
cleaner_switch(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  cleaner_find_operand(k, row);
  const uint32_t only = v->first[row];
  const bool always = only && !v->next[only] && (v->imm[only] & VYRE_CASE_DEFAULT);
  if (always || vyre_row_is_const(v, v->a[row])) {
    const uint32_t branch = always ? only : known_case(v, row);
    if (branch)
      replace_by_case(k, row, branch);
    else
      cleaner_drop(k, row);
    return;
  }
  cleaner_drop_redundant_jumps(k, row, VYRE_OP_leave);
  drop_empty_cases(k, row, false);
  if (!has_default(v, row)) /* a selector without a match runs nothing */
    drop_empty_cases(k, row, true);
  k->completes[row] = switch_completes(k, row);
  if (!v->first[row])
    cleaner_drop(k, row);
  else if (!k->completes[row])
    cleaner_drop_unreachable(k, row);
}
