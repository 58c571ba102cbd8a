/* The journal: which rows were edited behind a mark, what went, and what is left of it behind a seal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir_test.h"

typedef struct fixture {
  vyre_module *m;
  vyre_builder b;
  vyre_row x, y, sum, product;
} fixture;

static void
start(fixture *f)
{
  f->m = new_module();
  vyre_build_program(f->m, "p", 0, 0, &f->b);
  f->x = build_value(&f->b);
  f->y = build_value(&f->b);
  f->sum = vyre_build_binary(&f->b, VYRE_OP_add, f->x, f->y);
  f->product = vyre_build_binary(&f->b, VYRE_OP_mul, f->sum, f->y);
  assert_null(vyre_module_seal(f->m, NULL));
}

static void
expect(const vyre_module *m, uint32_t mark, uint32_t own, const uint32_t *rows, uint32_t count, uint32_t kinds)
{
  vyre_edits edits;
  vyre_module_journal_read(m, mark, &edits);
  assert_int_equal(edits.struct_size, sizeof edits);
  assert_int_equal(edits.own, own);
  assert_int_equal(edits.count, count);
  assert_int_equal(edits.kinds, kinds);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(edits.rows[i], rows[i]);
}

static void
edits_stand_behind_their_marks(void **state)
{
  fixture f;
  (void)state;
  start(&f);
  vyre_row_set_operand(f.m, f.sum, 0, f.y); /* nobody has asked for it yet */
  assert_int_equal(vyre_module_journal_mark(f.m), 1);
  vyre_row_set_operand(f.m, f.sum, 0, f.x);
  vyre_row_set_operand(f.m, f.sum, 1, f.x); /* twice in a row is once */
  assert_int_equal(vyre_module_journal_mark(f.m), 2);
  vyre_row_rewrite(f.m, f.product, VYRE_ROW(VYRE_OP_sub, U32, 0), 0, 0, f.sum, f.y, VYRE_NONE);
  vyre_row_set_operand(f.m, f.sum, 1, f.y);
  expect(f.m, 1, 1, (uint32_t[]){f.sum.id, f.product.id, f.sum.id}, 3, 0);
  expect(f.m, 2, 2, (uint32_t[]){f.product.id, f.sum.id}, 2, 0);
  expect(f.m, 0, 0, NULL, 0, 0); /* no marks */
  expect(f.m, 3, 0, NULL, 0, 0);
  vyre_module_destroy(f.m);
}

static void
forwarding_notes_who_was_changed(void **state)
{
  fixture f;
  uint32_t forward[16];
  (void)state;
  start(&f);
  vyre_module_journal_mark(f.m);
  for (uint32_t i = 0; i < 16; i++)
    forward[i] = i;
  forward[f.sum.id] = f.x.id;
  vyre_module_forward(f.m, forward);
  expect(f.m, 1, 1, (uint32_t[]){f.product.id}, 1, 0);
  vyre_module_destroy(f.m);
}

static void
what_moves_and_goes_has_a_kind(void **state)
{
  fixture f;
  vyre_edits edits;
  (void)state;
  start(&f);
  vyre_builder_before(&f.b, f.product);
  vyre_row buffer = vyre_build_buffer(&f.b, vyre_type_runtime_array(f.m, U32, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row var = vyre_build_var(&f.b, U32), set = vyre_build_set(&f.b, var, f.x), get = vyre_build_get(&f.b, var);
  vyre_row at = vyre_build_at(&f.b, buffer, f.x), store = vyre_build_store(&f.b, at, f.y, 0);
  vyre_row test = vyre_build_if(&f.b, vyre_build_binary(&f.b, VYRE_OP_ult, f.x, f.y));
  assert_null(vyre_module_status(f.m));
  const struct {
    vyre_row row;
    uint32_t kind;
  } cases[] = {{test, VYRE_EDIT_GONE_CONTROL},
               {store, VYRE_EDIT_GONE_WRITE},
               {at, VYRE_EDIT_GONE_VALUE},
               {get, VYRE_EDIT_GONE_READ},
               {set, VYRE_EDIT_GONE_SET}};
  const uint32_t before = vyre_module_journal_mark(f.m);
  uint32_t all = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const uint32_t mark = vyre_module_journal_mark(f.m);
    vyre_row_kill(f.m, cases[i].row);
    all |= cases[i].kind;
    vyre_module_journal_read(f.m, mark, &edits);
    assert_int_equal(edits.own_kinds, cases[i].kind);
    assert_int_equal(edits.kinds, 0); /* by others */
    expect(f.m, before, 0, NULL, 0, all);
  }
  uint32_t mark = vyre_module_journal_mark(f.m);
  vyre_build_const(&f.b, U32, 77);
  vyre_module_journal_read(f.m, mark, &edits);
  assert_int_equal(edits.own_kinds, VYRE_EDIT_MOVED_VALUE);
  assert_int_equal(edits.count, 0); /* a literal changes nothing but that it is there */
  mark = vyre_module_journal_mark(f.m);
  vyre_row_move_before(f.m, f.product, f.sum);
  vyre_module_journal_read(f.m, mark, &edits);
  assert_int_equal(edits.own_kinds, VYRE_EDIT_MOVED_VALUE);
  assert_int_equal(edits.rows[0], f.product.id);
  vyre_module_journal_mark(f.m);
  vyre_builder_before(&f.b, f.product);
  vyre_row stop = vyre_build_barrier(&f.b, VYRE_ORDER(2, 2, 0x108)), made = build_gid(&f.b);
  expect(f.m, mark, 1, (uint32_t[]){f.product.id, stop.id, made.id}, 3, VYRE_EDIT_MOVED_EFFECT | VYRE_EDIT_MOVED_VALUE);
  mark = vyre_module_journal_mark(f.m);
  vyre_build_if(&f.b, made);
  vyre_module_journal_note(f.m, VYRE_EDIT_VERSIONS);
  vyre_module_journal_read(f.m, mark, &edits);
  assert_int_equal(edits.own_kinds, VYRE_EDIT_MOVED_CONTROL | VYRE_EDIT_VERSIONS);
  vyre_module_destroy(f.m);
}

static void
expect_rewritten(vyre_module *m, vyre_row row, uint32_t op, uint32_t kinds)
{
  vyre_edits edits;
  const uint32_t mark = vyre_module_journal_mark(m);
  const uint32_t a = vyre_module_view(m)->a[row.id];
  vyre_row_rewrite(m, row, op, 0, 0, (vyre_row){a}, VYRE_NONE, VYRE_NONE);
  vyre_module_journal_read(m, mark, &edits);
  assert_int_equal(edits.count, 1);
  assert_int_equal(edits.rows[0], row.id);
  assert_int_equal(edits.own_kinds, kinds);
}

/* What a row was is gone where it becomes one of another kind. */
static void
a_row_of_another_kind_replaces_what_it_was(void **state)
{
  fixture f;
  (void)state;
  start(&f);
  vyre_builder_before(&f.b, f.product);
  vyre_row buffer = vyre_build_buffer(&f.b, vyre_type_runtime_array(f.m, U32, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row var = vyre_build_var(&f.b, U32), set = vyre_build_set(&f.b, var, f.x), at = vyre_build_at(&f.b, buffer, f.x);
  vyre_row store = vyre_build_store(&f.b, at, f.y, 0), load = vyre_build_load(&f.b, at, 0);
  vyre_row loop = vyre_build_loop(&f.b);
  expect_rewritten(f.m, f.sum, VYRE_ROW(VYRE_OP_not, U32, 0), 0);
  expect_rewritten(f.m, load, VYRE_ROW(VYRE_OP_not, U32, 0), VYRE_EDIT_GONE_READ | VYRE_EDIT_MOVED_VALUE);
  expect_rewritten(f.m, store, VYRE_ROW(VYRE_OP_not, U32, 0), VYRE_EDIT_GONE_WRITE | VYRE_EDIT_MOVED_VALUE);
  expect_rewritten(f.m, set, VYRE_ROW(VYRE_OP_store, VYRE_VOID, 0), VYRE_EDIT_GONE_SET | VYRE_EDIT_MOVED_EFFECT);
  expect_rewritten(f.m, loop, VYRE_ROW(VYRE_OP_loop, VYRE_VOID, 0), 0);
  expect_rewritten(f.m, loop, VYRE_ROW(VYRE_OP_block, VYRE_VOID, 0), VYRE_EDIT_GONE_CONTROL | VYRE_EDIT_MOVED_CONTROL);
  vyre_module_destroy(f.m);
}

/* A load that begins a state is a write. */
static void
a_volatile_or_coherent_load_is_a_write(void **state)
{
  fixture f;
  vyre_edits edits;
  (void)state;
  start(&f);
  vyre_builder_before(&f.b, f.product);
  vyre_row buffer = vyre_build_buffer(&f.b, vyre_type_runtime_array(f.m, U32, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  vyre_row at = vyre_build_at(&f.b, buffer, f.x);
  const uint32_t flags[] = {VYRE_ROW_VOLATILE, VYRE_ROW_COHERENT};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    const uint32_t mark = vyre_module_journal_mark(f.m);
    vyre_row load = vyre_build_load(&f.b, at, flags[i]);
    vyre_module_journal_mark(f.m);
    vyre_row_kill(f.m, load);
    vyre_module_journal_read(f.m, mark, &edits);
    assert_int_equal(edits.own_kinds, VYRE_EDIT_MOVED_EFFECT);
    assert_int_equal(edits.kinds, VYRE_EDIT_GONE_WRITE);
  }
  vyre_module_destroy(f.m);
}

/* Rows are what they are called now; those that went are left out, and the marks stay between the others. */
static void
a_seal_renumbers_the_journal(void **state)
{
  fixture f;
  (void)state;
  start(&f);
  vyre_module_journal_mark(f.m);
  vyre_row_set_operand(f.m, f.product, 1, f.x);
  vyre_row_set_operand(f.m, f.sum, 1, f.x);
  vyre_module_journal_mark(f.m);
  vyre_row_set_operand(f.m, f.product, 0, f.x);
  vyre_row_rewrite(f.m, f.sum, VYRE_ROW(VYRE_OP_null, 0, 0), 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  assert_null(vyre_module_seal(f.m, NULL));
  const uint32_t product = f.product.id - 1;
  assert_int_equal(VYRE_ROW_OP(vyre_module_view(f.m)->op[product]), VYRE_OP_mul);
  expect(f.m, 1, 1, (uint32_t[]){product, product}, 2, VYRE_EDIT_GONE_VALUE);
  expect(f.m, 2, 1, (uint32_t[]){product}, 1, 0);
  vyre_module_destroy(f.m);
}

static void
what_is_forgotten_is_gone(void **state)
{
  fixture f;
  (void)state;
  start(&f);
  for (uint32_t i = 0; i < 3; i++) {
    vyre_module_journal_mark(f.m);
    vyre_row_set_operand(f.m, i == 1 ? f.product : f.sum, 0, f.y);
  }
  vyre_module_journal_forget(f.m, 2);
  expect(f.m, 1, 0, NULL, 0, 0);
  expect(f.m, 2, 1, (uint32_t[]){f.product.id, f.sum.id}, 2, 0);
  assert_int_equal(vyre_module_journal_mark(f.m), 4); /* numbers go on */
  vyre_module_journal_forget(f.m, 1);                 /* it was before */
  expect(f.m, 3, 1, (uint32_t[]){f.sum.id}, 1, 0);
  vyre_module_journal_forget(f.m, UINT32_MAX);
  vyre_row_set_operand(f.m, f.sum, 0, f.x); /* is not noted */
  assert_int_equal(vyre_module_journal_mark(f.m), 1);
  expect(f.m, 1, 0, NULL, 0, 0);
  vyre_row_set_operand(f.m, f.sum, 0, f.y);
  vyre_module_clear(f.m);
  assert_int_equal(vyre_module_journal_mark(f.m), 1);
  expect(f.m, 1, 0, NULL, 0, 0);
  vyre_module_destroy(f.m);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(edits_stand_behind_their_marks),
                                     cmocka_unit_test(forwarding_notes_who_was_changed),
                                     cmocka_unit_test(what_moves_and_goes_has_a_kind),
                                     cmocka_unit_test(a_row_of_another_kind_replaces_what_it_was),
                                     cmocka_unit_test(a_volatile_or_coherent_load_is_a_write),
                                     cmocka_unit_test(a_seal_renumbers_the_journal),
                                     cmocka_unit_test(what_is_forgotten_is_gone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
