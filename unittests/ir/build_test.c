/* The builder: positions and contents of rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/view.h" /* before the variable `program` */

#include "program_test.h"

/* Asserts the operation word, payload and operands of a row. */
static void
check_row(vyre_row row, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t x, uint32_t y, uint32_t z)
{
  assert_int_not_equal(row.id, 0);
  assert_int_equal(v->op[row.id], word);
  assert_int_equal(v->imm[row.id], imm);
  assert_int_equal(v->imm_hi[row.id], imm_hi);
  assert_int_equal(v->a[row.id], x);
  assert_int_equal(v->b[row.id], y);
  assert_int_equal(v->c[row.id], z);
}

/* Asserts that nothing failed and that the links of the program are right. */
static int
check_and_end(void **state)
{
  assert_ok(vyre_module_status(m));
  check_links(m);
  return end_module(state);
}

#define BUILD_TEST(name) TEST_WITH(name, make_program, check_and_end)

BUILD_TEST(saxpy_builds_and_seals)
{
  vyre_type_id floats = vyre_type_runtime_array(m, F32, 0);
  vyre_row x = vyre_build_buffer(&b, floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 0);
  vyre_row y = vyre_build_buffer(&b, floats, VYRE_SPACE_STORAGE, 0, 0, 1);
  vyre_row size = vyre_build_const(&b, U32, 64), one = vyre_build_const(&b, U32, 1);
  vyre_build_workgroup(&b, size, one, one);
  vyre_row i = build_value(&b);
  vyre_row test = vyre_build_if(&b, vyre_build_binary(&b, VYRE_OP_ult, i, vyre_build_unary(&b, VYRE_OP_length, x)));
  vyre_row value = vyre_build_load(&b, vyre_build_at(&b, x, i), 0);
  vyre_row product = vyre_build_binary(&b, VYRE_OP_mul, value, vyre_build_const(&b, F32, TWO_F32));
  vyre_build_store(&b, vyre_build_at(&b, y, i), product, 0);
  vyre_builder_leave(&b, test);
  vyre_row_set_name(m, product, "w", 1);
  seal(NULL);
  check_sealed(m);
  for (uint32_t row = 1; row < v->rows; row++)
    assert_true(v->a[row] < row && v->b[row] < row && v->c[row] < row);
  assert_prints(m, NULL,
                "program @p relaxed workgroup(64, 1, 1) {\n  buffer %0 : f32[] storage ro set(0) binding(0)\n"
                "  buffer %1 : f32[] storage rw set(0) binding(1)\n  %2 = gid.x\n  %3 = length %0\n  %4 = ult %2, %3\n"
                "  if %4 {\n    %5 = load %0[%2]\n    %w = mul %5, 2.0f32\n    store %1[%2], %w\n  }\n}\n");
}

BUILD_TEST(a_program_has_a_workgroup_row)
{
  check_row(program, VYRE_ROW(VYRE_OP_program, 0, 0), VYRE_PROGRAM_RELAXED, 0, 0, 0, 0);
  assert_int_equal(v->parent[program.id], 0);
  uint32_t one = v->first[program.id], workgroup = v->next[one];
  check_row(row_of(one), VYRE_ROW(VYRE_OP_const, U32, 0), 1, 0, 0, 0, 0);
  check_row(row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, one, one, one);
  assert_int_equal(vyre_build_const(&b, U32, 1).id, one);
  vyre_builder g;
  vyre_row second = vyre_build_program(m, NULL, 0, 0, &g);
  assert_int_equal(v->next[program.id], second.id);
  assert_null(vyre_row_name(m, second));
}

BUILD_TEST(a_workgroup_row_follows_its_operands)
{
  uint32_t workgroup = v->last[program.id], one = v->first[program.id];
  vyre_row n = vyre_build_spec(&b, U32, 8, 3), size = vyre_build_const(&b, U32, 64);
  vyre_build_workgroup(&b, n, size, size);
  check_row(row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, n.id, size.id, size.id);
  assert_int_equal(v->op[one], 0); /* it had no other use */
  assert_int_equal(v->next[size.id], workgroup);
  vyre_row twice = vyre_build_imm(&b, VYRE_OP_mul, n, 2);
  vyre_row x = vyre_build_var(&b, F32);
  vyre_build_workgroup(&b, size, twice, n);
  assert_int_equal(v->prev[workgroup], twice.id);
  vyre_row y = vyre_build_var(&b, F32);
  assert_int_equal(v->prev[y.id], x.id); /* declarations are still appended after the last one */
  assert_null(vyre_module_seal(m, NULL));
  check_sealed(m);
}

BUILD_TEST(a_shared_constant_outlives_the_workgroup_row)
{
  vyre_row one = vyre_build_const(&b, U32, 1), size = vyre_build_const(&b, U32, 64);
  vyre_build_workgroup(&b, size, size, size);
  check_row(one, VYRE_ROW(VYRE_OP_const, U32, 0), 1, 0, 0, 0, 0);
  vyre_builder g;
  vyre_row second = vyre_build_program(m, "q", 0, 0, &g);
  uint32_t its = v->first[second.id], workgroup = v->last[second.id];
  size = vyre_build_const(&g, U32, 64);
  vyre_build_workgroup(&g, size, size, row_of(its)); /* the old constant stays in z */
  check_row(row_of(its), VYRE_ROW(VYRE_OP_const, U32, 0), 1, 0, 0, 0, 0);
  check_row(row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, size.id, size.id, its);
}

BUILD_TEST(the_workgroup_row_is_found_after_a_late_spec)
{
  vyre_build_var(&b, F32);
  vyre_row n = vyre_build_spec(&b, U32, 8, 3);
  vyre_row_unlink(m, n);
  vyre_row_insert(m, n, program, VYRE_NONE); /* as in a parsed text: after a declaration */
  vyre_build_workgroup(&b, n, n, n);
  uint32_t map[64], workgroups = 0;
  seal(map);
  vyre_row size = vyre_build_const(&b, U32, 64);
  vyre_build_workgroup(&b, size, size, size);
  for (uint32_t row = v->first[map[program.id]]; row; row = v->next[row])
    workgroups += VYRE_ROW_OP(v->op[row]) == VYRE_OP_workgroup;
  assert_int_equal(workgroups, 1);
}

BUILD_TEST(a_killed_workgroup_row_is_built_again)
{
  vyre_row_kill(m, row_of(v->last[program.id]));
  vyre_row size = vyre_build_const(&b, U32, 32);
  vyre_build_workgroup(&b, size, size, size);
  uint32_t workgroup = v->last[program.id];
  check_row(row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, size.id, size.id, size.id);
}

BUILD_TEST(declarations_are_at_the_top)
{
  vyre_row body = build_gid(&b);
  vyre_row test = vyre_build_if(&b, body);
  vyre_row in = build_gid(&b);
  vyre_row x = vyre_build_var(&b, F32); /* the builder is inside the if */
  vyre_row y = vyre_build_buffer(&b, F32X3, VYRE_SPACE_UNIFORM, VYRE_ACCESS_NO_WRITE, 2, 5);
  vyre_row n = vyre_build_spec(&b, F32, TWO_F32, 9);
  vyre_row c = vyre_build_const(&b, F32, ONE_F32), d = vyre_build_const(&b, I32, 2);
  check_row(x, VYRE_ROW(VYRE_OP_var, F32, 0), 0, 0, 0, 0, 0);
  check_row(y, VYRE_ROW(VYRE_OP_buffer, VYRE_TYPE(VYRE_PATH, 1), 0), F32X3, VYRE_SPACE_UNIFORM | VYRE_ACCESS_NO_WRITE, 0, 0, 0);
  check_row(n, VYRE_ROW(VYRE_OP_spec, F32, 0), TWO_F32, 0, 0, 0, 0);
  assert_int_equal(vyre_row_spec_id(m, n), 9);
  const vyre_opcode order[] = {VYRE_OP_const, VYRE_OP_spec,   VYRE_OP_const, VYRE_OP_const, VYRE_OP_workgroup,
                               VYRE_OP_var,   VYRE_OP_buffer, VYRE_OP_gid,   VYRE_OP_if};
  uint32_t row = v->first[program.id];
  for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++, row = v->next[row])
    assert_int_equal(VYRE_ROW_OP(v->op[row]), order[i]);
  assert_int_equal(v->next[c.id], d.id);
  assert_int_equal(v->parent[in.id], vyre_region_of(m, test, 0).id);
}

BUILD_TEST(constants_are_shared_only_inside_their_program)
{
  vyre_row c = vyre_build_const(&b, F32, ONE_F32);
  assert_int_equal(vyre_build_const(&b, F32, ONE_F32).id, c.id);
  assert_int_not_equal(vyre_build_const(&b, U32, ONE_F32).id, c.id);
  assert_int_not_equal(vyre_build_const(&b, F32X2, ONE_F32).id, c.id);
  vyre_row wide = vyre_build_const(&b, VYRE_TYPE(VYRE_U64, 1), (uint64_t)5 << 32 | 7);
  check_row(wide, VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_U64, 1), 0), 7, 5, 0, 0, 0);
  vyre_builder g;
  vyre_row other = vyre_build_program(m, "q", 0, 0, &g);
  vyre_row theirs = vyre_build_const(&g, F32, ONE_F32);
  assert_int_not_equal(theirs.id, c.id);
  assert_int_equal(v->parent[theirs.id], other.id);
  vyre_builder h = {.module = m}; /* finds its program at the first use */
  vyre_builder_before(&h, row_of(v->last[program.id]));
  assert_int_equal(vyre_build_const(&h, F32, ONE_F32).id, c.id);
}

BUILD_TEST(changed_constants_are_not_shared)
{
  enum { KINDS = 4 };
  vyre_row c[KINDS], again[KINDS];
  for (uint32_t i = 0; i < KINDS; i++)
    c[i] = vyre_build_const(&b, U32, 100 + i);
  vyre_row body = build_value(&b), behind = build_value(&b);
  vyre_row_rewrite(m, c[0], VYRE_ROW(VYRE_OP_const, U32, 0), 999, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row_kill(m, c[1]);
  vyre_row_move_before(m, c[2], behind); /* still a child of the program, but below the declarations */
  vyre_row_unlink(m, c[3]);
  vyre_row_insert(m, c[3], program, VYRE_NONE);
  for (uint32_t i = 0; i < KINDS; i++) {
    again[i] = vyre_build_const(&b, U32, 100 + i);
    assert_int_not_equal(again[i].id, c[i].id);
    check_row(again[i], VYRE_ROW(VYRE_OP_const, U32, 0), 100 + i, 0, 0, 0, 0);
  }
  uint32_t map[64];
  assert_null(vyre_module_seal(m, map));
  for (uint32_t i = 0; i < KINDS; i++)
    assert_true(map[again[i].id] < map[body.id]);
  assert_true(map[c[2].id] > map[body.id]);
}

BUILD_TEST(declarations_are_found_again_after_sealing)
{
  vyre_row body = build_value(&b);
  vyre_row c = vyre_build_const(&b, F32, ONE_F32), x = vyre_build_var(&b, F32);
  vyre_row late = vyre_build(&b, VYRE_OP_const, F32, 0, TWO_F32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE); /* in the body */
  uint32_t map[64];
  seal(map);
  assert_int_equal(vyre_build_const(&b, F32, ONE_F32).id, map[c.id]);
  vyre_row two = vyre_build_const(&b, F32, TWO_F32);
  assert_int_not_equal(two.id, map[late.id]);
  assert_int_equal(v->prev[two.id], map[c.id]);
  vyre_row y = vyre_build_var(&b, F32);
  assert_int_equal(v->prev[y.id], map[x.id]);
  vyre_row_kill(m, row_of(map[c.id]));
  vyre_row_kill(m, two);
  vyre_row_kill(m, y);
  vyre_row_kill(m, row_of(map[x.id]));
  vyre_row three = vyre_build_const(&b, F32, 3), z = vyre_build_var(&b, F32);
  assert_null(vyre_module_seal(m, NULL));
  check_sealed(m);
  assert_int_equal(VYRE_ROW_OP(v->op[2]), VYRE_OP_const);
  (void)body;
  (void)three;
  (void)z;
  for (uint32_t row = 1, seen_body = 0; row < v->rows; row++) {
    uint32_t op = VYRE_ROW_OP(v->op[row]);
    seen_body |= op == VYRE_OP_gid;
    assert_false(seen_body && op == VYRE_OP_var);
    assert_false(seen_body && op == VYRE_OP_const && v->imm[row] == 3);
  }
}

BUILD_TEST(constants_precede_a_variable_without_other_constants)
{
  vyre_build_const(&b, F32, ONE_F32);
  vyre_build(&b, VYRE_OP_neg, F32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  for (uint32_t row = v->first[program.id], next; row; row = next) {
    next = v->next[row];
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_neg)
      vyre_row_kill(m, row_of(row));
  }
  seal(NULL); /* the program and neg */
  vyre_row var = vyre_build_var(&b, F32), c = vyre_build_const(&b, F32, ONE_F32);
  assert_int_equal(v->first[1], c.id);
  assert_int_equal(v->next[c.id], var.id);
  assert_int_equal(v->next[var.id], 2);
}

/* A built-in has one row for all its users, at the top.  Sealing, moving and rewriting do not add another row. */
BUILD_TEST(built_ins_are_one_row)
{
  vyre_row gid = vyre_build_invocation(&b, VYRE_OP_gid), lindex = vyre_build_invocation(&b, VYRE_OP_lindex);
  vyre_build_if(&b, lindex);
  assert_int_equal(vyre_build_invocation(&b, VYRE_OP_gid).id, gid.id);
  assert_int_equal(v->parent[gid.id], program.id);
  assert_int_equal(v->op[gid.id], VYRE_ROW(VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0));
  assert_int_equal(v->op[lindex.id], VYRE_ROW(VYRE_OP_lindex, U32, 0));
  seal(NULL);
  const uint32_t rows = v->rows;
  vyre_row again = vyre_build_invocation(&b, VYRE_OP_lindex);
  vyre_row one = vyre_build_const(&b, F32, ONE_F32);
  assert_true(again.id < rows);
  vyre_row_rewrite(m, again, VYRE_ROW(VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), VYRE_ROW_RELAXED), 0, 0, VYRE_NONE, VYRE_NONE,
                   VYRE_NONE);
  assert_int_not_equal(vyre_build_invocation(&b, VYRE_OP_lindex).id, again.id);
  seal(NULL);
  check_sealed(m);
  vyre_build_const(&b, F32, ONE_F32); /* found after the built-ins */
  (void)one;
  assert_true(vyre_module_is_sealed(m));
}

BUILD_TEST(many_constants_are_fast)
{
  enum { COUNT = 300000 };
  uint32_t first = vyre_build_const(&b, F32, 10).id;
  for (uint32_t i = 1; i < COUNT; i++)
    assert_int_equal(vyre_build_const(&b, F32, 10 + i).id, first + i);
  for (uint32_t i = 0; i < COUNT; i += 2) {
    if (i % 4 == 0) {
      vyre_row_kill(m, row_of(first + i));
      continue;
    }
    vyre_row_unlink(m, row_of(first + i)); /* moved to the end, where it no longer dominates all rows */
    vyre_row_insert(m, row_of(first + i), program, VYRE_NONE);
  }
  for (uint32_t i = 0; i < COUNT; i++)
    assert_true((vyre_build_const(&b, F32, 10 + i).id == first + i) == (i % 2 == 1));
  vyre_builder g;
  for (uint32_t i = 0; i < 20000; i++) {
    vyre_build_program(m, "q", 0, 0, &g);
    uint32_t row = vyre_build_const(&g, F32, 10).id;
    assert_int_equal(row, v->rows - 1);
    assert_int_equal(vyre_build_const(&g, F32, 10).id, row);
  }
  seal(NULL); /* finds the constants again once, not for each new constant */
  for (uint32_t i = 0; i < 30000; i++)
    assert_true(vyre_build_const(&b, F32, 0x10000000u + i).id != 0);
}

BUILD_TEST(right_constants_become_literals)
{
  vyre_row x = build_value(&b), seven = vyre_build_const(&b, U32, 7), wide = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 3), 7);
  check_row(vyre_build_binary(&b, VYRE_OP_sub, x, seven), VYRE_ROW(VYRE_OP_sub, U32, VYRE_ROW_IMM), 7, 0, x.id, 0, 0);
  check_row(vyre_build_binary(&b, VYRE_OP_sub, seven, x), VYRE_ROW(VYRE_OP_sub, U32, 0), 0, 0, seven.id, x.id, 0);
  check_row(vyre_build_binary(&b, VYRE_OP_ult, x, seven), VYRE_ROW(VYRE_OP_ult, BOOL, VYRE_ROW_IMM), 7, 0, x.id, 0, 0);
  vyre_row gid = build_gid(&b);
  vyre_type u32x3 = VYRE_TYPE(VYRE_U32, 3);
  check_row(vyre_build_binary(&b, VYRE_OP_add, gid, wide), VYRE_ROW(VYRE_OP_add, u32x3, VYRE_ROW_IMM), 7, 0, gid.id, 0, 0);
  check_row(vyre_build_binary(&b, VYRE_OP_add, gid, seven), VYRE_ROW(VYRE_OP_add, u32x3, 0), 0, 0, gid.id, seven.id, 0);
  check_row(vyre_build_binary(&b, VYRE_OP_eq, gid, gid), VYRE_ROW(VYRE_OP_eq, VYRE_TYPE(VYRE_BOOL, 3), 0), 0, 0, gid.id, gid.id, 0);
  check_row(vyre_build(&b, VYRE_OP_lane, U32, 0, 0, 0, gid, seven, VYRE_NONE), VYRE_ROW(VYRE_OP_lane, U32, VYRE_ROW_IMM), 7, 0,
            gid.id, 0, 0);
  check_row(vyre_build_imm(&b, VYRE_OP_mul, x, (uint64_t)1 << 32 | 5), VYRE_ROW(VYRE_OP_mul, U32, VYRE_ROW_IMM), 5, 1, x.id, 0, 0);
  check_row(vyre_build(&b, VYRE_OP_store, 0, 0, 0, 0, x, seven, VYRE_NONE), VYRE_ROW(VYRE_OP_store, 0, 0), 0, 0, x.id, seven.id, 0);
}

BUILD_TEST(values_have_their_types)
{
  vyre_row gid = build_gid(&b), x = vyre_build_lane(&b, gid, 2);
  check_row(x, VYRE_ROW(VYRE_OP_lane, U32, VYRE_ROW_IMM), 2, 0, gid.id, 0, 0);
  vyre_row floats = vyre_build_convert(&b, VYRE_OP_convert, F32X3, gid);
  check_row(floats, VYRE_ROW(VYRE_OP_convert, F32X3, 0), 0, 0, gid.id, 0, 0);
  check_row(vyre_build_unary(&b, VYRE_OP_not, gid), VYRE_ROW(VYRE_OP_not, VYRE_TYPE(VYRE_U32, 3), 0), 0, 0, gid.id, 0, 0);
  check_row(vyre_build_unary(&b, VYRE_OP_norm, floats), VYRE_ROW(VYRE_OP_norm, F32, 0), 0, 0, floats.id, 0, 0);
  check_row(vyre_build_binary(&b, VYRE_OP_dot, floats, floats), VYRE_ROW(VYRE_OP_dot, F32, 0), 0, 0, floats.id, floats.id, 0);
  vyre_row test = vyre_build_unary(&b, VYRE_OP_isnan, floats);
  check_row(test, VYRE_ROW(VYRE_OP_isnan, VYRE_TYPE(VYRE_BOOL, 3), 0), 0, 0, floats.id, 0, 0);
  check_row(vyre_build_unary(&b, VYRE_OP_any, test), VYRE_ROW(VYRE_OP_any, BOOL, 0), 0, 0, test.id, 0, 0);
  check_row(vyre_build_select(&b, test, floats, floats), VYRE_ROW(VYRE_OP_select, F32X3, 0), 0, 0, test.id, floats.id, floats.id);
  check_row(vyre_build_barrier(&b, 0x1080202), VYRE_ROW(VYRE_OP_barrier, 0, 0), 0x1080202, 0, 0, 0, 0);
}

BUILD_TEST(joins_accept_any_parts)
{
  vyre_row x = vyre_build_convert(&b, VYRE_OP_convert, F32, build_value(&b)), y = vyre_build_unary(&b, VYRE_OP_neg, x);
  vyre_row xy = vyre_build_join(&b, (vyre_row[]){x, y}, 2);
  check_row(xy, VYRE_ROW(VYRE_OP_join, F32X2, 0), 0, 0, x.id, y.id, 0);
  check_row(vyre_build_join(&b, (vyre_row[]){x, xy, y}, 3), VYRE_ROW(VYRE_OP_join, F32X4, 0), 0, 0, x.id, xy.id, y.id);
  vyre_row four = vyre_build_join(&b, (vyre_row[]){x, y, y, x}, 4);
  check_row(four, VYRE_ROW(VYRE_OP_join, F32X4, 0), 0, 0, v->a[four.id], y.id, x.id);
  check_row(row_of(v->a[four.id]), VYRE_ROW(VYRE_OP_join, F32X2, 0), 0, 0, x.id, y.id, 0);
  assert_int_equal(vyre_build_join(&b, &xy, 1).id, xy.id);
  assert_int_equal(vyre_build_join(&b, NULL, 0).id, 0);
  check_row(vyre_build_join(&b, (vyre_row[]){x, x, x}, 3), VYRE_ROW(VYRE_OP_splat, F32X3, 0), 0, 0, x.id, 0, 0);
  check_row(vyre_build_join(&b, (vyre_row[]){xy, xy}, 2), VYRE_ROW(VYRE_OP_join, F32X4, 0), 0, 0, xy.id, xy.id, 0);
  vyre_row c = vyre_build_const(&b, F32, ONE_F32), d = vyre_build_const(&b, F32, TWO_F32);
  check_row(vyre_build_join(&b, (vyre_row[]){c, c, c, c}, 4), VYRE_ROW(VYRE_OP_const, F32X4, 0), ONE_F32, 0, 0, 0, 0);
  check_row(vyre_build_join(&b, (vyre_row[]){c, d}, 2), VYRE_ROW(VYRE_OP_join, F32X2, 0), 0, 0, c.id, d.id, 0);
}

BUILD_TEST(tuples_have_any_number_of_parts)
{
  enum { MOST = 60 };
  vyre_row parts[MOST];
  for (uint32_t i = 0; i < MOST; i++)
    parts[i] = build_value(&b);
  for (uint32_t count = 0; count <= MOST; count++) {
    vyre_row tuple = vyre_build_tuple(&b, parts, count);
    assert_int_equal(v->op[tuple.id], VYRE_ROW(VYRE_OP_tuple, VYRE_TYPE(VYRE_TUPLE, 1), 0));
    assert_int_equal(v->imm[tuple.id], VYRE_TUPLE_OF(count, count ? U32 : 0));
    for (uint32_t k = 0; k < count; k++)
      assert_int_equal(vyre_build_part(&b, tuple, k, U32).id, parts[k].id);
    vyre_row beyond = vyre_build_part(&b, tuple, count, U32);
    check_row(beyond, VYRE_ROW(VYRE_OP_part, U32, 0), count, 0, tuple.id, 0, 0);
  }
  vyre_row mixed[] = {parts[0], build_gid(&b), parts[1], parts[2], parts[3]};
  vyre_row tuple = vyre_build_tuple(&b, mixed, 5);
  check_row(tuple, VYRE_ROW(VYRE_OP_tuple, VYRE_TYPE(VYRE_TUPLE, 1), 0), VYRE_TUPLE_OF(5, 0), 0, mixed[0].id, mixed[1].id,
            v->c[tuple.id]);
  assert_int_equal(v->imm[v->c[tuple.id]], VYRE_TUPLE_OF(3, U32));
  vyre_row matrix =
      vyre_build(&b, VYRE_OP_transpose, VYRE_TYPE(VYRE_TUPLE, 1), 0, VYRE_TUPLE_OF(2, F32X2), 0, tuple, VYRE_NONE, VYRE_NONE);
  check_row(vyre_build_part(&b, matrix, 1, F32X2), VYRE_ROW(VYRE_OP_part, F32X2, 0), 1, 0, matrix.id, 0, 0);
}

BUILD_TEST(paths_have_the_type_of_their_target)
{
  vyre_type_id matrix = vyre_type_matrix(m, F32X3, 4, 0, false);
  const vyre_member members[] = {{0, F32X2, VYRE_OFFSET_AUTO, 0}, {0, matrix, VYRE_OFFSET_AUTO, 0}};
  vyre_type_id type = vyre_type_struct(m, 0, members, 2, 0);
  vyre_row buffer = vyre_build_buffer(&b, vyre_type_runtime_array(m, type, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row i = build_value(&b), one = vyre_build_const(&b, I32, 1);
  vyre_type path = VYRE_TYPE(VYRE_PATH, 1);
  vyre_row element = vyre_build_at(&b, buffer, i);
  check_row(element, VYRE_ROW(VYRE_OP_at, path, 0), 0, type, buffer.id, i.id, 0);
  vyre_row member = vyre_build_at(&b, element, one);
  check_row(member, VYRE_ROW(VYRE_OP_at, path, VYRE_ROW_IMM), 1, matrix, element.id, 0, 0);
  vyre_row column = vyre_build_at_literal(&b, member, 3);
  check_row(column, VYRE_ROW(VYRE_OP_at, path, VYRE_ROW_IMM), 3, F32X3, member.id, 0, 0);
  vyre_row lane = vyre_build_at(&b, column, i);
  check_row(lane, VYRE_ROW(VYRE_OP_at, path, 0), 0, F32, column.id, i.id, 0);
  assert_int_equal(vyre_path_type(m, buffer), vyre_type_runtime_array(m, type, 0));
  assert_int_equal(vyre_path_type(m, lane), F32);
  assert_int_equal(vyre_path_type(m, i), 0);
  assert_int_equal(vyre_path_buffer(m, lane).id, buffer.id);
  assert_int_equal(vyre_path_buffer(m, i).id, 0);
  vyre_row load = vyre_build_load(&b, column, VYRE_ROW_VOLATILE);
  check_row(load, VYRE_ROW(VYRE_OP_load, F32X3, VYRE_ROW_VOLATILE), 0, 0, column.id, 0, 0);
  check_row(vyre_build_store(&b, column, load, 0), VYRE_ROW(VYRE_OP_store, 0, 0), 0, 0, column.id, load.id, 0);
  check_row(vyre_build_unary(&b, VYRE_OP_length, buffer), VYRE_ROW(VYRE_OP_length, U32, 0), 0, 0, buffer.id, 0, 0);
  vyre_row var = vyre_build_var(&b, F32X3), get = vyre_build_get(&b, var);
  check_row(get, VYRE_ROW(VYRE_OP_get, F32X3, 0), 0, 0, var.id, 0, 0);
  check_row(vyre_build_set(&b, var, get), VYRE_ROW(VYRE_OP_set, 0, 0), 0, 0, var.id, get.id, 0);
}

BUILD_TEST(control_has_its_regions)
{
  vyre_row x = build_value(&b);
  vyre_row test = vyre_build_if(&b, x);
  check_row(test, VYRE_ROW(VYRE_OP_if, 0, 0), 0, 0, x.id, 0, 0);
  check_row(vyre_region_of(m, test, 0), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_THEN, 0, 0, 0, 0);
  check_row(vyre_region_of(m, test, 1), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_ELSE, 0, 0, 0, 0);
  vyre_row loop = vyre_build_loop(&b);
  assert_int_equal(v->parent[loop.id], vyre_region_of(m, test, 0).id);
  check_row(vyre_region_of(m, loop, 0), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_BODY, 0, 0, 0, 0);
  check_row(vyre_region_of(m, loop, 1), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_CONTINUING, 0, 0, 0, 0);
  vyre_builder_at_end(&b, vyre_region_of(m, loop, 1));
  vyre_row jump = vyre_build_jump(&b, VYRE_OP_breakif, x);
  check_row(jump, VYRE_ROW(VYRE_OP_breakif, 0, 0), 0, 0, x.id, 0, 0);
  assert_int_equal(v->parent[jump.id], vyre_region_of(m, loop, 1).id);
  vyre_builder_leave(&b, loop);
  vyre_row behind = build_gid(&b);
  assert_int_equal(v->prev[behind.id], loop.id);
  vyre_builder_leave(&b, test);
  vyre_row count = vyre_build_for(&b, x, x, x), body = vyre_region_of(m, count, 0);
  check_row(count, VYRE_ROW(VYRE_OP_for, 0, 0), 0, 0, x.id, x.id, x.id);
  check_row(body, VYRE_ROW(VYRE_OP_body, U32, 0), 0, 0, 0, 0, 0);
  assert_int_equal(b.region, body.id);
  vyre_row block = vyre_build_block(&b);
  check_row(vyre_region_of(m, block, 0), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_BLOCK, 0, 0, 0, 0);
  check_row(vyre_build_jump(&b, VYRE_OP_leave, block), VYRE_ROW(VYRE_OP_leave, 0, 0), 0, 0, block.id, 0, 0);
  vyre_builder_leave(&b, count);
  vyre_row choice = vyre_build_switch(&b, x);
  check_row(choice, VYRE_ROW(VYRE_OP_switch, 0, 0), 0, 0, x.id, 0, 0);
  vyre_row label = vyre_build_const(&b, U32, 3);
  vyre_row first = vyre_build_case(&b, choice, label, false);
  check_row(vyre_build_jump(&b, VYRE_OP_fallthrough, VYRE_NONE), VYRE_ROW(VYRE_OP_fallthrough, 0, 0), 0, 0, 0, 0, 0);
  vyre_row second = vyre_build_case(&b, choice, VYRE_NONE, true);
  check_row(first, VYRE_ROW(VYRE_OP_case, 0, 0), 0, 0, label.id, 0, 0);
  check_row(second, VYRE_ROW(VYRE_OP_case, 0, 0), VYRE_CASE_DEFAULT, 0, 0, 0, 0);
  assert_int_equal(vyre_region_of(m, choice, 1).id, second.id);
  assert_int_equal(b.region, second.id);
  vyre_builder_before(&b, choice);
  vyre_row before = vyre_build_if(&b, x);
  vyre_builder_leave(&b, before);
  vyre_row between = build_gid(&b);
  assert_int_equal(v->prev[between.id], before.id);
  assert_int_equal(v->next[between.id], choice.id);
}

BUILD_TEST(rows_can_be_built_before_others)
{
  vyre_row first = build_gid(&b), last = build_gid(&b);
  vyre_builder_before(&b, last);
  vyre_row x = build_gid(&b), y = build_gid(&b);
  assert_true(v->next[first.id] == x.id && v->next[x.id] == y.id && v->next[y.id] == last.id);
  assert_int_equal(v->last[program.id], last.id);
  vyre_builder_at_end(&b, program);
  assert_int_equal(v->prev[build_gid(&b).id], last.id);
}

BUILD_TEST(a_builder_outside_of_programs_declares_nothing)
{
  vyre_row loose = build_gid(&b);
  vyre_row_unlink(m, loose);
  b = (vyre_builder){.module = m};
  vyre_builder_before(&b, loose);
  assert_int_equal(vyre_build_const(&b, F32, 0).id, 0);
  assert_int_equal(vyre_build_spec(&b, F32, 0, 0).id, 0);
  assert_int_equal(vyre_build_var(&b, F32).id, 0);
  vyre_build_workgroup(&b, loose, loose, loose);
  assert_int_equal(v->first[0], program.id);
  assert_int_equal(v->last[0], program.id);
}

BUILD_TEST(a_literal_operand_is_found_in_both_forms)
{
  vyre_row x = vyre_build_const(&b, F32, 0x40400000), two = vyre_build_const(&b, F32, 0x40000000), value = build_value(&b);
  vyre_row immediate = vyre_build(&b, VYRE_OP_add, U32, VYRE_ROW_IMM, 7, 0, value, VYRE_NONE, VYRE_NONE);
  vyre_row power = vyre_build(&b, VYRE_OP_pow, F32, 0, 0, 0, x, two, VYRE_NONE);
  uint64_t bits = 1;
  assert_true(vyre_row_literal(v, immediate.id, 1, &bits));
  assert_int_equal(bits, 7);
  assert_true(vyre_row_literal(v, power.id, 0, &bits));
  assert_int_equal(bits, 0x40400000);
  assert_true(vyre_row_literal(v, power.id, 1, &bits));
  assert_int_equal(bits, 0x40000000);
  assert_false(vyre_row_literal(v, immediate.id, 0, &bits));
  assert_false(vyre_row_literal(v, immediate.id, 2, &bits));
  assert_false(vyre_row_literal(v, power.id, 2, &bits));
  assert_int_equal(bits, 0x40000000);
}

/* Splits the const rows at the top of the first program, and then builds another one.  Returns its place in the program. */
static uint32_t
place_of_constant(bool builds_elsewhere_before)
{
  vyre_module *both = new_module();
  vyre_builder first, second;
  vyre_build_program(both, "p", VYRE_PROGRAM_RELAXED, 0, &first);
  build_value(&first); /* its gid is at the top */
  vyre_build_program(both, "q", VYRE_PROGRAM_RELAXED, 0, &second);
  assert_ok(vyre_module_seal(both, NULL));
  const vyre_view *view = vyre_module_view(both);
  const uint32_t p = view->first[0], q = view->next[p];
  first = second = (vyre_builder){.module = both};
  vyre_builder_at_end(&second, row_of(q));
  if (builds_elsewhere_before)
    vyre_build_const(&second, U32, 77);
  vyre_builder_before(&first, row_of(view->first[p]));
  vyre_build(&first, VYRE_OP_var, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const uint32_t constant = vyre_build_const(&first, U32, 78).id;
  uint32_t place = 0;
  for (uint32_t row = view->first[p]; row != constant; row = view->next[row])
    place++;
  vyre_module_destroy(both);
  return place;
}

TEST(the_place_of_a_constant_does_not_depend_on_other_programs)
{
  assert_int_equal(place_of_constant(false), place_of_constant(true));
}
