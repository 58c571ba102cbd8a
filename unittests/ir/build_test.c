/* The builder: where rows land, what they hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define U32 VYRE_TYPE(VYRE_U32, 1)
#define F32 VYRE_TYPE(VYRE_F32, 1)

static void
saxpy_builds_and_seals(void **state)
{
  (void)state;
  vyre_module *m;
  assert_null(vyre_module_create(NULL, 0, &m));
  vyre_builder b;
  vyre_row program = vyre_build_program(m, "saxpy", 0, vyre_module_add_input(m, "saxpy.vir"), &b);
  vyre_type_id floats = vyre_type_runtime_array(m, F32, 0);
  vyre_row x = vyre_build_buffer(&b, floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 0);
  vyre_row y = vyre_build_buffer(&b, floats, VYRE_SPACE_STORAGE, 0, 0, 1);
  vyre_row size = vyre_build_const(&b, U32, 64), one = vyre_build_const(&b, U32, 1);
  vyre_build_workgroup(&b, size, one, one);
  vyre_row gid = vyre_build(&b, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row i = vyre_build_lane(&b, gid, 0);
  vyre_row n = vyre_build_unary(&b, VYRE_OP_length, x);
  vyre_row test = vyre_build_if(&b, vyre_build_binary(&b, VYRE_OP_ult, i, n));
  vyre_row v = vyre_build_load(&b, vyre_build_at(&b, x, i), 0);
  vyre_row w = vyre_build_binary(&b, VYRE_OP_mul, v, vyre_build_const(&b, F32, 0x40000000));
  vyre_build_store(&b, vyre_build_at(&b, y, i), w, 0);
  vyre_builder_leave(&b, test);
  vyre_row_set_name(m, w, "w", 1);
  const vyre_view *view = vyre_module_view(m);
  assert_int_equal(VYRE_ROW_FLAGS(view->op[w.id]), VYRE_ROW_IMM);
  assert_int_equal(view->imm[w.id], 0x40000000);
  uint32_t map[64];
  assert_null(vyre_module_seal(m, map));
  assert_true(vyre_module_is_sealed(m));
  for (uint32_t row = 1; row < view->rows; row++) {
    assert_true(view->parent[row] < row);
    assert_true(view->a[row] < row && view->b[row] < row && view->c[row] < row);
    assert_int_equal(vyre_row_after(view, row - 1, 0), row);
  }
  assert_string_equal(vyre_row_name(m, (vyre_row){map[w.id]}), "w");
  assert_string_equal(vyre_row_name(m, (vyre_row){map[program.id]}), "saxpy");
  assert_int_equal(vyre_buffer_info_of(m, (vyre_row){map[y.id]})->binding, 1);
  vyre_module *copy;
  assert_null(vyre_module_clone(m, &copy));
  assert_int_equal(vyre_module_view(copy)->rows, view->rows);
  vyre_module_destroy(copy);
  vyre_module_destroy(m);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(saxpy_builds_and_seals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
