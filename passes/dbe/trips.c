/* Removes each `for` with trip count 0, and replaces each `for` and `loop` with trip count 1 by its body.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"
#include "known.h"

/* Maps the bits of a literal to an unsigned number, so that unsigned order is the order of the row's kind. */
static uint64_t
ordered(const vyre_view *v, uint32_t row, uint64_t bits)
{
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]));
  const uint32_t width = vyre_kind_bits(kind);
  const uint64_t sign = vyre_kind_is_signed(kind) ? UINT64_C(1) << (width - 1) : 0;
  return (bits & UINT64_MAX >> (64 - width)) ^ sign;
}

/* Returns whether the bounds are literals and the second index is not less than the end. */
static bool
is_one_trip(const vyre_view *v, uint32_t row)
{
  const uint32_t from = v->a[row], to = v->b[row], step = v->c[row];
  if (!vyre_loop_surely_runs(v, row) || !vyre_row_is_const(v, step))
    return false;
  return ordered(v, from, vyre_row_imm(v, from) + vyre_row_imm(v, step)) >= ordered(v, to, vyre_row_imm(v, to));
}

void
cleaner_for(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t body = v->first[row], from = v->a[row], to = v->b[row];
  const bool known = vyre_row_is_const(v, from) && vyre_row_is_const(v, to);
  cleaner_drop_redundant_jumps(k, row, VYRE_OP_continue);
  k->completes[row] = 1;
  if (from == to || cleaner_is_empty(v, body) || (known && !vyre_loop_surely_runs(v, row))) {
    cleaner_drop(k, row);
    return;
  }
  const bool one = is_one_trip(v, row) || (known && !cleaner_completes(k, body) && !cleaner_has_jump(k, row, VYRE_OP_continue));
  if (!one || !cleaner_allocate(k, &k->forward))
    return;
  k->forward[body] = from;
  cleaner_convert_to_block(k, row, body);
}

/* Returns whether there is a `set` from `first` to before `test`, which is not 0. */
static bool
has_sets(const vyre_view *v, uint32_t first, uint32_t test)
{
  while (first != test && vyre_op_of(v, first) != VYRE_OP_set)
    first = v->next[first];
  return first != test;
}

/* Copies the rows from `first` to before `test` to the end of the region. */
static void
repeat_sets(cleaner *k, uint32_t first, uint32_t test, uint32_t region)
{
  const vyre_view *v = k->v;
  uint32_t row, count = 1;
  for (row = first; row != test; row = v->next[row])
    count++;
  if (!cleaner_make_room(k, count))
    return;
  const uint32_t end = k->host->append_row(k->module, region, VYRE_ROW(VYRE_OP_return, 0, 0), 0, 0, 0, 0, 0);
  k->out_of_memory |= end == 0;
  if (end == 0)
    return;
  for (row = first; row != test; row = v->next[row])
    (void)k->host->clone(k->module, row, end, k->copies, k->room);
  for (row = first; row != test; row = v->next[row])
    k->copies[row] = 0;
  k->host->kill(k->module, end);
}

/* Replaces a loop with one iteration by its body, followed by its continuing region.  If `test` is not 0, a second iteration would
 * break at that `if`, so the sets before it follow. */
static void
replace_by_one_trip(cleaner *k, uint32_t row, uint32_t test)
{
  const vyre_view *v = k->v;
  const uint32_t body = v->first[row], continuing = v->last[row], behind = v->first[continuing];
  if (test && has_sets(v, v->first[body], test))
    repeat_sets(k, v->first[body], test, behind ? continuing : body);
  while (behind && v->first[body])
    k->host->move_before(k->module, v->first[body], behind);
  cleaner_convert_to_block(k, row, behind ? continuing : body);
}

void
cleaner_loop(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t body = v->first[row], continuing = v->last[row];
  cleaner_drop_redundant_jumps(k, row, VYRE_OP_continue);
  const bool continues = cleaner_has_jump(k, row, VYRE_OP_continue);
  uint32_t end = cleaner_ends_in(v, continuing, VYRE_OP_breakif) ? v->last[continuing] : 0;
  if (!continues && !cleaner_completes(k, body)) {
    cleaner_convert_to_block(k, row, body);
    return;
  }
  const bool alone = cleaner_next_placed(v, v->first[continuing]) == end; /* `end` is the region's only row with a position */
  bool one = end && vyre_row_is_const(v, v->a[end]) && v->imm[v->a[end]] != 0;
  const bool never = end && vyre_row_is_const(v, v->a[end]) && !one;
  const uint32_t test = one ? 0 : known_break(k->host, k->module, row, continues);
  /* Sets at the start of a second iteration do not run if a jump or the end of the first iteration leaves the loop. */
  one = one || (test && ((!continues && (!end || never)) || !has_sets(v, v->first[body], test)));
  if (end && (never || (one && (!continues || alone)))) {
    k->host->kill(k->module, end);
    k->jumps_removed++;
    end = 0;
  }
  if (one && (!continues || alone)) {
    replace_by_one_trip(k, row, test);
    return;
  }
  k->completes[row] = end || cleaner_has_jump(k, row, VYRE_OP_break);
  if (!k->completes[row])
    cleaner_drop_unreachable(k, row);
}
