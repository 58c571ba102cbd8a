/* Edits: rewriting, operands, moving, killing, forwarding.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

typedef struct fixture {
  vyre_module *m;
  const vyre_view *v;
  vyre_builder b;
  vyre_row program, x, y; /* x, y: u32 values */
} fixture;

static void
start(fixture *f)
{
  f->m = new_module();
  f->v = vyre_module_view(f->m);
  f->program = vyre_build_program(f->m, "p", 0, 0, &f->b);
  f->x = build_value(&f->b);
  f->y = build_value(&f->b);
}

static bool
has_literal(const vyre_view *v, vyre_row row, uint32_t imm)
{
  return (VYRE_ROW_FLAGS(v->op[row.id]) & VYRE_ROW_IMM) != 0 && v->b[row.id] == 0 && v->imm[row.id] == imm &&
         v->imm_hi[row.id] == 0;
}

TEST(operands_that_become_constants_become_literals)
{
  fixture f;
  start(&f);
  vyre_row seven = vyre_build_const(&f.b, U32, 7), f32_one = vyre_build_const(&f.b, F32, ONE_F32);
  vyre_row sum = vyre_build_binary(&f.b, VYRE_OP_add, f.x, f.y);
  vyre_row_set_operand(f.m, sum, 1, seven);
  assert_true(has_literal(f.v, sum, 7));
  vyre_row_set_operand(f.m, sum, 1, f.y); /* and back */
  assert_int_equal(f.v->op[sum.id], VYRE_ROW(VYRE_OP_add, U32, 0));
  assert_int_equal(f.v->b[sum.id], f.y.id);
  assert_int_equal(f.v->imm[sum.id], 0);
  vyre_row_set_operand(f.m, sum, 0, seven); /* left operands stay rows */
  assert_int_equal(f.v->a[sum.id], seven.id);
  vyre_row_set_operand(f.m, sum, 0, f.x);
  vyre_row_set_operand(f.m, sum, 1, f32_one); /* not of the right type: stays, for the verifier to see */
  assert_int_equal(f.v->b[sum.id], f32_one.id);
  vyre_row_rewrite(f.m, sum, VYRE_ROW(VYRE_OP_mul, U32, VYRE_ROW_EXACT), 0, 0, f.x, seven, VYRE_NONE);
  assert_true(has_literal(f.v, sum, 7));
  assert_int_equal(VYRE_ROW_FLAGS(f.v->op[sum.id]), VYRE_ROW_IMM | VYRE_ROW_EXACT);
  vyre_row_rewrite(f.m, sum, VYRE_ROW(VYRE_OP_fma, F32, 0), 8, 9, f.x, f.y, f32_one);
  assert_true(f.v->op[sum.id] == VYRE_ROW(VYRE_OP_fma, F32, 0) && f.v->imm[sum.id] == 8 && f.v->imm_hi[sum.id] == 9);
  assert_true(f.v->a[sum.id] == f.x.id && f.v->b[sum.id] == f.y.id && f.v->c[sum.id] == f32_one.id);
  const uint32_t decoration[] = {42, 0};
  uint32_t words;
  vyre_row_set_decorations(f.m, sum, decoration, 2);
  vyre_row_rewrite(f.m, sum, f.v->op[sum.id], 8, 9, f.x, f.y, f32_one); /* still decorated */
  assert_non_null(vyre_row_decorations(f.m, sum, &words));
  vyre_row_rewrite(f.m, sum, VYRE_ROW(VYRE_OP_fma, F32, 0), 8, 9, f.x, f.y, f32_one); /* without the flag without them */
  assert_null(vyre_row_decorations(f.m, sum, &words));
  vyre_row both = vyre_build_join(&f.b, (vyre_row[]){f.x, f.y}, 2);
  vyre_row_set_operand(f.m, both, 1, seven); /* join takes none */
  assert_int_equal(f.v->b[both.id], seven.id);
  vyre_row_set_operand(f.m, sum, 3, seven); /* there is none */
  vyre_row_set_operand(f.m, VYRE_NONE, 0, seven);
  assert_int_equal(f.v->a[0], 0);
  vyre_row_rewrite(f.m, VYRE_NONE, VYRE_ROW(VYRE_OP_gid, U32, 0), 1, 1, f.x, f.x, f.x);
  assert_int_equal(f.v->op[0] | f.v->a[0] | f.v->imm[0], 0);
  vyre_module_destroy(f.m);
}

TEST(paths_keep_their_type)
{
  fixture f;
  start(&f);
  vyre_row five = vyre_build_const(&f.b, I32, 5), wide = vyre_build_const(&f.b, VYRE_TYPE(VYRE_U64, 1), 5);
  vyre_row buffer = vyre_build_buffer(&f.b, vyre_type_runtime_array(f.m, F32X4, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row at = vyre_build_at(&f.b, buffer, f.x);
  assert_int_equal(f.v->imm_hi[at.id], F32X4);
  vyre_row_set_operand(f.m, at, 1, five); /* i32 counts as an index */
  assert_int_equal(f.v->imm[at.id], 5);
  assert_int_equal(f.v->imm_hi[at.id], F32X4);
  assert_int_equal(VYRE_ROW_FLAGS(f.v->op[at.id]), VYRE_ROW_IMM);
  vyre_row_set_operand(f.m, at, 1, f.y);
  assert_int_equal(f.v->imm_hi[at.id], F32X4);
  assert_int_equal(f.v->imm[at.id], 0);
  vyre_row_set_operand(f.m, at, 1, wide);
  assert_int_equal(f.v->b[at.id], wide.id);
  assert_int_equal(vyre_row_right_type(f.m, VYRE_ROW(VYRE_OP_at, VYRE_TYPE(VYRE_PATH, 1), 0), buffer), U32);
  vyre_module_destroy(f.m);
}

TEST(right_types_are_those_of_the_left)
{
  fixture f;
  start(&f);
  assert_int_equal(vyre_row_right_type(f.m, VYRE_ROW(VYRE_OP_add, U32, 0), f.x), U32);
  assert_int_equal(vyre_row_right_type(f.m, VYRE_ROW(VYRE_OP_ult, BOOL, 0), f.x), U32);
  vyre_row floats = vyre_build_const(&f.b, F32X4, ONE_F32);
  assert_int_equal(vyre_row_right_type(f.m, VYRE_ROW(VYRE_OP_mul, F32X4, 0), floats), F32X4);
  assert_int_equal(vyre_row_right_type(f.m, VYRE_ROW(VYRE_OP_lane, F32, 0), floats), U32);
  assert_int_equal(vyre_row_right_type(f.m, VYRE_ROW(VYRE_OP_select, U32, 0), f.x), VYRE_VOID);
  assert_int_equal(vyre_row_right_type(f.m, 0xffffu, f.x), VYRE_VOID);
  vyre_module_destroy(f.m);
}

TEST(rows_are_unlinked_and_put_back)
{
  fixture f;
  start(&f);
  vyre_row test = vyre_build_if(&f.b, f.x);
  vyre_row in = build_gid(&f.b), last = build_gid(&f.b);
  vyre_row then = vyre_region_of(f.m, test, 0), other = vyre_region_of(f.m, test, 1);
  uint32_t all = check_links(f.m);
  vyre_row_unlink(f.m, test);
  assert_int_equal(check_links(f.m), all - 5);
  assert_int_equal(f.v->parent[test.id] | f.v->prev[test.id] | f.v->next[test.id], 0);
  vyre_row_unlink(f.m, test); /* twice is once */
  assert_int_equal(check_links(f.m), all - 5);
  vyre_row_insert(f.m, test, f.program, f.y);
  assert_int_equal(check_links(f.m), all);
  assert_int_equal(f.v->next[test.id], f.y.id);
  vyre_row_unlink(f.m, in);
  assert_int_equal(f.v->first[then.id], last.id);
  vyre_row_insert(f.m, in, other, VYRE_NONE);
  assert_int_equal(f.v->first[other.id], in.id);
  assert_int_equal(f.v->last[other.id], in.id);
  vyre_row_move_before(f.m, in, last);
  assert_int_equal(f.v->first[other.id] | f.v->last[other.id], 0);
  assert_int_equal(f.v->first[then.id], in.id);
  vyre_row_move_before(f.m, in, in);
  vyre_row_move_before(f.m, in, VYRE_NONE);
  assert_int_equal(f.v->first[then.id], in.id);
  assert_int_equal(check_links(f.m), all);
  assert_false(vyre_module_is_sealed(f.m));
  vyre_row_unlink(f.m, VYRE_NONE);
  vyre_row_insert(f.m, VYRE_NONE, then, VYRE_NONE);
  vyre_row_kill(f.m, VYRE_NONE);
  assert_int_equal(check_links(f.m), all);
  vyre_module_destroy(f.m);
}

TEST(killing_kills_what_is_inside)
{
  fixture f;
  start(&f);
  uint32_t all = check_links(f.m);
  vyre_row loop = vyre_build_loop(&f.b);
  vyre_row deepest = loop;
  for (int i = 0; i < 100000; i++) /* deeper than any stack */
    deepest = vyre_build_block(&f.b);
  vyre_row in = build_gid(&f.b);
  vyre_builder_at_end(&f.b, f.program);
  vyre_row behind = build_gid(&f.b);
  vyre_row_kill(f.m, loop);
  assert_int_equal(f.v->op[loop.id] | f.v->op[deepest.id] | f.v->op[in.id], 0);
  assert_int_not_equal(f.v->op[behind.id], 0);
  assert_int_equal(check_links(f.m), all + 1);
  assert_null(vyre_module_seal(f.m, NULL));
  assert_int_equal(f.v->rows, all + 2);
  check_sealed(f.m);
  vyre_module_destroy(f.m);
}

TEST(forwarding_follows_chains)
{
  fixture f;
  start(&f);
  vyre_row seven = vyre_build_const(&f.b, U32, 7);
  vyre_type_id type = vyre_type_array(f.m, F32, 0, f.y, 0);
  vyre_row chain[4] = {build_value(&f.b), build_value(&f.b), build_value(&f.b), build_value(&f.b)};
  vyre_row sum = vyre_build_binary(&f.b, VYRE_OP_add, chain[3], chain[1]);
  vyre_row select = vyre_build_select(&f.b, chain[0], chain[2], f.y);
  vyre_row test = vyre_build_if(&f.b, chain[2]);
  vyre_builder_leave(&f.b, test);
  vyre_row diff = vyre_build_binary(&f.b, VYRE_OP_sub, f.x, f.y);
  vyre_row literal = vyre_build_imm(&f.b, VYRE_OP_sub, f.y, 3);
  uint32_t fwd[64];
  for (uint32_t row = 0; row < 64; row++)
    fwd[row] = row;
  for (int i = 1; i < 4; i++)
    fwd[chain[i].id] = chain[i - 1].id;
  fwd[chain[0].id] = f.x.id;
  fwd[f.y.id] = seven.id;
  vyre_module_forward(f.m, fwd);
  assert_int_equal(f.v->a[sum.id], f.x.id);
  assert_int_equal(f.v->b[sum.id], f.x.id);
  assert_int_equal(f.v->a[select.id], f.x.id);
  assert_int_equal(f.v->c[select.id], seven.id); /* select takes no literal */
  assert_int_equal(f.v->a[test.id], f.x.id);
  assert_true(has_literal(f.v, diff, 7));
  assert_true(has_literal(f.v, literal, 3));
  assert_int_equal(f.v->a[literal.id], seven.id);
  assert_int_equal(vyre_type_get(f.m, type).count_row, seven.id);
  assert_int_equal(fwd[chain[3].id], f.x.id);
  vyre_module_destroy(f.m);
}

TEST(forwarding_is_linear_and_survives_nonsense)
{
  fixture f;
  start(&f);
  enum { COUNT = 200000 };
  uint32_t first = build_gid(&f.b).id;
  for (int i = 1; i < COUNT; i++)
    build_gid(&f.b);
  vyre_row user = vyre_build_select(&f.b, row_of(first), row_of(first + COUNT / 2), row_of(first + COUNT - 1));
  uint32_t *fwd = test_malloc(f.v->rows * sizeof(*fwd));
  for (int down = 0; down < 2; down++) { /* one chain through all, in both directions */
    for (uint32_t row = 0; row < f.v->rows; row++)
      fwd[row] = row;
    for (uint32_t row = first; row + 1 < first + COUNT; row++)
      fwd[down ? row + 1 : row] = down ? row : row + 1;
    vyre_row_rewrite(f.m, user, f.v->op[user.id], 0, 0, row_of(first), row_of(first + COUNT / 2), row_of(first + COUNT - 1));
    vyre_module_forward(f.m, fwd);
    uint32_t end = down ? first : first + COUNT - 1;
    assert_true(f.v->a[user.id] == end && f.v->b[user.id] == end && f.v->c[user.id] == end);
  }
  for (uint32_t row = 0; row < f.v->rows; row++)
    fwd[row] = UINT32_MAX - row; /* no rows: nothing is forwarded */
  vyre_module_forward(f.m, fwd);
  assert_int_equal(f.v->a[user.id], first);
  for (uint32_t row = 0; row < f.v->rows; row++)
    fwd[row] = row;
  fwd[first] = first + 1; /* a cycle ends somewhere in it */
  fwd[first + 1] = first;
  vyre_module_forward(f.m, fwd);
  assert_true(f.v->a[user.id] == first || f.v->a[user.id] == first + 1);
  test_free(fwd);
  vyre_module_destroy(f.m);
}

TEST(walking_stays_under_its_root)
{
  fixture f;
  start(&f);
  vyre_row test = vyre_build_if(&f.b, f.x);
  vyre_row in = build_gid(&f.b);
  vyre_builder_leave(&f.b, test);
  build_gid(&f.b);
  vyre_row then = vyre_region_of(f.m, test, 0), other = vyre_region_of(f.m, test, 1);
  assert_int_equal(vyre_row_after(f.v, test.id, test.id), then.id);
  assert_int_equal(vyre_row_after(f.v, then.id, test.id), in.id);
  assert_int_equal(vyre_row_after(f.v, in.id, test.id), other.id);
  assert_int_equal(vyre_row_after(f.v, other.id, test.id), 0);
  assert_int_equal(vyre_row_after(f.v, in.id, in.id), 0);
  assert_int_equal(vyre_region_of(f.m, test, 2).id, 0);
  vyre_module_destroy(f.m);
}
