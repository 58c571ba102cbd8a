/* Versions: which state each read sees, in the programs where a careless analysis goes wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

TEST(straight_code_sees_the_last_write)
{
  scene k;
  vyre_row w;
  (void)state;
  start(&k);
  get(&k, k.s, k.s);
  w = set(&k, k.s);
  get(&k, k.s, w);
  get(&k, k.t, k.t); /* another var */
  load(&k, k.x.in, k.x.in);
  w = store(&k, k.x.out);
  load(&k, k.x.out, w);
  load(&k, k.x.in, k.x.in);
  finish(&k);
}

/* for { t = get s; if c { set s; break } set s } u = get s */
TEST(a_break_joins_behind_the_loop)
{
  scene k;
  vyre_row loop, test;
  (void)state;
  start(&k);
  loop = build_for(&k);
  get(&k, k.s, region(&k, loop, 0));
  test = vyre_build_if(&k.x.b, k.x.cond);
  set(&k, k.s);
  vyre_build_jump(&k.x.b, VYRE_OP_break, NONE);
  leave(&k, test);
  get(&k, k.s, region(&k, loop, 0)); /* the write has left */
  set(&k, k.s);
  leave(&k, loop);
  get(&k, k.s, loop);
  get(&k, k.t, k.t);
  finish(&k);
}

TEST(a_loop_that_writes_nothing_keeps_versions)
{
  scene k;
  vyre_row loop, w;
  (void)state;
  start(&k);
  w = set(&k, k.s);
  loop = build_for(&k);
  get(&k, k.s, w);
  set(&k, k.t);
  leave(&k, loop);
  get(&k, k.s, w);
  get(&k, k.t, loop);
  finish(&k);
}

/* case 1: set s (falls) case 2: get s; the first case, and one that is not fallen into, see the state before. */
TEST(a_case_that_is_fallen_into_is_a_head)
{
  scene k;
  vyre_row choice, first, second, third, w;
  (void)state;
  start(&k);
  w = set(&k, k.s);
  choice = vyre_build_switch(&k.x.b, k.x.u);
  first = vyre_build_case(&k.x.b, choice, literal(&k.x, U32, 1), false);
  second = vyre_build_case(&k.x.b, choice, literal(&k.x, U32, 2), false);
  third = vyre_build_case(&k.x.b, choice, NONE, true);
  into(&k, first);
  get(&k, k.s, w);
  set(&k, k.s);
  vyre_build_jump(&k.x.b, VYRE_OP_fallthrough, NONE);
  into(&k, second);
  get(&k, k.s, second);
  get(&k, k.t, k.t);
  into(&k, third);
  get(&k, k.s, w);
  leave(&k, choice);
  get(&k, k.s, choice);
  finish(&k);
}

/* loop { set s; if c { set s; continue } set s } continuing { t = get s } */
TEST(a_continuing_region_is_a_head)
{
  scene k;
  vyre_row loop, test, w, body, continuing;
  (void)state;
  start(&k);
  loop = vyre_build_loop(&k.x.b);
  body = region(&k, loop, 0);
  continuing = region(&k, loop, 1);
  get(&k, k.s, body);
  w = set(&k, k.s);
  get(&k, k.s, w);
  test = vyre_build_if(&k.x.b, k.x.cond);
  set(&k, k.s);
  vyre_build_jump(&k.x.b, VYRE_OP_continue, NONE);
  leave(&k, test);
  set(&k, k.s);
  into(&k, continuing);
  get(&k, k.s, continuing);
  get(&k, k.t, k.t);
  vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  get(&k, k.s, loop);
  finish(&k);
}

/* What only the continuing region writes is new at the head of the body too. */
TEST(continuing_writes_reach_the_body)
{
  scene k;
  vyre_row loop;
  (void)state;
  start(&k);
  loop = vyre_build_loop(&k.x.b);
  get(&k, k.s, region(&k, loop, 0));
  into(&k, region(&k, loop, 1));
  get(&k, k.s, region(&k, loop, 1));
  set(&k, k.s);
  vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  get(&k, k.s, loop);
  finish(&k);
}

TEST(arms_start_from_the_state_before)
{
  scene k;
  vyre_row test, before, w;
  (void)state;
  start(&k);
  before = store(&k, k.x.out);
  test = vyre_build_if(&k.x.b, k.x.cond);
  load(&k, k.x.out, before);
  w = store(&k, k.x.out);
  load(&k, k.x.out, w);
  into(&k, region(&k, test, 1));
  load(&k, k.x.out, before);
  load(&k, k.x.in, k.x.in);
  leave(&k, test);
  load(&k, k.x.out, test);
  load(&k, k.x.in, k.x.in);
  finish(&k);
}

TEST(an_if_that_writes_nothing_is_no_join)
{
  scene k;
  vyre_row test;
  (void)state;
  start(&k);
  load(&k, k.x.in, k.x.in);
  test = vyre_build_if(&k.x.b, k.x.cond);
  store(&k, k.x.out);
  leave(&k, test);
  load(&k, k.x.in, k.x.in);
  load(&k, k.x.out, test);
  finish(&k);
}

TEST(a_block_left_early_is_a_join)
{
  scene k;
  vyre_row block, test;
  (void)state;
  start(&k);
  block = vyre_build_block(&k.x.b);
  test = vyre_build_if(&k.x.b, k.x.cond);
  set(&k, k.s);
  vyre_build_jump(&k.x.b, VYRE_OP_leave, block);
  leave(&k, test);
  get(&k, k.s, k.s); /* the write has left */
  set(&k, k.s);
  leave(&k, block);
  get(&k, k.s, block);
  finish(&k);
}

/* Nested loops: the inner head for what the inner loop writes, else the outer one's. */
TEST(nested_heads)
{
  scene k;
  vyre_row outer, inner, w;
  (void)state;
  start(&k);
  outer = build_for(&k);
  get(&k, k.s, region(&k, outer, 0));
  get(&k, k.t, region(&k, outer, 0));
  inner = build_for(&k);
  get(&k, k.s, region(&k, outer, 0));
  get(&k, k.t, region(&k, inner, 0));
  set(&k, k.t);
  leave(&k, inner);
  get(&k, k.t, inner);
  w = set(&k, k.s);
  get(&k, k.s, w);
  leave(&k, outer);
  get(&k, k.s, outer);
  get(&k, k.t, outer);
  finish(&k);
}

/* A second loop over the same var: only its own writes count. */
TEST(loops_one_after_another)
{
  scene k;
  vyre_row first, second;
  (void)state;
  start(&k);
  first = build_for(&k);
  set(&k, k.s);
  leave(&k, first);
  second = build_for(&k);
  get(&k, k.s, first);
  get(&k, k.t, region(&k, second, 0));
  set(&k, k.t);
  leave(&k, second);
  get(&k, k.s, first);
  get(&k, k.t, second);
  finish(&k);
}

TEST(volatile_and_coherent_loads_are_new)
{
  scene k;
  vyre_row first, second, coherent, loop, path;
  (void)state;
  start(&k);
  path = vyre_build_at_literal(&k.x.b, k.x.out, 0);
  first = expect(&k, vyre_build_load(&k.x.b, path, VYRE_ROW_VOLATILE), k.x.out);
  second = expect(&k, vyre_build_load(&k.x.b, path, VYRE_ROW_COHERENT), first);
  expect(&k, vyre_build_load(&k.x.b, path, 0), second);
  coherent = fixture_buffer(&k.x, k.x.floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_COHERENT, 9);
  loop = vyre_build_loop(&k.x.b);
  first = load(&k, coherent, region(&k, loop, 0));
  load(&k, coherent, first);
  into(&k, region(&k, loop, 1));
  vyre_build_jump(&k.x.b, VYRE_OP_breakif, k.x.cond);
  leave(&k, loop);
  load(&k, coherent, loop);
  finish(&k);
}

TEST(buffers_of_one_binding_are_one_class)
{
  scene k;
  vyre_row as_vectors, other, w;
  (void)state;
  start(&k);
  as_vectors = fixture_buffer(&k.x, vyre_type_runtime_array(k.x.m, F32X4, 0), VYRE_SPACE_STORAGE, 0, 1); /* out's binding */
  other = fixture_buffer(&k.x, k.x.floats, VYRE_SPACE_STORAGE, 0, 77);
  expect(&k, vyre_build_load(&k.x.b, vyre_build_at_literal(&k.x.b, as_vectors, 0), 0), k.x.out);
  w = store(&k, k.x.out);
  expect(&k, vyre_build_load(&k.x.b, vyre_build_at_literal(&k.x.b, as_vectors, 0), 0), w);
  load(&k, other, other);
  finish(&k);
}

TEST(aliased_buffers_are_one_class)
{
  scene k;
  vyre_row left, right, w;
  (void)state;
  start(&k);
  left = fixture_buffer(&k.x, k.x.floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_ALIASED, 20);
  right = fixture_buffer(&k.x, k.x.floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_ALIASED, 10);
  load(&k, right, left); /* the first row of the class */
  w = store(&k, left);
  load(&k, right, w);
  load(&k, k.x.out, k.x.out);
  finish(&k);
}

TEST(a_barrier_writes_what_its_semantics_name)
{
  scene k;
  vyre_row w, barrier;
  (void)state;
  start(&k);
  load(&k, k.x.tile, k.x.tile);
  w = store(&k, k.x.out);
  barrier = vyre_build_barrier(&k.x.b, WORKGROUP_BARRIER);
  load(&k, k.x.tile, barrier);
  load(&k, k.x.out, w);
  barrier = vyre_build_barrier(&k.x.b, DEVICE_BARRIER);
  load(&k, k.x.out, barrier);
  load(&k, k.x.in, barrier);
  get(&k, k.s, k.s);
  w = store(&k, k.x.out);
  load(&k, k.x.out, w); /* later than the barrier */
  expect(&k, vyre_build_load(&k.x.b, k.x.uniform, 0), k.x.uniform);
  finish(&k);
}

TEST(a_barrier_in_a_loop_joins_behind_it)
{
  scene k;
  vyre_row loop, barrier;
  (void)state;
  start(&k);
  loop = build_for(&k);
  load(&k, k.x.tile, region(&k, loop, 0));
  barrier = vyre_build_barrier(&k.x.b, WORKGROUP_BARRIER);
  load(&k, k.x.tile, barrier);
  leave(&k, loop);
  load(&k, k.x.tile, loop);
  load(&k, k.x.in, k.x.in);
  finish(&k);
}

/* x0 = d[0]; loop { atomic_load(f, acquire) } x1 = d[0]: two values; a relaxed atomic leaves d alone. */
TEST(atomics_write_their_class_and_acquire_all)
{
  scene k;
  vyre_row atomic, path;
  (void)state;
  start(&k);
  path = vyre_build_at_literal(&k.x.b, k.x.counters, 0);
  load(&k, k.x.in, k.x.in);
  atomic = vyre_build(&k.x.b, VYRE_OP_atomic_add, U32, 0, VYRE_ORDER(0, 1, 0), 0, path, k.x.u, NONE);
  expect(&k, vyre_build_load(&k.x.b, path, 0), atomic);
  load(&k, k.x.in, k.x.in);
  atomic = vyre_build(&k.x.b, VYRE_OP_atomic_load, U32, 0, VYRE_ORDER(0, 1, 0x42), 0, path, NONE, NONE);
  load(&k, k.x.in, atomic);
  load(&k, k.x.tile, k.x.tile);
  finish(&k);
}

TEST(a_copy_writes_its_destination)
{
  scene k;
  vyre_row copy;
  (void)state;
  start(&k);
  copy = op3(&k.x, VYRE_OP_copy, 0, vyre_build_at_literal(&k.x.b, k.x.out, 0), vyre_build_at_literal(&k.x.b, k.x.in, 0), NONE);
  load(&k, k.x.out, copy);
  load(&k, k.x.in, k.x.in);
  finish(&k);
}

/* An async copy is another state of both sides, at its start and at each wait of the program; other memory is as it was. */
TEST(an_async_copy_lasts_until_its_wait)
{
  scene k;
  vyre_row copy, wait, again, loop, inner;
  (void)state;
  start(&k);
  load(&k, k.x.out, k.x.out);
  wait = op3(&k.x, VYRE_OP_async_wait, 0, NONE, NONE, NONE);
  load(&k, k.x.tile, wait); /* of a copy in an earlier turn of a loop, for what this row knows */
  copy =
      op3(&k.x, VYRE_OP_async_copy, 0, vyre_build_at_literal(&k.x.b, k.x.tile, 0), vyre_build_at_literal(&k.x.b, k.x.in, 0), NONE);
  load(&k, k.x.tile, copy);
  load(&k, k.x.in, copy);
  again = op3(&k.x, VYRE_OP_async_wait, 0, NONE, NONE, NONE);
  load(&k, k.x.tile, again);
  load(&k, k.x.in, again);
  load(&k, k.x.out, k.x.out);
  load(&k, k.x.counters, k.x.counters);
  loop = build_for(&k);
  load(&k, k.x.tile, region(&k, loop, 0));
  load(&k, k.x.out, k.x.out);
  inner = op3(&k.x, VYRE_OP_async_wait, 0, NONE, NONE, NONE);
  load(&k, k.x.in, inner);
  leave(&k, loop);
  load(&k, k.x.tile, loop);
  finish(&k);
}

/* A barrier of the whole grid writes storage memory, where its semantics name it. */
TEST(a_grid_barrier_writes_what_its_semantics_name)
{
  scene k;
  vyre_row barrier;
  (void)state;
  start(&k);
  barrier = vyre_build_barrier(&k.x.b, VYRE_ORDER(1, 1, 0x48));
  load(&k, k.x.out, barrier);
  load(&k, k.x.tile, k.x.tile);
  barrier = vyre_build_barrier(&k.x.b, VYRE_ORDER(1, 1, 0x148));
  load(&k, k.x.out, barrier);
  load(&k, k.x.tile, barrier);
  finish(&k);
}

/* Each program has its own state. */
TEST(programs_are_apart)
{
  scene k;
  vyre_row buffer;
  (void)state;
  start(&k);
  store(&k, k.x.out);
  vyre_build_program(k.x.m, "third", 0, 0, &k.x.b);
  buffer = fixture_buffer(&k.x, k.x.floats, VYRE_SPACE_STORAGE, 0, 1);
  load(&k, buffer, buffer);
  finish(&k);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(straight_code_sees_the_last_write),
      cmocka_unit_test(a_break_joins_behind_the_loop),
      cmocka_unit_test(a_loop_that_writes_nothing_keeps_versions),
      cmocka_unit_test(a_case_that_is_fallen_into_is_a_head),
      cmocka_unit_test(a_continuing_region_is_a_head),
      cmocka_unit_test(continuing_writes_reach_the_body),
      cmocka_unit_test(arms_start_from_the_state_before),
      cmocka_unit_test(an_if_that_writes_nothing_is_no_join),
      cmocka_unit_test(a_block_left_early_is_a_join),
      cmocka_unit_test(nested_heads),
      cmocka_unit_test(loops_one_after_another),
      cmocka_unit_test(volatile_and_coherent_loads_are_new),
      cmocka_unit_test(buffers_of_one_binding_are_one_class),
      cmocka_unit_test(aliased_buffers_are_one_class),
      cmocka_unit_test(a_barrier_writes_what_its_semantics_name),
      cmocka_unit_test(a_barrier_in_a_loop_joins_behind_it),
      cmocka_unit_test(atomics_write_their_class_and_acquire_all),
      cmocka_unit_test(a_copy_writes_its_destination),
      cmocka_unit_test(an_async_copy_lasts_until_its_wait),
      cmocka_unit_test(a_grid_barrier_writes_what_its_semantics_name),
      cmocka_unit_test(programs_are_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
