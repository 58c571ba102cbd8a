/* Each allocation, reservation and commit fails once.  The module returns a status, does not crash and leaks nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../test_allocator.h"
#include "ir_test.h"

/* Calls every function of a module that allocates.  Checks for failures at the end. */
static vyre_status
work(const vyre_allocator *allocator, void *user)
{
  vyre_module *m, *copy = NULL;
  (void)user;
  VYRE_TRY(vyre_module_create(allocator, 1 << 14, &m));
  for (uint32_t p = 0; p < 5; p++) {
    const uint32_t words[] = {p, 1, 2};
    vyre_builder b;
    uint32_t input = vyre_module_add_input(m, "input.spv");
    vyre_word_list_append(m, &vyre_module_input(m, input)->extensions, words, 3);
    vyre_row program = vyre_build_program(m, "main", 0, input, &b);
    vyre_word_list_append(m, &vyre_program_info_of(m, program)->modes, words, 3);
    b.scope = vyre_scope_of_file(m, vyre_string_intern(m, "file", 4));
    vyre_row n = vyre_build_spec(&b, U32, 4, p);
    vyre_string names[] = {vyre_string_intern(m, "a", 1), vyre_string_intern(m, "b", 1)};
    const vyre_member members[] = {{names[0], vyre_type_array(m, F32, 0, n, 0), 0, 0}, {names[1], F32X4, 64, 0}};
    vyre_type_id type = vyre_type_struct(m, names[0], members, 2, 0);
    vyre_row x = vyre_build_buffer(&b, vyre_type_runtime_array(m, type, 0), VYRE_SPACE_STORAGE, 0, 0, p);
    vyre_buffer_info_of(m, x)->initializer = vyre_module_add_initializer(m, words, 3);
    vyre_row var = vyre_build_var(&b, F32);
    vyre_build_workgroup(&b, n, vyre_build_const(&b, U32, 2), n);
    vyre_row i = build_value(&b);
    vyre_row test = vyre_build_if(&b, vyre_build_imm(&b, VYRE_OP_ult, i, 4));
    for (uint32_t k = 0; k < 120; k++) {
      b.line = k;
      vyre_row path = vyre_build_at_literal(&b, vyre_build_at_literal(&b, vyre_build_at(&b, x, i), 0), k);
      vyre_row load = vyre_build_load(&b, path, 0);
      vyre_row sum = vyre_build_select(&b, i, load, vyre_build_const(&b, F32, k));
      vyre_row parts[] = {load, sum, sum, load, load};
      vyre_build_store(&b, path, vyre_build_join(&b, parts, 4), 0);
      vyre_build_part(&b, vyre_build_tuple(&b, parts, 5), 3, F32);
      vyre_row_set_name(m, sum, "sum", 3);
      vyre_row_set_decorations(m, load, words, 3);
      vyre_build_set(&b, var, load);
      if (k % 5 == 0)
        vyre_row_kill(m, sum);
    }
    vyre_build_case(&b, vyre_build_switch(&b, i), i, true);
    vyre_build_loop(&b);
    vyre_build_block(&b);
    vyre_build_for(&b, i, i, i);
    vyre_builder_leave(&b, test);
    vyre_row_move_before(m, vyre_build_get(&b, var), test);
  }
  vyre_status status = vyre_module_seal(m, NULL);
  if (!status) {
    vyre_builder b = {.module = m};
    vyre_builder_at_end(&b, row_of(1));
    vyre_build_const(&b, U32, 77);
    status = vyre_module_status(m);
  }
  if (!status)
    status = vyre_module_clone(m, &copy);
  if (status) { /* a cleared module works again */
    vyre_module_clear(m);
    vyre_builder b;
    vyre_build_program(m, "p", 0, 0, &b);
  }
  vyre_module_destroy(copy);
  vyre_module_destroy(m);
  return status;
}

TEST(every_allocation_may_fail_once)
{
  assert_true(test_each_failure(work, NULL, false, budget_step()) > 100 / budget_step());
}

TEST(memory_may_run_out_anywhere)
{
  assert_true(test_each_failure(work, NULL, true, budget_step()) > 100 / budget_step());
}

TEST(after_a_failure_nothing_is_built)
{
  test_memory c;
  const vyre_allocator allocator = test_allocator(&c, 0);
  vyre_module *m;
  assert_null(vyre_module_create(&allocator, 0, &m));
  vyre_builder b;
  vyre_build_program(m, NULL, 0, 0, &b);
  vyre_row last = build_gid(&b);
  assert_int_not_equal(last.id, 0);
  c.fail_at = c.calls + 1;
  assert_int_equal(vyre_string_intern(m, "text", 4), 0);
  assert_int_equal(build_gid(&b).id, 0); /* though the table has room for a row */
  assert_int_equal(vyre_build_const(&b, U32, 1).id, 0);
  assert_int_equal(vyre_build_if(&b, last).id, 0);
  assert_int_equal(vyre_string_intern(m, "text", 4), 0);
  assert_int_equal(vyre_type_array(m, F32, 4, VYRE_NONE, 0), 0);
  assert_int_equal(vyre_module_add_input(m, "x"), UINT32_MAX);
  assert_int_equal(vyre_module_add_initializer(m, NULL, 0), UINT32_MAX);
  assert_int_equal(vyre_module_view(m)->rows, last.id + 1);
  assert_error(vyre_module_status(m), VYRE_CODE_INPUT, "");
  vyre_module_destroy(m);
  assert_int_equal(c.out, 0);
}

TEST(scratch_memory_has_one_borrower_and_is_kept)
{
  vyre_module *m;
  size_t size, again;
  assert_null(vyre_module_create(NULL, 0, &m));
  assert_non_null(vyre_module_borrow(m, 1000, &size));
  assert_true(size >= 1000);
  assert_null(vyre_module_borrow(m, 1, &again));
  assert_int_equal(again, 0);
  vyre_module_return_room(m, 5000); /* the next borrower gets that much */
  for (int i = 0; i < 2; i++) {
    void *memory = vyre_module_borrow(m, 1, &size);
    assert_true(size >= 5000);
    memset(memory, i, size);
    vyre_module_return_room(m, 0);
  }
  assert_non_null(vyre_module_borrow(m, 1, &size));
  vyre_module_return_room(m, (size_t)1 << 40); /* too large to be kept */
  assert_non_null(vyre_module_borrow(m, 1, &size));
  assert_true(size < 5000);
  vyre_module_return_room(m, 0);
  vyre_module_destroy(m);
}

static vyre_status
append_bytes(const vyre_allocator *allocator, void *user)
{
  vyre_bytes bytes = {.allocator = allocator};
  vyre_status status = VYRE_OK;
  (void)user;
  for (int i = 0; i < 2000 && !status; i++)
    status = i % 2 ? vyre_bytes_append(&bytes, "0123456789", 10) : vyre_bytes_printf(&bytes, "%010d", i);
  assert_true(bytes.size == 0 || bytes.data[bytes.size] == '\0');
  assert_int_equal(bytes.size % 10, 0); /* a text is appended whole or not at all */
  vyre_bytes_free(&bytes);
  return status;
}

TEST(appending_bytes_may_fail)
{
  assert_true(test_each_failure(append_bytes, NULL, false, 1) >= 7);
}

TEST(a_small_module_allocates_little)
{
  test_memory c;
  const vyre_allocator allocator = test_allocator(&c, 0);
  vyre_module *m;
  assert_null(vyre_module_create(&allocator, 0, &m));
  assert_int_equal(c.calls, 14); /* the module, its address space, a check of free space, a page for each column */
  vyre_builder b;
  vyre_build_program(m, NULL, 0, 0, &b);
  uint64_t calls = c.calls;
  for (int i = 0; i < 500; i++)
    build_gid(&b);
  assert_int_equal(c.calls, calls); /* no allocations for rows */
  vyre_row loop = vyre_build_for(&b, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_build_block(&b);
  build_gid(&b);
  vyre_builder_leave(&b, loop);
  build_gid(&b);
  assert_null(vyre_module_seal(m, NULL));
  assert_int_equal(c.calls, calls); /* none for sealing rows that are in order */
  vyre_module_clear(m);
  calls = c.calls;
  vyre_build_program(m, NULL, 0, 0, &b);
  for (int i = 0; i < 500; i++)
    build_gid(&b);
  assert_int_equal(c.calls, calls); /* none after clearing */
  vyre_module_destroy(m);
  assert_int_equal(c.out, 0);
}
