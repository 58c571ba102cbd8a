/* The verifier and the versions without memory: each allocation fails once; the status says so, nothing is leaked or half done.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static uint32_t calls, fail_at;
static size_t out; /* bytes, as callers count them */

static void *
counting_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  const vyre_allocator *base = vyre_allocator_default();
  (void)user;
  if (new_size > 0 && ++calls == fail_at)
    return NULL;
  void *result = base->resize(base->user, memory, old_size, new_size);
  if (result || new_size == 0)
    out += new_size - old_size;
  return result;
}

/* A copy of the default allocator that counts; reserve and commit are not asked for here. */
static vyre_allocator
counting_allocator(void)
{
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.resize = counting_resize;
  return allocator;
}

/* A module with something of all that takes memory: nested regions, labels, length rows, members out of order, writes in a loop. */
static vyre_module *
build(bool broken)
{
  vyre_allocator allocator = counting_allocator();
  fixture x = {0};
  vyre_row length, choice, labels[5], tuple, loop;
  vyre_type_id sized, members;
  fail_at = 0;
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
  if (broken) /* found by the walk, so that errors come unsorted */
    op0(&x, VYRE_OP_region, 0);
  assert_null(vyre_module_status(x.m));
  assert_null(vyre_module_seal(x.m, NULL));
  return x.m;
}

static void
sweep(bool broken)
{
  vyre_module *m = build(broken);
  const size_t before = out;
  for (uint32_t at = 1;; at++) {
    vyre_verify_errors errors = {0};
    vyre_status status;
    calls = 0;
    fail_at = at;
    status = vyre_verify(m, &errors);
    if (calls < at) { /* it did without that one: the last round */
      assert_int_equal(errors.count, broken ? 21 : 0);
      assert_int_equal(status != NULL, broken);
      assert_true(at > (broken ? 10u : 5u));
      vyre_status_free(status);
      vyre_verify_errors_free(&errors);
      assert_int_equal(out, before);
      break;
    }
    assert_non_null(status);
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    assert_int_equal(errors.count, 0);
    vyre_status_free(status);
    vyre_verify_errors_free(&errors);
    assert_int_equal(out, before); /* all is given back, at the size that it had */
  }
  fail_at = 0;
  vyre_module_destroy(m);
}

TEST(verify_without_memory)
{
  sweep(false);
}

TEST(reporting_without_memory)
{
  sweep(true);
}

TEST(printing_without_memory)
{
  vyre_module *m = build(true);
  vyre_verify_errors errors = {0};
  vyre_status_free(vyre_verify(m, &errors));
  assert_int_equal(errors.count, 21);
  for (uint32_t at = 1;; at++) {
    vyre_bytes text = {.allocator = vyre_module_allocator(m)};
    vyre_status status;
    calls = 0;
    fail_at = at;
    status = vyre_verify_print(m, &errors, &text);
    fail_at = 0;
    vyre_bytes_free(&text);
    if (!status)
      break;
    vyre_status_free(status);
    assert_true(at < 100000);
  }
  vyre_verify_errors_free(&errors);
  vyre_module_destroy(m);
}

TEST(versions_without_memory)
{
  vyre_module *m = build(false);
  for (uint32_t at = 1;; at++) {
    vyre_status status;
    calls = 0;
    fail_at = at;
    status = vyre_module_make_analyses(m, VYRE_VERSIONS);
    if (!status)
      break;
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    vyre_status_free(status);
    assert_true(at < 100000);
  }
  fail_at = 0;
  assert_null(vyre_verify_analyses(m, VYRE_VERSIONS));
  vyre_module_destroy(m);
}

TEST(versions_of_an_unsealed_module)
{
  fixture x;
  vyre_status status;
  fixture_open(&x);
  vyre_row_kill(x.m, x.pair);
  status = vyre_module_make_analyses(x.m, VYRE_VERSIONS);
  assert_non_null(status);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INTERNAL);
  vyre_status_free(status);
  fixture_close(&x);
}
