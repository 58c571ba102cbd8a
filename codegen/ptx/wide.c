/* Control flow of a subgroup's lanes together, around rows at which they reconverge.
 *
 * All lanes that enter a wide construct reach its end.  A lane that jumps beyond the end stores its target in `where`.  It
 * branches to the end of its construct, then to the end of the enclosing one, and so on up to the target.  At each end all
 * lanes vote on which of them are active there, and the vote is the mask from there on.  So exactly the lanes of the previous
 * mask compute the next mask, and no vote waits for a lane that left.  A lane that returns exits at once: votes do not wait
 * for exited lanes.  The others may wait at a barrier of the workgroup inside an outer construct.
 *
 *     where   0 if the lane is active here; otherwise the target: the end or the next iteration of a construct
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define NO_CASE 0xffffffffu

static uint32_t
left(const gen *g, uint32_t row)
{
  return 2 * (row - g->program) + 2;
}

static uint32_t
again(const gen *g, uint32_t row)
{
  return left(g, row) + 1;
}

static reg
vote(gen *g, reg p, reg among)
{
  return MAKE32(g, "vote.sync.ballot.b32", p, among);
}

static reg
is_here(gen *g)
{
  return PRED(g, "setp.eq.u32", g->where, lit(0));
}

/* Makes the lanes active whose target is here. */
static void
arrive(gen *g, uint32_t code)
{
  const reg arrived = PRED(g, "setp.eq.u32", g->where, lit(code));
  pgen_when(g, arrived, false);
  CODE(g, "mov.u32", g->where, lit(0));
}

/* Writes the end of a construct, which the lanes of `among` entered. */
static void
meet(gen *g, uint32_t row, uint32_t label, reg among, uint32_t outer)
{
  pgen_label(g, label);
  g->join = outer;
  g->mask = among;
  if (op_of(g, row) != VYRE_OP_if)
    arrive(g, left(g, row));
  if (!g->leaks[row - g->program])
    return;
  const reg here = is_here(g);
  g->mask = vote(g, here, among);
  pgen_branch_unless(g, here, outer);
}

static void
write_region(gen *g, uint32_t region, reg mask, uint32_t join)
{
  g->mask = mask;
  g->join = join;
  pgen_region(g, region);
}

/* ---- constructs ------------------------------------------------------------------------------------------------------------- */

static void
put_if(gen *g, uint32_t row, uint32_t end, reg among)
{
  const uint32_t yes = vyre_region_with(g->v, row, VYRE_THEN), no = vyre_region_with(g->v, row, VYRE_ELSE);
  const uint32_t other = no ? pgen_new_label(g) : end;
  const reg condition = pgen_value(g, g->v->a[row], 0), taken = vote(g, condition, among);
  pgen_branch_unless(g, condition, other);
  write_region(g, yes, taken, end);
  if (!no)
    return;
  pgen_branch(g, end);
  pgen_label(g, other);
  write_region(g, no, MAKE32(g, "xor.b32", among, taken), end);
}

static void
put_for(gen *g, uint32_t row, uint32_t end, reg among)
{
  const uint32_t head = pgen_new_label(g), next = pgen_new_label(g);
  const reg turn = pgen_copy(g, REG_32, among); /* lanes that begin this iteration, or end the loop before it */
  pgen_for_begin(g, row);
  pgen_label(g, head);
  const reg goes = pgen_for_test(g, row), inside = vote(g, goes, turn);
  pgen_branch_unless(g, goes, end);
  write_region(g, pgen_body_of(g, row), inside, next);
  pgen_label(g, next);
  arrive(g, again(g, row));
  const reg here = is_here(g);
  pgen_move(g, turn, vote(g, here, inside));
  pgen_branch_unless(g, here, end);
  pgen_for_step(g, row);
  pgen_branch(g, head);
}

static void
put_loop(gen *g, uint32_t row, uint32_t end, reg among)
{
  const uint32_t head = pgen_new_label(g), next = pgen_new_label(g), continuing = vyre_region_with(g->v, row, VYRE_CONTINUING);
  const reg turn = pgen_copy(g, REG_32, among), outer = g->stays;
  pgen_label(g, head);
  write_region(g, vyre_region_with(g->v, row, VYRE_BODY), turn, next);
  pgen_label(g, next);
  arrive(g, again(g, row));
  const reg here = is_here(g), goes = vote(g, here, turn);
  pgen_branch_unless(g, here, end);
  g->stays = (reg){0};
  if (continuing)
    write_region(g, continuing, goes, end);
  if (g->stays.klass) {
    pgen_move(g, turn, vote(g, g->stays, goes));
    pgen_branch_if(g, g->stays, head);
  } else {
    pgen_move(g, turn, goes);
    pgen_branch(g, head);
  }
  g->stays = outer;
}

/* Writes the cases of a switch in order, each behind a branch over it that the lanes of other cases take. */
static void
put_switch(gen *g, uint32_t row, reg among)
{
  const reg outer = g->next_case, which = pgen_copy(g, REG_32, lit(NO_CASE));
  const uint32_t outer_case = g->at_case;
  uint32_t k = 0;
  for (uint32_t region = g->v->first[row]; region; region = g->v->next[region], k++)
    if (g->v->imm[region] & VYRE_CASE_DEFAULT)
      pgen_move(g, which, lit(k));
  k = 0;
  for (uint32_t region = g->v->first[row]; region; region = g->v->next[region], k++) {
    const reg same = pgen_case_test(g, row, region);
    if (!same.klass)
      continue;
    pgen_when(g, same, false);
    pgen_move(g, which, lit(k));
  }
  k = 0;
  for (uint32_t region = g->v->first[row]; region && !g->w.status; region = g->v->next[region], k++) {
    const uint32_t after = pgen_new_label(g);
    const reg mine = PRED(g, "setp.eq.u32", which, lit(k)), inside = vote(g, mine, among);
    pgen_branch_unless(g, mine, after);
    g->next_case = which;
    g->at_case = k;
    write_region(g, region, inside, after);
    pgen_label(g, after);
  }
  g->next_case = outer;
  g->at_case = outer_case;
}

void
pgen_wide_construct(gen *g, uint32_t row)
{
  const uint32_t end = pgen_new_label(g), outer = g->join;
  const reg among = g->mask;
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_if:
    put_if(g, row, end, among);
    break;
  case VYRE_OP_for:
    put_for(g, row, end, among);
    break;
  case VYRE_OP_loop:
    put_loop(g, row, end, among);
    break;
  case VYRE_OP_switch:
    put_switch(g, row, among);
    break;
  default:
    write_region(g, vyre_region_with(g->v, row, VYRE_BLOCK), among, end);
    break;
  }
  meet(g, row, end, among, outer);
}

void
pgen_wide_jump(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t target = vyre_jump_target(g->v, row);
  if (op == VYRE_OP_breakif) { /* the loop itself votes */
    g->stays = pgen_not(g, pgen_value(g, g->v->a[row], 0));
    return;
  }
  if (op == VYRE_OP_fallthrough)
    pgen_move(g, g->next_case, lit(g->at_case + 1));
  else
    pgen_move(g, g->where, lit(op == VYRE_OP_continue ? again(g, target) : left(g, target)));
  pgen_branch(g, g->join);
}
