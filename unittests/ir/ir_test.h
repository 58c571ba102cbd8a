/* What the tests of ir/ share: shorthands, and a check that a module's links are sound.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEST_H
#define VYRE_IR_TEST_H

#include "../test.h"
#include "vyre/ir.h"

#define BOOL    VYRE_TYPE(VYRE_BOOL, 1)
#define U32     VYRE_TYPE(VYRE_U32, 1)
#define I32     VYRE_TYPE(VYRE_I32, 1)
#define F32     VYRE_TYPE(VYRE_F32, 1)
#define F32X2   VYRE_TYPE(VYRE_F32, 2)
#define F32X3   VYRE_TYPE(VYRE_F32, 3)
#define F32X4   VYRE_TYPE(VYRE_F32, 4)
#define ONE_F32 0x3f800000u
#define TWO_F32 0x40000000u

static inline vyre_row
row_of(uint32_t id)
{
  return (vyre_row){id};
}

static inline vyre_module *
new_module(void)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 0, &module));
  return module;
}

/* A row without operands that stays what it is: gid. */
static inline vyre_row
build_gid(vyre_builder *b)
{
  return vyre_build(b, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

static inline vyre_row
build_value(vyre_builder *b)
{
  return vyre_build_lane(b, build_gid(b), 0);
}

/* 24 bits. */
static inline uint32_t
next_random(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Neighbours, parents and ends of every linked row agree; returns how many rows are linked. */
static inline uint32_t
check_links(const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = 0;; count++) {
    uint32_t previous = 0;
    for (uint32_t child = v->first[row]; child; child = v->next[child]) {
      assert_true(child < v->rows);
      assert_int_equal(v->parent[child], row);
      assert_int_equal(v->prev[child], previous);
      previous = child;
    }
    assert_int_equal(v->last[row], previous);
    assert_true(count < v->rows);
    row = vyre_row_after(v, row, 0);
    if (row == 0)
      return count;
  }
}

/* Ids are program order, and all rows are linked and alive. */
static inline void
check_sealed(const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  assert_true(vyre_module_is_sealed(module));
  assert_int_equal(check_links(module), v->rows - 1);
  for (uint32_t row = 1; row < v->rows; row++) {
    assert_int_equal(vyre_row_after(v, row - 1, 0), row);
    assert_int_not_equal(VYRE_ROW_OP(v->op[row]), VYRE_OP_null);
  }
}

#endif
