/* The state graph: what each join is made of.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#define MAX_PARTS 6

/* What the parts of the join that a read sees should be: rows where states begin, and edges. */
typedef struct wanted {
  vyre_row read;
  struct {
    vyre_row version, edge;
  } parts[MAX_PARTS];
} wanted;

/* Seals, makes versions, and compares with what is wanted, of which the part with edge NONE is the end. */
static void
check(scene *k, const wanted *all, uint32_t count)
{
  uint32_t *map = calloc(k->x.v->rows, sizeof *map);
  vyre_verify_errors errors = {0};
  assert_null(vyre_verify(k->x.m, &errors));
  assert_null(vyre_module_seal(k->x.m, map));
  assert_null(vyre_module_make_analyses(k->x.m, VYRE_VERSIONS));
  for (uint32_t i = 0; i < count; i++) {
    const vyre_view *v = k->x.v;
    const vyre_join *join = vyre_join_of(v, v->version[map[all[i].read.id]]);
    uint32_t parts = 0;
    assert_non_null(join);
    for (; parts < MAX_PARTS && all[i].parts[parts].edge.id; parts++) {
      assert_true(parts < join->count);
      assert_int_equal(vyre_version_row(v, v->parts[join->first + parts].version), map[all[i].parts[parts].version.id]);
      assert_int_equal(v->parts[join->first + parts].edge, map[all[i].parts[parts].edge.id]);
    }
    assert_int_equal(join->count, parts);
  }
  vyre_verify_errors_free(&errors);
  free(map);
  fixture_close(&k->x);
}

/* s = 5; if c { s = 5 } get s */
TEST(an_if_has_a_part_an_arm)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row before = set(&k, k.s), test = vyre_build_if(&k.x.b, k.x.cond), then = set(&k, k.s);
  leave(&k, test);
  const vyre_row read = get(&k, k.s, NONE);
  check(&k, &(wanted){read, {{then, region(&k, test, 0)}, {before, region(&k, test, 1)}}}, 1);
}

/* if c { s = 5 } else { return } get s */
TEST(an_arm_that_ends_elsewhere_is_no_part)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row test = vyre_build_if(&k.x.b, k.x.cond), then = set(&k, k.s);
  into(&k, region(&k, test, 1));
  vyre_build_jump(&k.x.b, VYRE_OP_return, NONE);
  leave(&k, test);
  const vyre_row read = get(&k, k.s, NONE);
  check(&k, &(wanted){read, {{then, region(&k, test, 0)}}}, 1);
}

/* for { get s; if c { s = 5; continue } s = 5 } get s: the head, and what comes after the loop by its test. */
TEST(a_for_has_heads_and_an_end)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row loop = build_for(&k), body = region(&k, loop, 0), inside = get(&k, k.s, NONE);
  const vyre_row test = vyre_build_if(&k.x.b, k.x.cond), early = set(&k, k.s);
  const vyre_row jump = vyre_build_jump(&k.x.b, VYRE_OP_continue, NONE);
  leave(&k, test);
  const vyre_row late = set(&k, k.s);
  leave(&k, loop);
  const vyre_row after = get(&k, k.s, NONE);
  const wanted all[] = {{inside, {{k.s, loop}, {early, jump}, {late, body}}}, {after, {{body, loop}}}};
  check(&k, all, 2);
}

/* loop { s = 5; if c { break } s = 5 } continuing { get s; s = 5; breakif c } get s */
TEST(a_loop_has_two_heads)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row loop = vyre_build_loop(&k.x.b), body = region(&k, loop, 0), next = region(&k, loop, 1);
  const vyre_row head = get(&k, k.s, NONE), first = set(&k, k.s), test = vyre_build_if(&k.x.b, k.x.cond);
  const vyre_row jump = vyre_build_jump(&k.x.b, VYRE_OP_break, NONE);
  leave(&k, test);
  const vyre_row second = set(&k, k.s);
  into(&k, next);
  const vyre_row inside = get(&k, k.s, NONE), third = set(&k, k.s);
  const vyre_row until = vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  const vyre_row after = get(&k, k.s, NONE);
  const wanted all[] = {{head, {{k.s, loop}, {third, next}}}, {inside, {{second, body}}}, {after, {{first, jump}, {third, until}}}};
  check(&k, all, 3);
}

/* switch u { case 1: s = 5, falls; case 2: get s; case 3: nothing; case 4: s = 5 } get s: no default. */
TEST(a_switch_has_those_that_write_and_the_others)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row choice = vyre_build_switch(&k.x.b, k.x.u);
  vyre_row cases[4];
  for (uint32_t i = 0; i < 4; i++)
    cases[i] = vyre_build_case(&k.x.b, choice, literal(&k.x, U32, i + 1), false);
  into(&k, cases[0]);
  const vyre_row first = set(&k, k.s), falls = vyre_build_jump(&k.x.b, VYRE_OP_fallthrough, NONE);
  into(&k, cases[1]);
  const vyre_row inside = get(&k, k.s, NONE);
  into(&k, cases[3]);
  const vyre_row last = set(&k, k.s);
  leave(&k, choice);
  const vyre_row after = get(&k, k.s, NONE);
  const wanted all[] = {{inside, {{k.s, choice}, {first, falls}}},
                        {after, {{cases[1], cases[1]}, {last, cases[3]}, {k.s, choice}}}};
  check(&k, all, 2);
}

/* switch u { case 1: s = 5; case 2: s = 5 } get s; switch u { case 1: t = 5; default: t = 5 } get t: none of the cases is a way,
 * where there is no default. */
TEST(a_switch_without_default_has_a_way_around)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row choice = vyre_build_switch(&k.x.b, k.x.u);
  const vyre_row one = vyre_build_case(&k.x.b, choice, literal(&k.x, U32, 1), false), first = set(&k, k.s);
  leave(&k, choice);
  const vyre_row around = get(&k, k.s, NONE), other = vyre_build_switch(&k.x.b, k.x.u);
  const vyre_row two = vyre_build_case(&k.x.b, other, literal(&k.x, U32, 1), false), second = set(&k, k.t);
  const vyre_row rest = vyre_build_case(&k.x.b, other, literal(&k.x, U32, 2), true), third = set(&k, k.t);
  leave(&k, other);
  const vyre_row through = get(&k, k.t, NONE);
  const wanted all[] = {{around, {{first, one}, {k.s, choice}}}, {through, {{second, two}, {third, rest}}}};
  check(&k, all, 2);
}

/* loop { s = 5; if c { continue } s = 5 } continuing { get s } */
TEST(a_continue_leads_to_the_continuing_region)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row loop = vyre_build_loop(&k.x.b), body = region(&k, loop, 0), next = region(&k, loop, 1);
  const vyre_row first = set(&k, k.s), test = vyre_build_if(&k.x.b, k.x.cond);
  const vyre_row jump = vyre_build_jump(&k.x.b, VYRE_OP_continue, NONE);
  leave(&k, test);
  const vyre_row second = set(&k, k.s);
  into(&k, next);
  const vyre_row inside = get(&k, k.s, NONE);
  vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  check(&k, &(wanted){inside, {{first, jump}, {second, body}}}, 1);
}

/* if c { if c { s = 5 } } get s; if c { if c { s = 5 } s = 5 } get s: inner joins come before outer ones, though they are asked for
 * later. */
TEST(parts_come_before_their_joins)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row outer = vyre_build_if(&k.x.b, k.x.cond), inner = vyre_build_if(&k.x.b, k.x.cond);
  set(&k, k.s);
  leave(&k, inner);
  leave(&k, outer);
  vyre_build_get(&k.x.b, k.s);
  const vyre_row block = vyre_build_block(&k.x.b), middle = vyre_build_if(&k.x.b, k.x.cond),
                 innermost = vyre_build_if(&k.x.b, k.x.cond);
  set(&k, k.t);
  leave(&k, innermost);
  leave(&k, middle);
  leave(&k, block);
  vyre_build_get(&k.x.b, k.t);
  assert_null(vyre_module_seal(k.x.m, NULL));
  assert_null(vyre_module_make_analyses(k.x.m, VYRE_VERSIONS));
  const vyre_view *v = k.x.v;
  assert_int_equal(v->join_count, 1 + 5);
  for (uint32_t i = 1; i < v->join_count; i++)
    for (uint32_t part = 0; part < v->joins[i].count; part++) {
      const uint32_t version = v->parts[v->joins[i].first + part].version;
      assert_true((version & VYRE_JOIN) == 0 || (version & ~VYRE_JOIN) < i);
    }
  fixture_close(&k.x);
}

/* block { if c { s = 5; leave } if c { leave } s = 5 } get s */
TEST(a_block_has_an_edge_a_leave)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row block = vyre_build_block(&k.x.b), test = vyre_build_if(&k.x.b, k.x.cond), first = set(&k, k.s);
  const vyre_row jump = vyre_build_jump(&k.x.b, VYRE_OP_leave, block);
  leave(&k, test);
  const vyre_row other = vyre_build_if(&k.x.b, k.x.cond);
  vyre_build_jump(&k.x.b, VYRE_OP_leave, block);
  leave(&k, other);
  const vyre_row last = set(&k, k.s);
  leave(&k, block);
  const vyre_row after = get(&k, k.s, NONE);
  check(&k, &(wanted){after, {{first, jump}, {last, region(&k, block, 0)}, {k.s, block}}}, 1);
}

/* store out; if c { barrier } load out: the barrier counts in its arm, though it names no buffer. */
TEST(a_barrier_is_a_part_of_each_class)
{
  scene k;
  (void)state;
  start(&k);
  const vyre_row before = store(&k, k.x.out), test = vyre_build_if(&k.x.b, k.x.cond);
  const vyre_row barrier = vyre_build_barrier(&k.x.b, DEVICE_BARRIER);
  leave(&k, test);
  const vyre_row read = load(&k, k.x.out, NONE);
  check(&k, &(wanted){read, {{barrier, region(&k, test, 0)}, {before, region(&k, test, 1)}}}, 1);
}

/* Many cases that each write a var of their own: the join of each var has two parts, and is found without a look at all cases. */
TEST(a_switch_of_many_vars_has_few_parts)
{
  enum { CASES = 3000 };
  scene k;
  (void)state;
  start(&k);
  vyre_row *vars = calloc(CASES, sizeof *vars);
  for (uint32_t i = 0; i < CASES; i++)
    vars[i] = vyre_build_var(&k.x.b, F32);
  const vyre_row choice = vyre_build_switch(&k.x.b, k.x.u);
  for (uint32_t i = 0; i < CASES; i++) {
    into(&k, vyre_build_case(&k.x.b, choice, literal(&k.x, U32, i), false));
    set(&k, vars[i]);
  }
  leave(&k, choice);
  for (uint32_t i = 0; i < CASES; i++)
    vyre_build_get(&k.x.b, vars[i]);
  assert_null(vyre_module_seal(k.x.m, NULL));
  assert_null(vyre_module_make_analyses(k.x.m, VYRE_VERSIONS));
  assert_int_equal(k.x.v->join_count, 1 + CASES);
  assert_int_equal(k.x.v->part_count, 2 * CASES);
  free(vars);
  fixture_close(&k.x);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_if_has_a_part_an_arm),
      cmocka_unit_test(an_arm_that_ends_elsewhere_is_no_part),
      cmocka_unit_test(a_for_has_heads_and_an_end),
      cmocka_unit_test(a_loop_has_two_heads),
      cmocka_unit_test(a_switch_has_those_that_write_and_the_others),
      cmocka_unit_test(a_switch_without_default_has_a_way_around),
      cmocka_unit_test(a_continue_leads_to_the_continuing_region),
      cmocka_unit_test(parts_come_before_their_joins),
      cmocka_unit_test(a_block_has_an_edge_a_leave),
      cmocka_unit_test(a_barrier_is_a_part_of_each_class),
      cmocka_unit_test(a_switch_of_many_vars_has_few_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
