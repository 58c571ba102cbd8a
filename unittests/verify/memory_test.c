/* Each allocation of the verifier and of versions fails once.  The status reports the failure, and nothing is leaked or half
 * done.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "fixture.h"

static test_memory memory;

/* Builds a module for which each step allocates: nested regions, labels, length rows, members out of order, writes in a loop. */
static vyre_module *
build(bool broken)
{
  const vyre_allocator allocator = test_allocator(&memory, 0);
  fixture x = {0};
  vyre_row length, choice, labels[5], tuple, loop;
  vyre_type_id sized, members;
  assert_null(vyre_module_create(&allocator, 1u << 16, &x.m));
  x.v = vyre_module_view(x.m);
  x.program = vyre_build_program(x.m, "main", 0, vyre_module_add_input(x.m, "test"), &x.b);
  length = vyre_build_imm(&x.b, VYRE_OP_add, vyre_build_spec(&x.b, U32, 8, 3), 1);
  sized = vyre_type_array(x.m, F32, 0, length, 0);
  members = vyre_type_struct(x.m, 0, (const vyre_member[]){{0, U32, 16, 0}, {0, F32X4, 0, 0}}, 2, 0);
  fixture_buffer(&x, sized, VYRE_SPACE_WORKGROUP, 0, 0);
  fixture_buffer(&x, members, VYRE_SPACE_STORAGE, 0, 1);
  x.var = vyre_build_var(&x.b, U32);
  x.u = op0(&x, VYRE_OP_lindex, U32);
  for (uint32_t i = 0; i < 5; i++)
    labels[i] = literal(&x, U32, i);
  tuple = vyre_build_tuple(&x.b, labels, 5);
  loop = vyre_build_for(&x.b, x.u, x.u, labels[1]);
  choice = vyre_build_switch(&x.b, x.u);
  vyre_builder_at_end(&x.b, vyre_build_case(&x.b, choice, tuple, false));
  for (uint32_t i = 0; i < 40; i++)
    vyre_build_block(&x.b);
  vyre_build_set(&x.b, x.var, x.u);
  if (broken)
    for (uint32_t i = 0; i < 20; i++)
      put(x.v->imm, vyre_build_unary(&x.b, VYRE_OP_not, x.u), 1);
  vyre_builder_leave(&x.b, loop);
  vyre_build_get(&x.b, x.var);
  if (broken) /* an error of the walk, so that errors are not in order */
    op0(&x, VYRE_OP_region, 0);
  assert_null(vyre_module_status(x.m));
  assert_null(vyre_module_seal(x.m, NULL));
  return x.m;
}

/* Calls `work` on the module with its first allocation failing, then its second, and so on, until none fails.  Asserts that each
 * failure is an error that leaves no memory in use.  Returns the number of failures. */
static uint64_t
fail_each(vyre_status (*work)(vyre_module *module), vyre_module *module)
{
  const size_t before = memory.out;
  for (uint64_t at = 1;; at++) {
    memory.calls = 0;
    memory.fail_at = at;
    vyre_status status = work(module);
    memory.fail_at = 0;
    if (memory.calls < at) {
      assert_ok(status);
      return at;
    }
    assert_error(status, VYRE_CODE_INPUT, "out of memory");
    assert_int_equal(memory.out, before);
  }
}

static bool is_broken;

/* Returns an error if memory runs out, and asserts what the verifier reports otherwise. */
static vyre_status
verify(vyre_module *module)
{
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(module, &errors);
  const bool fails = memory.calls >= memory.fail_at;
  assert_int_equal(errors.count, is_broken && !fails ? 21 : 0);
  vyre_verify_errors_free(&errors);
  if (fails)
    return status;
  assert_int_equal(status != NULL, is_broken);
  vyre_status_free(status);
  return VYRE_OK;
}

TEST(verifying_may_run_out_of_memory)
{
  for (uint32_t broken = 0; broken < 2; broken++) {
    is_broken = broken != 0;
    vyre_module *m = build(is_broken);
    assert_true(fail_each(verify, m) > (broken ? 10u : 5u));
    vyre_module_destroy(m);
  }
}

static vyre_verify_errors found;

static vyre_status
print_errors(vyre_module *module)
{
  vyre_bytes text = {.allocator = vyre_module_allocator(module)};
  vyre_status status = vyre_verify_print(module, &found, &text);
  vyre_bytes_free(&text);
  return status;
}

TEST(printing_may_run_out_of_memory)
{
  vyre_module *m = build(true);
  vyre_status_free(vyre_verify(m, &found));
  assert_int_equal(found.count, 21);
  fail_each(print_errors, m);
  vyre_verify_errors_free(&found);
  vyre_module_destroy(m);
}

TEST(versions_may_run_out_of_memory)
{
  bool fails = true;
  for (uint64_t at = 1; fails; at++) {
    vyre_module *m = build(false);
    memory.calls = 0;
    memory.fail_at = at;
    vyre_status status = vyre_module_make_analyses(m, VYRE_VERSIONS);
    fails = memory.calls >= at;
    memory.fail_at = 0;
    if (fails)
      assert_error(status, VYRE_CODE_INPUT, "out of memory");
    else
      assert_ok(vyre_verify_analyses(m, VYRE_VERSIONS));
    vyre_module_destroy(m);
    assert_int_equal(memory.out, 0);
  }
}

TEST(versions_of_an_unsealed_module_are_an_error)
{
  fixture x;
  fixture_open(&x);
  vyre_row_kill(x.m, x.pair);
  assert_error(vyre_module_make_analyses(x.m, VYRE_VERSIONS), VYRE_CODE_INTERNAL, "");
  vyre_module_destroy(x.m);
}
