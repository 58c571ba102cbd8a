/* The verifier on damaged tables: random words in random columns.  The verifier ends, and never accepts a table that a walk in
 * program order cannot handle.
 *
 * VYRE_SEED and VYRE_RUNS in the environment set the seed and the number of tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "fixture.h"

static uint64_t random_state;

static void
add_control(fixture *x)
{
  vyre_row loop = vyre_build_loop(&x->b), choice, labels, test, c;
  test = vyre_build_if(&x->b, x->cond);
  vyre_build_jump(&x->b, VYRE_OP_break, NONE);
  vyre_builder_leave(&x->b, test);
  labels = vyre_build_tuple(&x->b,
                            (const vyre_row[]){literal(x, U32, 1), literal(x, U32, 2), literal(x, U32, 3), literal(x, U32, 4)}, 4);
  choice = vyre_build_switch(&x->b, x->u);
  c = vyre_build_case(&x->b, choice, labels, false);
  vyre_builder_at_end(&x->b, c);
  vyre_build_jump(&x->b, VYRE_OP_fallthrough, NONE);
  vyre_builder_at_end(&x->b, vyre_build_case(&x->b, choice, literal(x, U32, 9), true));
  vyre_build_store(&x->b, vyre_build_at(&x->b, x->out, x->u), x->f, 0);
  vyre_builder_leave(&x->b, choice);
  vyre_builder_at_end(&x->b, vyre_region_of(x->m, loop, 1));
  vyre_build_for(&x->b, x->u, x->u, x->u);
  vyre_builder_at_end(&x->b, vyre_region_of(x->m, loop, 1));
  vyre_build_jump(&x->b, VYRE_OP_breakif, x->cond);
  vyre_builder_leave(&x->b, loop);
  vyre_build_barrier(&x->b, VYRE_ORDER(2, 2, 0x108));
}

/* Returns a word that the first checks are likely to accept: a small number, a row, or a small change of the old word. */
static uint32_t
damaged_word(uint32_t word, uint32_t rows)
{
  switch (test_random(&random_state, 5)) {
  case 0:
    return test_random(&random_state, rows);
  case 1:
    return word ^ 1u << test_random(&random_state, 32);
  case 2:
    return test_random(&random_state, 300);
  case 3:
    return word + test_random(&random_state, 3) - 1;
  default:
    return 0xffffffffu - test_random(&random_state, 2);
  }
}

/* Asserts that an accepted module can be walked: links are a tree in which each row is reached once. */
static void
check_walk(const vyre_view *v)
{
  uint32_t count = 0, live = 0;
  for (uint32_t row = vyre_row_after(v, 0, 0); row; row = vyre_row_after(v, row, 0)) {
    assert_true(row < v->rows && v->op[row] != 0);
    assert_true(++count < v->rows);
  }
  for (uint32_t row = 1; row < v->rows; row++)
    live += v->op[row] != 0 && (v->parent[row] != 0 || VYRE_ROW_OP(v->op[row]) == VYRE_OP_program);
  assert_int_equal(count, live);
}

TEST(damage_is_found_or_harmless)
{
  uint32_t runs = budget_runs(3000), accepted = 0;
  random_state = budget_number("VYRE_SEED", 1);
  for (uint32_t i = 0; i < runs; i++) {
    fixture x;
    vyre_verify_errors errors = {0};
    uint32_t hits = 1 + test_random(&random_state, 4);
    vyre_status status;
    fixture_open(&x);
    add_control(&x);
    if (i & 1)
      assert_ok(vyre_module_seal(x.m, NULL));
    while (hits--) {
      const uint32_t *const columns[] = {x.v->op,     x.v->imm,  x.v->imm_hi, x.v->a,     x.v->b,   x.v->c,
                                         x.v->parent, x.v->prev, x.v->next,   x.v->first, x.v->last};
      const uint32_t *column = columns[test_random(&random_state, 11)];
      vyre_row row = {test_random(&random_state, x.v->rows)};
      put(column, row, damaged_word(column[row.id], x.v->rows));
    }
    status = vyre_verify(x.m, &errors);
    assert_int_equal(status == NULL, errors.count == 0);
    if (!status) {
      accepted++;
      check_walk(x.v);
    } else {
      vyre_bytes text = {0};
      assert_null(vyre_verify_print(x.m, &errors, &text));
      assert_true(text.size > 0 && strstr(text.data, errors.errors[0].message));
      vyre_bytes_free(&text);
    }
    vyre_status_free(status);
    vyre_verify_errors_free(&errors);
    vyre_module_destroy(x.m);
  }
  assert_in_range(accepted, 1, runs / 2); /* some damage is harmless, most is found */
}

/* Many rows have cycles in every link.  The verifier stays linear. */
TEST(cycles_of_links_are_found_in_linear_time)
{
  fixture x;
  vyre_verify_errors errors = {0};
  fixture_open(&x);
  for (uint32_t i = 0; i < 20000; i++)
    vyre_build_unary(&x.b, VYRE_OP_not, x.u);
  random_state = 7;
  for (uint32_t i = 0; i < 20000; i++) {
    const uint32_t *const links[] = {x.v->parent, x.v->prev, x.v->next, x.v->first, x.v->last};
    put(links[test_random(&random_state, 5)], (vyre_row){1 + test_random(&random_state, x.v->rows - 1)},
        1 + test_random(&random_state, x.v->rows - 1));
  }
  vyre_status_free(vyre_verify(x.m, &errors));
  assert_true(errors.count > 0 && errors.damaged);
  vyre_verify_errors_free(&errors);
  vyre_module_destroy(x.m);
}
