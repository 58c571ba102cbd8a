/* Versions of subgroup rows: which rows see the same lanes active.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

static vyre_row
ballot(scene *k, vyre_row seen)
{
  return expect(k, op3(&k->x, VYRE_OP_subgroup_ballot, VYRE_TYPE(VYRE_U32, 4), k->x.cond, NONE, NONE), seen);
}

/* if c { JUMP }; the if. */
static vyre_row
jump_if(scene *k, vyre_opcode jump, vyre_row target)
{
  vyre_row test = vyre_build_if(&k->x.b, k->x.cond);
  vyre_build_jump(&k->x.b, jump, target);
  leave(k, test);
  return test;
}

/* Lanes that took either arm meet after it; neither arm has those from before it. */
TEST(lanes_meet_behind_arms)
{
  scene k;
  vyre_row test;
  (void)state;
  start(&k);
  ballot(&k, k.x.program);
  test = vyre_build_if(&k.x.b, k.x.cond);
  ballot(&k, region(&k, test, 0));
  set(&k, k.s);
  ballot(&k, region(&k, test, 0)); /* writes of memory are nothing to lanes */
  into(&k, region(&k, test, 1));
  ballot(&k, region(&k, test, 1));
  leave(&k, test);
  ballot(&k, k.x.program);
  get(&k, k.s, test);
  vyre_build_barrier(&k.x.b, WORKGROUP_BARRIER);
  ballot(&k, k.x.program);
  finish(&k);
}

/* if c { if d { return } a } b */
TEST(a_return_joins_behind_all_that_it_leaves)
{
  scene k;
  vyre_row outer, inner;
  (void)state;
  start(&k);
  ballot(&k, k.x.program);
  outer = vyre_build_if(&k.x.b, k.x.cond);
  inner = jump_if(&k, VYRE_OP_return, NONE);
  ballot(&k, inner);
  leave(&k, outer);
  ballot(&k, outer);
  load(&k, k.x.out, k.x.out);
  inner = jump_if(&k, VYRE_OP_trap, NONE);
  ballot(&k, inner);
  finish(&k);
}

/* for { a; if c { if d { continue } b } e; if f { break } g } h */
TEST(loops_change_lanes_at_head_and_exit)
{
  scene k;
  vyre_row loop, outer, inner;
  (void)state;
  start(&k);
  loop = build_for(&k);
  ballot(&k, region(&k, loop, 0));
  outer = vyre_build_if(&k.x.b, k.x.cond);
  inner = jump_if(&k, VYRE_OP_continue, NONE);
  ballot(&k, inner);
  leave(&k, outer);
  ballot(&k, outer);
  inner = jump_if(&k, VYRE_OP_break, NONE);
  ballot(&k, inner);
  leave(&k, loop);
  ballot(&k, loop);
  loop = build_for(&k); /* one without jumps: its exit counts all the same */
  ballot(&k, region(&k, loop, 0));
  leave(&k, loop);
  ballot(&k, loop);
  finish(&k);
}

/* loop { if c { break } a } continuing { b breakif d }; a jump of an inner loop is nothing to a construct around that. */
TEST(a_continuing_region_has_its_own_lanes)
{
  scene k;
  vyre_row loop, test, outer;
  (void)state;
  start(&k);
  outer = vyre_build_if(&k.x.b, k.x.cond);
  loop = vyre_build_loop(&k.x.b);
  ballot(&k, region(&k, loop, 0));
  test = jump_if(&k, VYRE_OP_break, NONE);
  ballot(&k, test);
  into(&k, region(&k, loop, 1));
  ballot(&k, region(&k, loop, 1));
  vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  ballot(&k, loop);
  leave(&k, outer);
  ballot(&k, k.x.program);
  finish(&k);
}

/* if a { loop { if c { if d { return } if e { break } } } } b: of two jumps the one that leads further out counts. */
TEST(the_jump_that_leads_furthest_counts)
{
  scene k;
  vyre_row loop, test, outer;
  (void)state;
  start(&k);
  ballot(&k, k.x.program);
  outer = vyre_build_if(&k.x.b, k.x.cond);
  loop = vyre_build_loop(&k.x.b);
  test = vyre_build_if(&k.x.b, k.x.cond);
  jump_if(&k, VYRE_OP_return, NONE);
  jump_if(&k, VYRE_OP_break, NONE);
  leave(&k, test);
  into(&k, region(&k, loop, 1));
  vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  ballot(&k, loop);
  leave(&k, outer);
  ballot(&k, outer);
  finish(&k);
}

/* block { block { if c { leave inner } a; if d { leave outer } b } e } f */
TEST(who_left_a_block_is_back_behind_it)
{
  scene k;
  vyre_row outer, inner, test;
  (void)state;
  start(&k);
  outer = vyre_build_block(&k.x.b);
  inner = vyre_build_block(&k.x.b);
  ballot(&k, region(&k, inner, 0));
  test = jump_if(&k, VYRE_OP_leave, inner);
  ballot(&k, test);
  leave(&k, inner);
  ballot(&k, region(&k, outer, 0)); /* no lane left further than this */
  inner = vyre_build_block(&k.x.b);
  test = jump_if(&k, VYRE_OP_leave, outer);
  ballot(&k, test);
  leave(&k, inner);
  ballot(&k, inner);
  leave(&k, outer);
  ballot(&k, k.x.program);
  finish(&k);
}

/* A case has its own lanes, fallen into or not; a lane that falls through or leaves the switch is back after it. */
TEST(cases_have_their_own_lanes)
{
  scene k;
  vyre_row loop, choice, first, second, third, test;
  (void)state;
  start(&k);
  loop = build_for(&k);
  choice = vyre_build_switch(&k.x.b, k.x.u);
  first = vyre_build_case(&k.x.b, choice, literal(&k.x, U32, 1), false);
  second = vyre_build_case(&k.x.b, choice, literal(&k.x, U32, 2), false);
  third = vyre_build_case(&k.x.b, choice, NONE, true);
  into(&k, first);
  ballot(&k, first);
  vyre_build_jump(&k.x.b, VYRE_OP_fallthrough, NONE);
  into(&k, second);
  ballot(&k, second);
  test = jump_if(&k, VYRE_OP_leave, choice);
  ballot(&k, test);
  into(&k, third);
  ballot(&k, third);
  leave(&k, choice);
  ballot(&k, region(&k, loop, 0));
  choice = vyre_build_switch(&k.x.b, k.x.u);
  first = vyre_build_case(&k.x.b, choice, NONE, true);
  into(&k, first);
  vyre_build_jump(&k.x.b, VYRE_OP_continue, NONE); /* of the loop around */
  leave(&k, choice);
  ballot(&k, choice);
  finish(&k);
}

/* What reads no lanes has no such version, whatever it is called. */
TEST(pure_subgroup_rows_have_no_version)
{
  scene k;
  vyre_row size, count;
  (void)state;
  start(&k);
  size = op0(&k.x, VYRE_OP_subgroup_size, U32);
  count = op3(&k.x, VYRE_OP_subgroup_ballot_count, U32, ballot(&k, k.x.program), NONE, NONE);
  expect(&k, count, NONE);
  expect(&k, size, NONE);
  finish(&k);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_meet_behind_arms),
      cmocka_unit_test(a_return_joins_behind_all_that_it_leaves),
      cmocka_unit_test(loops_change_lanes_at_head_and_exit),
      cmocka_unit_test(a_continuing_region_has_its_own_lanes),
      cmocka_unit_test(the_jump_that_leads_furthest_counts),
      cmocka_unit_test(who_left_a_block_is_back_behind_it),
      cmocka_unit_test(cases_have_their_own_lanes),
      cmocka_unit_test(pure_subgroup_rows_have_no_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
