/* Edits: rewriting, operands, moving, killing, forwarding.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "program_test.h"

static vyre_row x, y; /* u32 values of the program */

static int
make_values(void **state)
{
  make_program(state);
  x = build_value(&b);
  y = build_value(&b);
  return 0;
}

#define EDIT_TEST(name) TEST_WITH(name, make_values, end_module)

static bool
has_literal(vyre_row row, uint32_t imm)
{
  return (VYRE_ROW_FLAGS(v->op[row.id]) & VYRE_ROW_IMM) != 0 && v->b[row.id] == 0 && v->imm[row.id] == imm &&
         v->imm_hi[row.id] == 0;
}

EDIT_TEST(operands_that_become_constants_become_literals)
{
  vyre_row seven = vyre_build_const(&b, U32, 7), f32_one = vyre_build_const(&b, F32, ONE_F32);
  vyre_row sum = vyre_build_binary(&b, VYRE_OP_add, x, y);
  vyre_row_set_operand(m, sum, 1, seven);
  assert_true(has_literal(sum, 7));
  vyre_row_set_operand(m, sum, 1, y); /* and back */
  assert_int_equal(v->op[sum.id], VYRE_ROW(VYRE_OP_add, U32, 0));
  assert_int_equal(v->b[sum.id], y.id);
  assert_int_equal(v->imm[sum.id], 0);
  vyre_row_set_operand(m, sum, 0, seven); /* left operands do not become literals */
  assert_int_equal(v->a[sum.id], seven.id);
  vyre_row_set_operand(m, sum, 0, x);
  vyre_row_set_operand(m, sum, 1, f32_one); /* a constant of the wrong type stays an operand, which the verifier reports */
  assert_int_equal(v->b[sum.id], f32_one.id);
  vyre_row_rewrite(m, sum, VYRE_ROW(VYRE_OP_mul, U32, VYRE_ROW_EXACT), 0, 0, x, seven, VYRE_NONE);
  assert_true(has_literal(sum, 7));
  assert_int_equal(VYRE_ROW_FLAGS(v->op[sum.id]), VYRE_ROW_IMM | VYRE_ROW_EXACT);
  vyre_row_rewrite(m, sum, VYRE_ROW(VYRE_OP_fma, F32, 0), 8, 9, x, y, f32_one);
  assert_true(v->op[sum.id] == VYRE_ROW(VYRE_OP_fma, F32, 0) && v->imm[sum.id] == 8 && v->imm_hi[sum.id] == 9);
  assert_true(v->a[sum.id] == x.id && v->b[sum.id] == y.id && v->c[sum.id] == f32_one.id);
  const uint32_t decoration[] = {42, 0};
  uint32_t words;
  vyre_row_set_decorations(m, sum, decoration, 2);
  vyre_row_rewrite(m, sum, v->op[sum.id], 8, 9, x, y, f32_one); /* keeps the flag and the decorations */
  assert_non_null(vyre_row_decorations(m, sum, &words));
  vyre_row_rewrite(m, sum, VYRE_ROW(VYRE_OP_fma, F32, 0), 8, 9, x, y, f32_one); /* drops both */
  assert_null(vyre_row_decorations(m, sum, &words));
  vyre_row both = vyre_build_join(&b, (vyre_row[]){x, y}, 2);
  vyre_row_set_operand(m, both, 1, seven); /* join accepts no literal */
  assert_int_equal(v->b[both.id], seven.id);
  vyre_row_set_operand(m, sum, 3, seven); /* no such operand */
  vyre_row_set_operand(m, VYRE_NONE, 0, seven);
  assert_int_equal(v->a[0], 0);
  vyre_row_rewrite(m, VYRE_NONE, VYRE_ROW(VYRE_OP_gid, U32, 0), 1, 1, x, x, x);
  assert_int_equal(v->op[0] | v->a[0] | v->imm[0], 0);
}

EDIT_TEST(paths_keep_their_type)
{
  vyre_row five = vyre_build_const(&b, I32, 5), wide = vyre_build_const(&b, VYRE_TYPE(VYRE_U64, 1), 5);
  vyre_row buffer = vyre_build_buffer(&b, vyre_type_runtime_array(m, F32X4, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row at = vyre_build_at(&b, buffer, x);
  assert_int_equal(v->imm_hi[at.id], F32X4);
  vyre_row_set_operand(m, at, 1, five); /* an i32 is a valid index */
  assert_int_equal(v->imm[at.id], 5);
  assert_int_equal(v->imm_hi[at.id], F32X4);
  assert_int_equal(VYRE_ROW_FLAGS(v->op[at.id]), VYRE_ROW_IMM);
  vyre_row_set_operand(m, at, 1, y);
  assert_int_equal(v->imm_hi[at.id], F32X4);
  assert_int_equal(v->imm[at.id], 0);
  vyre_row_set_operand(m, at, 1, wide);
  assert_int_equal(v->b[at.id], wide.id);
  assert_int_equal(vyre_row_right_type(m, VYRE_ROW(VYRE_OP_at, VYRE_TYPE(VYRE_PATH, 1), 0), buffer), U32);
}

EDIT_TEST(the_right_type_follows_from_the_left_operand)
{
  assert_int_equal(vyre_row_right_type(m, VYRE_ROW(VYRE_OP_add, U32, 0), x), U32);
  assert_int_equal(vyre_row_right_type(m, VYRE_ROW(VYRE_OP_ult, BOOL, 0), x), U32);
  vyre_row floats = vyre_build_const(&b, F32X4, ONE_F32);
  assert_int_equal(vyre_row_right_type(m, VYRE_ROW(VYRE_OP_mul, F32X4, 0), floats), F32X4);
  assert_int_equal(vyre_row_right_type(m, VYRE_ROW(VYRE_OP_lane, F32, 0), floats), U32);
  assert_int_equal(vyre_row_right_type(m, VYRE_ROW(VYRE_OP_select, U32, 0), x), VYRE_VOID);
  assert_int_equal(vyre_row_right_type(m, 0xffffu, x), VYRE_VOID);
}

EDIT_TEST(unlinked_rows_can_be_inserted_again)
{
  vyre_row test = vyre_build_if(&b, x);
  vyre_row in = build_gid(&b), last = build_gid(&b);
  vyre_row then = vyre_region_of(m, test, 0), other = vyre_region_of(m, test, 1);
  uint32_t all = check_links(m);
  vyre_row_unlink(m, test);
  assert_int_equal(check_links(m), all - 5);
  assert_int_equal(v->parent[test.id] | v->prev[test.id] | v->next[test.id], 0);
  vyre_row_unlink(m, test); /* a second unlink has no effect */
  assert_int_equal(check_links(m), all - 5);
  vyre_row_insert(m, test, program, y);
  assert_int_equal(check_links(m), all);
  assert_int_equal(v->next[test.id], y.id);
  vyre_row_unlink(m, in);
  assert_int_equal(v->first[then.id], last.id);
  vyre_row_insert(m, in, other, VYRE_NONE);
  assert_int_equal(v->first[other.id], in.id);
  assert_int_equal(v->last[other.id], in.id);
  vyre_row_move_before(m, in, last);
  assert_int_equal(v->first[other.id] | v->last[other.id], 0);
  assert_int_equal(v->first[then.id], in.id);
  vyre_row_move_before(m, in, in);
  vyre_row_move_before(m, in, VYRE_NONE);
  assert_int_equal(v->first[then.id], in.id);
  assert_int_equal(check_links(m), all);
  assert_false(vyre_module_is_sealed(m));
  vyre_row_unlink(m, VYRE_NONE);
  vyre_row_insert(m, VYRE_NONE, then, VYRE_NONE);
  vyre_row_kill(m, VYRE_NONE);
  assert_int_equal(check_links(m), all);
}

EDIT_TEST(rows_move_with_the_rows_after_them)
{
  vyre_row test = vyre_build_if(&b, x);
  vyre_row rows[4] = {build_gid(&b), build_gid(&b), build_gid(&b), build_gid(&b)};
  vyre_row then = vyre_region_of(m, test, 0), other = vyre_region_of(m, test, 1);
  uint32_t all = check_links(m);
  vyre_rows_move(m, rows[2], other, VYRE_NONE); /* 0 1 | 2 3 */
  assert_int_equal(v->last[then.id], rows[1].id);
  assert_int_equal(v->first[other.id], rows[2].id);
  assert_int_equal(v->last[other.id], rows[3].id);
  vyre_rows_move(m, rows[0], other, rows[3]); /* | 2 0 1 3 */
  assert_int_equal(v->first[then.id] | v->last[then.id], 0);
  assert_int_equal(v->next[rows[2].id], rows[0].id);
  assert_int_equal(v->next[rows[1].id], rows[3].id);
  assert_int_equal(check_links(m), all);
  vyre_rows_move(m, rows[1], program, test); /* before the if: 1 3 */
  assert_int_equal(v->prev[test.id], rows[3].id);
  assert_int_equal(v->last[other.id], rows[0].id);
  assert_int_equal(check_links(m), all);
  vyre_rows_move(m, VYRE_NONE, then, VYRE_NONE);
  assert_int_equal(check_links(m), all);
  assert_false(vyre_module_is_sealed(m));
}

EDIT_TEST(killing_a_construct_kills_the_rows_in_it)
{
  uint32_t all = check_links(m);
  vyre_row loop = vyre_build_loop(&b);
  vyre_row deepest = loop;
  for (int i = 0; i < 100000; i++) /* deeper than any stack */
    deepest = vyre_build_block(&b);
  vyre_row in = build_gid(&b);
  vyre_builder_at_end(&b, program);
  vyre_row behind = build_gid(&b);
  vyre_row_kill(m, loop);
  assert_int_equal(v->op[loop.id] | v->op[deepest.id] | v->op[in.id], 0);
  assert_int_not_equal(v->op[behind.id], 0);
  assert_int_equal(check_links(m), all + 1);
  assert_null(vyre_module_seal(m, NULL));
  assert_int_equal(v->rows, all + 2);
  check_sealed(m);
}

EDIT_TEST(forwarding_follows_chains)
{
  vyre_row seven = vyre_build_const(&b, U32, 7);
  vyre_type_id type = vyre_type_array(m, F32, 0, y, 0);
  vyre_row chain[4] = {build_value(&b), build_value(&b), build_value(&b), build_value(&b)};
  vyre_row sum = vyre_build_binary(&b, VYRE_OP_add, chain[3], chain[1]);
  vyre_row select = vyre_build_select(&b, chain[0], chain[2], y);
  vyre_row test = vyre_build_if(&b, chain[2]);
  vyre_builder_leave(&b, test);
  vyre_row diff = vyre_build_binary(&b, VYRE_OP_sub, x, y);
  vyre_row literal = vyre_build_imm(&b, VYRE_OP_sub, y, 3);
  uint32_t fwd[64];
  for (uint32_t row = 0; row < 64; row++)
    fwd[row] = row;
  for (int i = 1; i < 4; i++)
    fwd[chain[i].id] = chain[i - 1].id;
  fwd[chain[0].id] = x.id;
  fwd[y.id] = seven.id;
  vyre_module_forward(m, fwd);
  assert_int_equal(v->a[sum.id], x.id);
  assert_int_equal(v->b[sum.id], x.id);
  assert_int_equal(v->a[select.id], x.id);
  assert_int_equal(v->c[select.id], seven.id); /* select accepts no literal */
  assert_int_equal(v->a[test.id], x.id);
  assert_true(has_literal(diff, 7));
  assert_true(has_literal(literal, 3));
  assert_int_equal(v->a[literal.id], seven.id);
  assert_int_equal(vyre_type_get(m, type).count_row, seven.id);
  assert_int_equal(fwd[chain[3].id], x.id);
}

EDIT_TEST(forwarding_is_linear_and_ignores_invalid_rows)
{
  enum { COUNT = 200000 };
  uint32_t first = build_gid(&b).id;
  for (int i = 1; i < COUNT; i++)
    build_gid(&b);
  vyre_row user = vyre_build_select(&b, row_of(first), row_of(first + COUNT / 2), row_of(first + COUNT - 1));
  uint32_t *fwd = test_malloc(v->rows * sizeof(*fwd));
  for (int down = 0; down < 2; down++) { /* one chain through all rows, in both directions */
    for (uint32_t row = 0; row < v->rows; row++)
      fwd[row] = row;
    for (uint32_t row = first; row + 1 < first + COUNT; row++)
      fwd[down ? row + 1 : row] = down ? row : row + 1;
    vyre_row_rewrite(m, user, v->op[user.id], 0, 0, row_of(first), row_of(first + COUNT / 2), row_of(first + COUNT - 1));
    vyre_module_forward(m, fwd);
    uint32_t end = down ? first : first + COUNT - 1;
    assert_true(v->a[user.id] == end && v->b[user.id] == end && v->c[user.id] == end);
  }
  for (uint32_t row = 0; row < v->rows; row++)
    fwd[row] = UINT32_MAX - row; /* not rows: ignored */
  vyre_module_forward(m, fwd);
  assert_int_equal(v->a[user.id], first);
  for (uint32_t row = 0; row < v->rows; row++)
    fwd[row] = row;
  fwd[first] = first + 1; /* a cycle is followed to one of its rows */
  fwd[first + 1] = first;
  vyre_module_forward(m, fwd);
  assert_true(v->a[user.id] == first || v->a[user.id] == first + 1);
  test_free(fwd);
}

EDIT_TEST(walking_stays_under_its_root)
{
  vyre_row test = vyre_build_if(&b, x);
  vyre_row in = build_gid(&b);
  vyre_builder_leave(&b, test);
  build_gid(&b);
  vyre_row then = vyre_region_of(m, test, 0), other = vyre_region_of(m, test, 1);
  assert_int_equal(vyre_row_after(v, test.id, test.id), then.id);
  assert_int_equal(vyre_row_after(v, then.id, test.id), in.id);
  assert_int_equal(vyre_row_after(v, in.id, test.id), other.id);
  assert_int_equal(vyre_row_after(v, other.id, test.id), 0);
  assert_int_equal(vyre_row_after(v, in.id, in.id), 0);
  assert_int_equal(vyre_region_of(m, test, 2).id, 0);
}
