/* Rows to build with, and checks of links and of the order of rows, for the tests of ir/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEST_H
#define VYRE_IR_TEST_H

#include "../module.h"

#define ONE_F32 0x3f800000u
#define TWO_F32 0x40000000u

/* Appends a row without operands that is neither folded nor shared. */
static inline vyre_row
build_gid(vyre_builder *at)
{
  return vyre_build(at, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

static inline vyre_row
build_value(vyre_builder *at)
{
  return vyre_build_lane(at, build_gid(at), 0);
}

/* Returns 24 random bits. */
static inline uint32_t
next_random(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Asserts that neighbours, parents and ends of every linked row agree, and returns the number of linked rows. */
static inline uint32_t
check_links(const vyre_module *module)
{
  const vyre_view *view = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = 0;; count++) {
    uint32_t previous = 0;
    for (uint32_t child = view->first[row]; child; child = view->next[child]) {
      assert_true(child < view->rows);
      assert_int_equal(view->parent[child], row);
      assert_int_equal(view->prev[child], previous);
      previous = child;
    }
    assert_int_equal(view->last[row], previous);
    assert_true(count < view->rows);
    row = vyre_row_after(view, row, 0);
    if (row == 0)
      return count;
  }
}

/* Asserts that ids are in program order, and that all rows are linked and alive. */
static inline void
check_sealed(const vyre_module *module)
{
  const vyre_view *view = vyre_module_view(module);
  assert_true(vyre_module_is_sealed(module));
  assert_int_equal(check_links(module), view->rows - 1);
  for (uint32_t row = 1; row < view->rows; row++) {
    assert_int_equal(vyre_row_after(view, row - 1, 0), row);
    assert_int_not_equal(VYRE_ROW_OP(view->op[row]), VYRE_OP_null);
  }
}

#endif
