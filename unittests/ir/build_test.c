/* The builder: where rows land, what they hold.
 * Over 600 lines, as it is one list of cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

typedef struct fixture {
  vyre_module *m;
  const vyre_view *v;
  vyre_builder b;
  vyre_row program;
} fixture;

static void
start(fixture *f)
{
  f->m = new_module();
  f->v = vyre_module_view(f->m);
  f->program = vyre_build_program(f->m, "p", VYRE_PROGRAM_RELAXED, 0, &f->b);
}

static void
end(fixture *f)
{
  assert_null(vyre_module_status(f->m));
  check_links(f->m);
  vyre_module_destroy(f->m);
}

/* op, type, flags, payload and operands of a row. */
static void
check_row(const vyre_view *v, vyre_row row, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b, uint32_t c)
{
  assert_int_not_equal(row.id, 0);
  assert_int_equal(v->op[row.id], word);
  assert_int_equal(v->imm[row.id], imm);
  assert_int_equal(v->imm_hi[row.id], imm_hi);
  assert_int_equal(v->a[row.id], a);
  assert_int_equal(v->b[row.id], b);
  assert_int_equal(v->c[row.id], c);
}

TEST(saxpy_builds_and_seals)
{
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_row program = vyre_build_program(m, "saxpy", 0, vyre_module_add_input(m, "saxpy.vir"), &b);
  vyre_type_id floats = vyre_type_runtime_array(m, F32, 0);
  vyre_row x = vyre_build_buffer(&b, floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 0);
  vyre_row y = vyre_build_buffer(&b, floats, VYRE_SPACE_STORAGE, 0, 0, 1);
  vyre_row size = vyre_build_const(&b, U32, 64), one = vyre_build_const(&b, U32, 1);
  vyre_build_workgroup(&b, size, one, one);
  vyre_row i = build_value(&b);
  vyre_row n = vyre_build_unary(&b, VYRE_OP_length, x);
  vyre_row test = vyre_build_if(&b, vyre_build_binary(&b, VYRE_OP_ult, i, n));
  vyre_row v = vyre_build_load(&b, vyre_build_at(&b, x, i), 0);
  vyre_row w = vyre_build_binary(&b, VYRE_OP_mul, v, vyre_build_const(&b, F32, TWO_F32));
  vyre_build_store(&b, vyre_build_at(&b, y, i), w, 0);
  vyre_builder_leave(&b, test);
  vyre_row_set_name(m, w, "w", 1);
  const vyre_view *view = vyre_module_view(m);
  assert_int_equal(VYRE_ROW_FLAGS(view->op[w.id]), VYRE_ROW_IMM);
  assert_int_equal(view->imm[w.id], TWO_F32);
  uint32_t map[64];
  assert_null(vyre_module_seal(m, map));
  check_sealed(m);
  for (uint32_t row = 1; row < view->rows; row++)
    assert_true(view->a[row] < row && view->b[row] < row && view->c[row] < row);
  assert_string_equal(vyre_row_name(m, row_of(map[w.id])), "w");
  assert_string_equal(vyre_row_name(m, row_of(map[program.id])), "saxpy");
  assert_int_equal(vyre_buffer_info_of(m, row_of(map[y.id]))->binding, 1);
  vyre_module_destroy(m);
}

TEST(a_program_has_a_workgroup_row)
{
  fixture f;
  start(&f);
  check_row(f.v, f.program, VYRE_ROW(VYRE_OP_program, 0, 0), VYRE_PROGRAM_RELAXED, 0, 0, 0, 0);
  assert_int_equal(f.v->parent[f.program.id], 0);
  uint32_t one = f.v->first[f.program.id], workgroup = f.v->next[one];
  check_row(f.v, row_of(one), VYRE_ROW(VYRE_OP_const, U32, 0), 1, 0, 0, 0, 0);
  check_row(f.v, row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, one, one, one);
  assert_int_equal(vyre_build_const(&f.b, U32, 1).id, one);
  vyre_builder g;
  vyre_row second = vyre_build_program(f.m, NULL, 0, 0, &g);
  assert_int_equal(f.v->next[f.program.id], second.id);
  assert_null(vyre_row_name(f.m, second));
  end(&f);
}

TEST(a_workgroup_row_stands_behind_its_operands)
{
  fixture f;
  start(&f);
  uint32_t workgroup = f.v->last[f.program.id], one = f.v->first[f.program.id];
  vyre_row n = vyre_build_spec(&f.b, U32, 8, 3), size = vyre_build_const(&f.b, U32, 64);
  vyre_build_workgroup(&f.b, n, size, size);
  check_row(f.v, row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, n.id, size.id, size.id);
  assert_int_equal(f.v->op[one], 0); /* nothing else used it */
  assert_int_equal(f.v->next[size.id], workgroup);
  vyre_row twice = vyre_build_imm(&f.b, VYRE_OP_mul, n, 2);
  vyre_row x = vyre_build_var(&f.b, F32);
  vyre_build_workgroup(&f.b, size, twice, n);
  assert_int_equal(f.v->prev[workgroup], twice.id);
  vyre_row y = vyre_build_var(&f.b, F32);
  assert_int_equal(f.v->prev[y.id], x.id); /* the last declaration is still where they go */
  assert_null(vyre_module_seal(f.m, NULL));
  check_sealed(f.m);
  end(&f);
}

TEST(a_constant_that_was_given_out_outlives_the_workgroup)
{
  fixture f;
  start(&f);
  vyre_row one = vyre_build_const(&f.b, U32, 1), size = vyre_build_const(&f.b, U32, 64);
  vyre_build_workgroup(&f.b, size, size, size);
  check_row(f.v, one, VYRE_ROW(VYRE_OP_const, U32, 0), 1, 0, 0, 0, 0);
  vyre_builder g;
  vyre_row second = vyre_build_program(f.m, "q", 0, 0, &g);
  uint32_t its = f.v->first[second.id], workgroup = f.v->last[second.id];
  size = vyre_build_const(&g, U32, 64);
  vyre_build_workgroup(&g, size, size, row_of(its)); /* as it was in z alone */
  check_row(f.v, row_of(its), VYRE_ROW(VYRE_OP_const, U32, 0), 1, 0, 0, 0, 0);
  check_row(f.v, row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, size.id, size.id, its);
  end(&f);
}

TEST(the_workgroup_row_is_found_behind_a_late_spec)
{
  fixture f;
  start(&f);
  vyre_build_var(&f.b, F32);
  vyre_row n = vyre_build_spec(&f.b, U32, 8, 3);
  vyre_row_unlink(f.m, n);
  vyre_row_insert(f.m, n, f.program, VYRE_NONE); /* as a text may have it: after a declaration */
  vyre_build_workgroup(&f.b, n, n, n);
  uint32_t map[64], workgroups = 0;
  assert_null(vyre_module_seal(f.m, map));
  vyre_builder b = {.module = f.m};
  vyre_builder_at_end(&b, row_of(map[f.program.id]));
  vyre_row size = vyre_build_const(&b, U32, 64);
  vyre_build_workgroup(&b, size, size, size);
  for (uint32_t row = f.v->first[map[f.program.id]]; row; row = f.v->next[row])
    workgroups += VYRE_ROW_OP(f.v->op[row]) == VYRE_OP_workgroup;
  assert_int_equal(workgroups, 1);
  end(&f);
}

TEST(a_lost_workgroup_row_is_made_anew)
{
  fixture f;
  start(&f);
  vyre_row_kill(f.m, row_of(f.v->last[f.program.id]));
  vyre_row size = vyre_build_const(&f.b, U32, 32);
  vyre_build_workgroup(&f.b, size, size, size);
  uint32_t workgroup = f.v->last[f.program.id];
  check_row(f.v, row_of(workgroup), VYRE_ROW(VYRE_OP_workgroup, 0, 0), 0, 0, size.id, size.id, size.id);
  end(&f);
}

TEST(declarations_stand_at_the_top)
{
  fixture f;
  start(&f);
  vyre_row body = build_gid(&f.b);
  vyre_row test = vyre_build_if(&f.b, body);
  vyre_row in = build_gid(&f.b);
  vyre_row x = vyre_build_var(&f.b, F32); /* from deep inside */
  vyre_row y = vyre_build_buffer(&f.b, F32X3, VYRE_SPACE_UNIFORM, VYRE_ACCESS_NO_WRITE, 2, 5);
  vyre_row n = vyre_build_spec(&f.b, F32, TWO_F32, 9);
  vyre_row c = vyre_build_const(&f.b, F32, ONE_F32), d = vyre_build_const(&f.b, I32, 2);
  check_row(f.v, x, VYRE_ROW(VYRE_OP_var, F32, 0), 0, 0, 0, 0, 0);
  check_row(f.v, y, VYRE_ROW(VYRE_OP_buffer, VYRE_TYPE(VYRE_PATH, 1), 0), F32X3, VYRE_SPACE_UNIFORM | VYRE_ACCESS_NO_WRITE, 0, 0,
            0);
  check_row(f.v, n, VYRE_ROW(VYRE_OP_spec, F32, 0), TWO_F32, 0, 0, 0, 0);
  assert_int_equal(vyre_row_spec_id(f.m, n), 9);
  const vyre_opcode order[] = {VYRE_OP_const, VYRE_OP_spec,   VYRE_OP_const, VYRE_OP_const, VYRE_OP_workgroup,
                               VYRE_OP_var,   VYRE_OP_buffer, VYRE_OP_gid,   VYRE_OP_if};
  uint32_t row = f.v->first[f.program.id];
  for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++, row = f.v->next[row])
    assert_int_equal(VYRE_ROW_OP(f.v->op[row]), order[i]);
  assert_int_equal(f.v->next[c.id], d.id);
  assert_int_equal(f.v->parent[in.id], vyre_region_of(f.m, test, 0).id);
  end(&f);
}

TEST(constants_are_shared_in_their_program_alone)
{
  fixture f;
  start(&f);
  vyre_row c = vyre_build_const(&f.b, F32, ONE_F32);
  assert_int_equal(vyre_build_const(&f.b, F32, ONE_F32).id, c.id);
  assert_int_not_equal(vyre_build_const(&f.b, U32, ONE_F32).id, c.id);
  assert_int_not_equal(vyre_build_const(&f.b, F32X2, ONE_F32).id, c.id);
  vyre_row wide = vyre_build_const(&f.b, VYRE_TYPE(VYRE_U64, 1), (uint64_t)5 << 32 | 7);
  check_row(f.v, wide, VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_U64, 1), 0), 7, 5, 0, 0, 0);
  vyre_builder g;
  vyre_row other = vyre_build_program(f.m, "q", 0, 0, &g);
  vyre_row theirs = vyre_build_const(&g, F32, ONE_F32);
  assert_int_not_equal(theirs.id, c.id);
  assert_int_equal(f.v->parent[theirs.id], other.id);
  vyre_builder h = {.module = f.m}; /* finds its program when it needs it */
  vyre_builder_before(&h, row_of(f.v->last[f.program.id]));
  assert_int_equal(vyre_build_const(&h, F32, ONE_F32).id, c.id);
  end(&f);
}

TEST(changed_constants_are_not_given_out)
{
  fixture f;
  start(&f);
  enum { KINDS = 4 };
  vyre_row c[KINDS], again[KINDS];
  for (uint32_t i = 0; i < KINDS; i++)
    c[i] = vyre_build_const(&f.b, U32, 100 + i);
  vyre_row body = build_value(&f.b), behind = build_value(&f.b);
  vyre_row_rewrite(f.m, c[0], VYRE_ROW(VYRE_OP_const, U32, 0), 999, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row_kill(f.m, c[1]);
  vyre_row_move_before(f.m, c[2], behind); /* still in the program itself, but not at its top */
  vyre_row_unlink(f.m, c[3]);
  vyre_row_insert(f.m, c[3], f.program, VYRE_NONE);
  for (uint32_t i = 0; i < KINDS; i++) {
    again[i] = vyre_build_const(&f.b, U32, 100 + i);
    assert_int_not_equal(again[i].id, c[i].id);
    check_row(f.v, again[i], VYRE_ROW(VYRE_OP_const, U32, 0), 100 + i, 0, 0, 0, 0);
  }
  uint32_t map[64];
  assert_null(vyre_module_seal(f.m, map));
  for (uint32_t i = 0; i < KINDS; i++)
    assert_true(map[again[i].id] < map[body.id]);
  assert_true(map[c[2].id] > map[body.id]);
  end(&f);
}

TEST(the_top_is_found_again_after_sealing)
{
  fixture f;
  start(&f);
  vyre_row body = build_value(&f.b);
  vyre_row c = vyre_build_const(&f.b, F32, ONE_F32), x = vyre_build_var(&f.b, F32);
  vyre_row late = vyre_build(&f.b, VYRE_OP_const, F32, 0, TWO_F32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE); /* in the body */
  uint32_t map[64];
  assert_null(vyre_module_seal(f.m, map));
  vyre_builder b = {.module = f.m};
  vyre_builder_at_end(&b, row_of(map[f.program.id]));
  assert_int_equal(vyre_build_const(&b, F32, ONE_F32).id, map[c.id]);
  vyre_row two = vyre_build_const(&b, F32, TWO_F32);
  assert_int_not_equal(two.id, map[late.id]);
  assert_int_equal(f.v->prev[two.id], map[c.id]);
  vyre_row y = vyre_build_var(&b, F32);
  assert_int_equal(f.v->prev[y.id], map[x.id]);
  vyre_row_kill(f.m, row_of(map[c.id]));
  vyre_row_kill(f.m, two);
  vyre_row_kill(f.m, y);
  vyre_row_kill(f.m, row_of(map[x.id]));
  vyre_row three = vyre_build_const(&b, F32, 3), z = vyre_build_var(&b, F32);
  assert_null(vyre_module_seal(f.m, NULL));
  check_sealed(f.m);
  assert_int_equal(VYRE_ROW_OP(f.v->op[2]), VYRE_OP_const);
  (void)body;
  (void)three;
  (void)z;
  for (uint32_t row = 1, seen_body = 0; row < f.v->rows; row++) {
    uint32_t op = VYRE_ROW_OP(f.v->op[row]);
    seen_body |= op == VYRE_OP_gid;
    assert_false(seen_body && op == VYRE_OP_var);
    assert_false(seen_body && op == VYRE_OP_const && f.v->imm[row] == 3);
  }
  end(&f);
}

TEST(a_top_without_constants_begins_anew)
{
  fixture f;
  start(&f);
  vyre_build_const(&f.b, F32, ONE_F32);
  vyre_build(&f.b, VYRE_OP_neg, F32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  for (uint32_t row = f.v->first[f.program.id], next; row; row = next) {
    next = f.v->next[row];
    if (VYRE_ROW_OP(f.v->op[row]) != VYRE_OP_neg)
      vyre_row_kill(f.m, row_of(row));
  }
  assert_null(vyre_module_seal(f.m, NULL)); /* the program and neg */
  vyre_builder b = {.module = f.m};
  vyre_builder_at_end(&b, row_of(1));
  vyre_row var = vyre_build_var(&b, F32), c = vyre_build_const(&b, F32, ONE_F32);
  assert_int_equal(f.v->first[1], c.id);
  assert_int_equal(f.v->next[c.id], var.id);
  assert_int_equal(f.v->next[var.id], 2);
  end(&f);
}

/* A built-in has one row for all its users, at the top; sealing, moving and rewriting keep it that one. */
TEST(built_ins_are_one_row)
{
  fixture f;
  start(&f);
  vyre_row gid = vyre_build_invocation(&f.b, VYRE_OP_gid), lindex = vyre_build_invocation(&f.b, VYRE_OP_lindex);
  vyre_build_if(&f.b, lindex);
  assert_int_equal(vyre_build_invocation(&f.b, VYRE_OP_gid).id, gid.id);
  assert_int_equal(f.v->parent[gid.id], f.program.id);
  assert_int_equal(f.v->op[gid.id], VYRE_ROW(VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0));
  assert_int_equal(f.v->op[lindex.id], VYRE_ROW(VYRE_OP_lindex, U32, 0));
  assert_null(vyre_module_seal(f.m, NULL));
  vyre_builder b = {.module = f.m};
  vyre_builder_at_end(&b, row_of(1));
  const uint32_t rows = f.v->rows;
  vyre_row again = vyre_build_invocation(&b, VYRE_OP_lindex);
  vyre_row one = vyre_build_const(&b, F32, ONE_F32);
  assert_true(again.id < rows);
  vyre_row_rewrite(f.m, again, VYRE_ROW(VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), VYRE_ROW_RELAXED), 0, 0, VYRE_NONE, VYRE_NONE,
                   VYRE_NONE);
  assert_int_not_equal(vyre_build_invocation(&b, VYRE_OP_lindex).id, again.id);
  assert_null(vyre_module_seal(f.m, NULL));
  check_sealed(f.m);
  b = (vyre_builder){.module = f.m};
  vyre_builder_at_end(&b, row_of(1));
  vyre_build_const(&b, F32, ONE_F32); /* found after them */
  (void)one;
  assert_true(vyre_module_is_sealed(f.m));
  end(&f);
}

TEST(many_constants_are_fast)
{
  fixture f;
  start(&f);
  enum { COUNT = 300000 };
  uint32_t first = vyre_build_const(&f.b, F32, 10).id;
  for (uint32_t i = 1; i < COUNT; i++)
    assert_int_equal(vyre_build_const(&f.b, F32, 10 + i).id, first + i);
  for (uint32_t i = 0; i < COUNT; i += 2) {
    if (i % 4 == 0) {
      vyre_row_kill(f.m, row_of(first + i));
      continue;
    }
    vyre_row_unlink(f.m, row_of(first + i)); /* to where it is no longer before all */
    vyre_row_insert(f.m, row_of(first + i), f.program, VYRE_NONE);
  }
  for (uint32_t i = 0; i < COUNT; i++)
    assert_true((vyre_build_const(&f.b, F32, 10 + i).id == first + i) == (i % 2 == 1));
  vyre_builder g;
  for (uint32_t i = 0; i < 20000; i++) {
    vyre_build_program(f.m, "q", 0, 0, &g);
    uint32_t row = vyre_build_const(&g, F32, 10).id;
    assert_int_equal(row, f.v->rows - 1);
    assert_int_equal(vyre_build_const(&g, F32, 10).id, row);
  }
  assert_null(vyre_module_seal(f.m, NULL)); /* the tops are found again once, not for each constant */
  vyre_builder h = {.module = f.m};
  vyre_builder_at_end(&h, row_of(1));
  for (uint32_t i = 0; i < 30000; i++)
    assert_true(vyre_build_const(&h, F32, 0x10000000u + i).id != 0);
  end(&f);
}

TEST(right_constants_become_literals)
{
  fixture f;
  start(&f);
  vyre_row x = build_value(&f.b), seven = vyre_build_const(&f.b, U32, 7), wide = vyre_build_const(&f.b, VYRE_TYPE(VYRE_U32, 3), 7);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_sub, x, seven), VYRE_ROW(VYRE_OP_sub, U32, VYRE_ROW_IMM), 7, 0, x.id, 0, 0);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_sub, seven, x), VYRE_ROW(VYRE_OP_sub, U32, 0), 0, 0, seven.id, x.id, 0);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_ult, x, seven), VYRE_ROW(VYRE_OP_ult, BOOL, VYRE_ROW_IMM), 7, 0, x.id, 0, 0);
  vyre_row gid = build_gid(&f.b);
  vyre_type u32x3 = VYRE_TYPE(VYRE_U32, 3);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_add, gid, wide), VYRE_ROW(VYRE_OP_add, u32x3, VYRE_ROW_IMM), 7, 0, gid.id, 0, 0);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_add, gid, seven), VYRE_ROW(VYRE_OP_add, u32x3, 0), 0, 0, gid.id, seven.id, 0);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_eq, gid, gid), VYRE_ROW(VYRE_OP_eq, VYRE_TYPE(VYRE_BOOL, 3), 0), 0, 0, gid.id,
            gid.id, 0);
  check_row(f.v, vyre_build(&f.b, VYRE_OP_lane, U32, 0, 0, 0, gid, seven, VYRE_NONE), VYRE_ROW(VYRE_OP_lane, U32, VYRE_ROW_IMM), 7,
            0, gid.id, 0, 0);
  check_row(f.v, vyre_build_imm(&f.b, VYRE_OP_mul, x, (uint64_t)1 << 32 | 5), VYRE_ROW(VYRE_OP_mul, U32, VYRE_ROW_IMM), 5, 1, x.id,
            0, 0);
  check_row(f.v, vyre_build(&f.b, VYRE_OP_store, 0, 0, 0, 0, x, seven, VYRE_NONE), VYRE_ROW(VYRE_OP_store, 0, 0), 0, 0, x.id,
            seven.id, 0);
  end(&f);
}

TEST(values_have_their_types)
{
  fixture f;
  start(&f);
  vyre_row gid = build_gid(&f.b), x = vyre_build_lane(&f.b, gid, 2);
  check_row(f.v, x, VYRE_ROW(VYRE_OP_lane, U32, VYRE_ROW_IMM), 2, 0, gid.id, 0, 0);
  vyre_row floats = vyre_build_convert(&f.b, VYRE_OP_convert, F32X3, gid);
  check_row(f.v, floats, VYRE_ROW(VYRE_OP_convert, F32X3, 0), 0, 0, gid.id, 0, 0);
  check_row(f.v, vyre_build_unary(&f.b, VYRE_OP_not, gid), VYRE_ROW(VYRE_OP_not, VYRE_TYPE(VYRE_U32, 3), 0), 0, 0, gid.id, 0, 0);
  check_row(f.v, vyre_build_unary(&f.b, VYRE_OP_norm, floats), VYRE_ROW(VYRE_OP_norm, F32, 0), 0, 0, floats.id, 0, 0);
  check_row(f.v, vyre_build_binary(&f.b, VYRE_OP_dot, floats, floats), VYRE_ROW(VYRE_OP_dot, F32, 0), 0, 0, floats.id, floats.id,
            0);
  vyre_row test = vyre_build_unary(&f.b, VYRE_OP_isnan, floats);
  check_row(f.v, test, VYRE_ROW(VYRE_OP_isnan, VYRE_TYPE(VYRE_BOOL, 3), 0), 0, 0, floats.id, 0, 0);
  check_row(f.v, vyre_build_unary(&f.b, VYRE_OP_any, test), VYRE_ROW(VYRE_OP_any, BOOL, 0), 0, 0, test.id, 0, 0);
  check_row(f.v, vyre_build_select(&f.b, test, floats, floats), VYRE_ROW(VYRE_OP_select, F32X3, 0), 0, 0, test.id, floats.id,
            floats.id);
  check_row(f.v, vyre_build_barrier(&f.b, 0x1080202), VYRE_ROW(VYRE_OP_barrier, 0, 0), 0x1080202, 0, 0, 0, 0);
  end(&f);
}

TEST(joins_take_any_parts)
{
  fixture f;
  start(&f);
  vyre_row x = vyre_build_convert(&f.b, VYRE_OP_convert, F32, build_value(&f.b)), y = vyre_build_unary(&f.b, VYRE_OP_neg, x);
  vyre_row xy = vyre_build_join(&f.b, (vyre_row[]){x, y}, 2);
  check_row(f.v, xy, VYRE_ROW(VYRE_OP_join, F32X2, 0), 0, 0, x.id, y.id, 0);
  check_row(f.v, vyre_build_join(&f.b, (vyre_row[]){x, xy, y}, 3), VYRE_ROW(VYRE_OP_join, F32X4, 0), 0, 0, x.id, xy.id, y.id);
  vyre_row four = vyre_build_join(&f.b, (vyre_row[]){x, y, y, x}, 4);
  check_row(f.v, four, VYRE_ROW(VYRE_OP_join, F32X4, 0), 0, 0, f.v->a[four.id], y.id, x.id);
  check_row(f.v, row_of(f.v->a[four.id]), VYRE_ROW(VYRE_OP_join, F32X2, 0), 0, 0, x.id, y.id, 0);
  assert_int_equal(vyre_build_join(&f.b, &xy, 1).id, xy.id);
  assert_int_equal(vyre_build_join(&f.b, NULL, 0).id, 0);
  check_row(f.v, vyre_build_join(&f.b, (vyre_row[]){x, x, x}, 3), VYRE_ROW(VYRE_OP_splat, F32X3, 0), 0, 0, x.id, 0, 0);
  check_row(f.v, vyre_build_join(&f.b, (vyre_row[]){xy, xy}, 2), VYRE_ROW(VYRE_OP_join, F32X4, 0), 0, 0, xy.id, xy.id, 0);
  vyre_row c = vyre_build_const(&f.b, F32, ONE_F32), d = vyre_build_const(&f.b, F32, TWO_F32);
  check_row(f.v, vyre_build_join(&f.b, (vyre_row[]){c, c, c, c}, 4), VYRE_ROW(VYRE_OP_const, F32X4, 0), ONE_F32, 0, 0, 0, 0);
  check_row(f.v, vyre_build_join(&f.b, (vyre_row[]){c, d}, 2), VYRE_ROW(VYRE_OP_join, F32X2, 0), 0, 0, c.id, d.id, 0);
  end(&f);
}

TEST(tuples_have_any_number_of_parts)
{
  fixture f;
  start(&f);
  enum { MOST = 60 };
  vyre_row parts[MOST];
  for (uint32_t i = 0; i < MOST; i++)
    parts[i] = build_value(&f.b);
  for (uint32_t count = 0; count <= MOST; count++) {
    vyre_row tuple = vyre_build_tuple(&f.b, parts, count);
    assert_int_equal(f.v->op[tuple.id], VYRE_ROW(VYRE_OP_tuple, VYRE_TYPE(VYRE_TUPLE, 1), 0));
    assert_int_equal(f.v->imm[tuple.id], VYRE_TUPLE_OF(count, count ? U32 : 0));
    for (uint32_t k = 0; k < count; k++)
      assert_int_equal(vyre_build_part(&f.b, tuple, k, U32).id, parts[k].id);
    vyre_row beyond = vyre_build_part(&f.b, tuple, count, U32);
    check_row(f.v, beyond, VYRE_ROW(VYRE_OP_part, U32, 0), count, 0, tuple.id, 0, 0);
  }
  vyre_row mixed[] = {parts[0], build_gid(&f.b), parts[1], parts[2], parts[3]};
  vyre_row tuple = vyre_build_tuple(&f.b, mixed, 5);
  check_row(f.v, tuple, VYRE_ROW(VYRE_OP_tuple, VYRE_TYPE(VYRE_TUPLE, 1), 0), VYRE_TUPLE_OF(5, 0), 0, mixed[0].id, mixed[1].id,
            f.v->c[tuple.id]);
  assert_int_equal(f.v->imm[f.v->c[tuple.id]], VYRE_TUPLE_OF(3, U32));
  vyre_row matrix =
      vyre_build(&f.b, VYRE_OP_transpose, VYRE_TYPE(VYRE_TUPLE, 1), 0, VYRE_TUPLE_OF(2, F32X2), 0, tuple, VYRE_NONE, VYRE_NONE);
  check_row(f.v, vyre_build_part(&f.b, matrix, 1, F32X2), VYRE_ROW(VYRE_OP_part, F32X2, 0), 1, 0, matrix.id, 0, 0);
  end(&f);
}

TEST(paths_know_what_they_reach)
{
  fixture f;
  start(&f);
  vyre_type_id matrix = vyre_type_matrix(f.m, F32X3, 4, 0, false);
  const vyre_member members[] = {{0, F32X2, VYRE_OFFSET_AUTO, 0}, {0, matrix, VYRE_OFFSET_AUTO, 0}};
  vyre_type_id type = vyre_type_struct(f.m, 0, members, 2, 0);
  vyre_row buffer = vyre_build_buffer(&f.b, vyre_type_runtime_array(f.m, type, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row i = build_value(&f.b), one = vyre_build_const(&f.b, I32, 1);
  vyre_type path = VYRE_TYPE(VYRE_PATH, 1);
  vyre_row element = vyre_build_at(&f.b, buffer, i);
  check_row(f.v, element, VYRE_ROW(VYRE_OP_at, path, 0), 0, type, buffer.id, i.id, 0);
  vyre_row member = vyre_build_at(&f.b, element, one);
  check_row(f.v, member, VYRE_ROW(VYRE_OP_at, path, VYRE_ROW_IMM), 1, matrix, element.id, 0, 0);
  vyre_row column = vyre_build_at_literal(&f.b, member, 3);
  check_row(f.v, column, VYRE_ROW(VYRE_OP_at, path, VYRE_ROW_IMM), 3, F32X3, member.id, 0, 0);
  vyre_row lane = vyre_build_at(&f.b, column, i);
  check_row(f.v, lane, VYRE_ROW(VYRE_OP_at, path, 0), 0, F32, column.id, i.id, 0);
  assert_int_equal(vyre_path_type(f.m, buffer), vyre_type_runtime_array(f.m, type, 0));
  assert_int_equal(vyre_path_type(f.m, lane), F32);
  assert_int_equal(vyre_path_type(f.m, i), 0);
  assert_int_equal(vyre_path_buffer(f.m, lane).id, buffer.id);
  assert_int_equal(vyre_path_buffer(f.m, i).id, 0);
  vyre_row load = vyre_build_load(&f.b, column, VYRE_ROW_VOLATILE);
  check_row(f.v, load, VYRE_ROW(VYRE_OP_load, F32X3, VYRE_ROW_VOLATILE), 0, 0, column.id, 0, 0);
  check_row(f.v, vyre_build_store(&f.b, column, load, 0), VYRE_ROW(VYRE_OP_store, 0, 0), 0, 0, column.id, load.id, 0);
  check_row(f.v, vyre_build_unary(&f.b, VYRE_OP_length, buffer), VYRE_ROW(VYRE_OP_length, U32, 0), 0, 0, buffer.id, 0, 0);
  vyre_row var = vyre_build_var(&f.b, F32X3), get = vyre_build_get(&f.b, var);
  check_row(f.v, get, VYRE_ROW(VYRE_OP_get, F32X3, 0), 0, 0, var.id, 0, 0);
  check_row(f.v, vyre_build_set(&f.b, var, get), VYRE_ROW(VYRE_OP_set, 0, 0), 0, 0, var.id, get.id, 0);
  end(&f);
}

TEST(control_has_its_regions)
{
  fixture f;
  start(&f);
  vyre_row x = build_value(&f.b);
  vyre_row test = vyre_build_if(&f.b, x);
  check_row(f.v, test, VYRE_ROW(VYRE_OP_if, 0, 0), 0, 0, x.id, 0, 0);
  check_row(f.v, vyre_region_of(f.m, test, 0), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_THEN, 0, 0, 0, 0);
  check_row(f.v, vyre_region_of(f.m, test, 1), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_ELSE, 0, 0, 0, 0);
  vyre_row loop = vyre_build_loop(&f.b);
  assert_int_equal(f.v->parent[loop.id], vyre_region_of(f.m, test, 0).id);
  check_row(f.v, vyre_region_of(f.m, loop, 0), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_BODY, 0, 0, 0, 0);
  check_row(f.v, vyre_region_of(f.m, loop, 1), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_CONTINUING, 0, 0, 0, 0);
  vyre_builder_at_end(&f.b, vyre_region_of(f.m, loop, 1));
  vyre_row jump = vyre_build_jump(&f.b, VYRE_OP_breakif, x);
  check_row(f.v, jump, VYRE_ROW(VYRE_OP_breakif, 0, 0), 0, 0, x.id, 0, 0);
  assert_int_equal(f.v->parent[jump.id], vyre_region_of(f.m, loop, 1).id);
  vyre_builder_leave(&f.b, loop);
  vyre_row behind = build_gid(&f.b);
  assert_int_equal(f.v->prev[behind.id], loop.id);
  vyre_builder_leave(&f.b, test);
  vyre_row count = vyre_build_for(&f.b, x, x, x), body = vyre_region_of(f.m, count, 0);
  check_row(f.v, count, VYRE_ROW(VYRE_OP_for, 0, 0), 0, 0, x.id, x.id, x.id);
  check_row(f.v, body, VYRE_ROW(VYRE_OP_body, U32, 0), 0, 0, 0, 0, 0);
  assert_int_equal(f.b.region, body.id);
  vyre_row block = vyre_build_block(&f.b);
  check_row(f.v, vyre_region_of(f.m, block, 0), VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_BLOCK, 0, 0, 0, 0);
  check_row(f.v, vyre_build_jump(&f.b, VYRE_OP_leave, block), VYRE_ROW(VYRE_OP_leave, 0, 0), 0, 0, block.id, 0, 0);
  vyre_builder_leave(&f.b, count);
  vyre_row choice = vyre_build_switch(&f.b, x);
  check_row(f.v, choice, VYRE_ROW(VYRE_OP_switch, 0, 0), 0, 0, x.id, 0, 0);
  vyre_row label = vyre_build_const(&f.b, U32, 3);
  vyre_row first = vyre_build_case(&f.b, choice, label, false);
  check_row(f.v, vyre_build_jump(&f.b, VYRE_OP_fallthrough, VYRE_NONE), VYRE_ROW(VYRE_OP_fallthrough, 0, 0), 0, 0, 0, 0, 0);
  vyre_row second = vyre_build_case(&f.b, choice, VYRE_NONE, true);
  check_row(f.v, first, VYRE_ROW(VYRE_OP_case, 0, 0), 0, 0, label.id, 0, 0);
  check_row(f.v, second, VYRE_ROW(VYRE_OP_case, 0, 0), VYRE_CASE_DEFAULT, 0, 0, 0, 0);
  assert_int_equal(vyre_region_of(f.m, choice, 1).id, second.id);
  assert_int_equal(f.b.region, second.id);
  vyre_builder_before(&f.b, choice);
  vyre_row before = vyre_build_if(&f.b, x);
  vyre_builder_leave(&f.b, before);
  vyre_row between = build_gid(&f.b);
  assert_int_equal(f.v->prev[between.id], before.id);
  assert_int_equal(f.v->next[between.id], choice.id);
  end(&f);
}

TEST(rows_can_go_in_front_of_others)
{
  fixture f;
  start(&f);
  vyre_row first = build_gid(&f.b), last = build_gid(&f.b);
  vyre_builder_before(&f.b, last);
  vyre_row x = build_gid(&f.b), y = build_gid(&f.b);
  assert_true(f.v->next[first.id] == x.id && f.v->next[x.id] == y.id && f.v->next[y.id] == last.id);
  assert_int_equal(f.v->last[f.program.id], last.id);
  vyre_builder_at_end(&f.b, f.program);
  assert_int_equal(f.v->prev[build_gid(&f.b).id], last.id);
  end(&f);
}

TEST(a_builder_outside_of_programs_declares_nothing)
{
  fixture f;
  start(&f);
  vyre_row loose = build_gid(&f.b);
  vyre_row_unlink(f.m, loose);
  vyre_builder b = {.module = f.m};
  vyre_builder_before(&b, loose);
  assert_int_equal(vyre_build_const(&b, F32, 0).id, 0);
  assert_int_equal(vyre_build_spec(&b, F32, 0, 0).id, 0);
  assert_int_equal(vyre_build_var(&b, F32).id, 0);
  vyre_build_workgroup(&b, loose, loose, loose);
  assert_int_equal(f.v->first[0], f.program.id);
  assert_int_equal(f.v->last[0], f.program.id);
  end(&f);
}
