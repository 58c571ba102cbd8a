/* Constants of a program before its run, and the limit of nesting.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/run.h"

#define U32  VYRE_TYPE(VYRE_U32, 1)
#define BOOL VYRE_TYPE(VYRE_BOOL, 1)

typedef struct built {
  vyre_module *module;
  vyre_row program, y, size, deep, flag, truth, varying, pair;
} built;

static built
build(const vyre_allocator *allocator)
{
  built out = {0};
  vyre_builder b;
  assert_null(vyre_module_create(allocator, 1u << 16, &out.module));
  vyre_module *m = out.module;
  out.program = vyre_build_program(m, "p", 0, vyre_module_add_input(m, "p.vir"), &b);
  const vyre_row n = vyre_build_spec(&b, U32, 4, 7), one = vyre_build_const(&b, U32, 1);
  vyre_row deep = n;
  for (int i = 0; i < 5000; i++) /* 5000 rows deep, with 2^5000 paths */
    deep = vyre_build_binary(&b, VYRE_OP_add, deep, deep);
  out.size = vyre_build_imm(&b, VYRE_OP_mul, n, 2);
  out.flag = vyre_build_imm(&b, VYRE_OP_ugt, n, 5);
  out.truth = vyre_build_spec(&b, BOOL, 0, 8);
  const vyre_row pair = vyre_build(&b, VYRE_OP_umulx, VYRE_TYPE(VYRE_TUPLE, 1), 0, VYRE_TUPLE_OF(2, U32), 0, n,
                                   vyre_build_const(&b, U32, 0x80000000), VYRE_NONE);
  out.pair = vyre_build_part(&b, pair, 1, U32);
  vyre_build_workgroup(&b, out.size, one, one);
  out.y = vyre_build_buffer(&b, vyre_type_runtime_array(m, U32, 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  const vyre_row tile = vyre_build_buffer(&b, vyre_type_array(m, U32, 0, out.size, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  const vyre_row mine = vyre_build_buffer(&b, vyre_type_array(m, U32, 2, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
  const uint32_t words[2] = {3, 4};
  vyre_buffer_info_of(m, mine)->initializer = vyre_module_add_initializer(m, words, 2);
  const vyre_row i = vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_build_store(&b, vyre_build_at(&b, tile, i), vyre_build_load(&b, vyre_build_at_literal(&b, mine, 1), 0), 0);
  out.varying = vyre_build_load(&b, vyre_build_at(&b, tile, i), 0);
  vyre_build_store(&b, vyre_build_at(&b, out.y, i), out.varying, 0);
  out.deep = deep;
  uint32_t map[8192];
  assert_null(vyre_module_seal(m, map));
  vyre_row *const rows[] = {&out.program, &out.y, &out.size, &out.deep, &out.flag, &out.truth, &out.varying, &out.pair};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
    rows[k]->id = map[rows[k]->id];
  return out;
}

TEST(constants_follow_specialization)
{
  const built p = build(NULL);
  const vyre_spec_value given[3] = {{99, 1}, {7, 6}, {8, 2}};
  uint64_t value;
  uint32_t size[3];
  assert_true(vyre_constant_value(p.module, p.size, NULL, 0, &value));
  assert_int_equal(value, 8);
  assert_true(vyre_constant_value(p.module, p.size, given, 2, &value));
  assert_int_equal(value, 12);
  assert_true(vyre_constant_value(p.module, p.flag, NULL, 0, &value));
  assert_int_equal(value, 0);
  assert_true(vyre_constant_value(p.module, p.flag, given, 2, &value));
  assert_int_equal(value, 1);
  assert_true(vyre_constant_value(p.module, p.truth, NULL, 0, &value));
  assert_int_equal(value, 0);
  assert_true(vyre_constant_value(p.module, p.truth, given, 3, &value)); /* any value except 0 is true */
  assert_int_equal(value, 1);
  assert_true(vyre_constant_value(p.module, p.pair, given, 2, &value));
  assert_int_equal(value, 3);
  assert_true(vyre_workgroup_size(p.module, p.program, given, 2, size));
  assert_int_equal(size[0], 12);
  assert_int_equal(size[1], 1);
  assert_int_equal(size[2], 1);
  vyre_module_destroy(p.module);
}

TEST(shared_subexpressions_are_evaluated_once)
{
  const built p = build(NULL);
  uint64_t value = 1;
  assert_true(vyre_constant_value(p.module, p.deep, NULL, 0, &value));
  assert_int_equal(value, 0); /* 4 * 2^5000 */
  vyre_module_destroy(p.module);
}

TEST(varying_rows_are_not_constant)
{
  const built p = build(NULL);
  uint64_t value;
  uint32_t size[3];
  assert_false(vyre_constant_value(p.module, p.varying, NULL, 0, &value));
  assert_false(vyre_constant_value(p.module, p.y, NULL, 0, &value));
  assert_false(vyre_constant_value(p.module, p.program, NULL, 0, &value));
  assert_false(vyre_constant_value(p.module, VYRE_NONE, NULL, 0, &value));
  assert_false(vyre_constant_value(p.module, (vyre_row){1u << 30}, NULL, 0, &value));
  assert_false(vyre_workgroup_size(p.module, p.y, NULL, 0, size));
  vyre_module_destroy(p.module);
}

/* Rows that a verified module cannot have: a part after the last one of a tuple, and a cycle of operands. */
TEST(invalid_rows_are_not_constant)
{
  vyre_module *m;
  vyre_builder b;
  uint64_t value;
  assert_null(vyre_module_create(NULL, 64, &m));
  (void)vyre_build_program(m, "p", 0, vyre_module_add_input(m, "p.vir"), &b);
  const vyre_row n = vyre_build_spec(&b, U32, 4, 7), both[2] = {n, n};
  const vyre_row tuple = vyre_build_tuple(&b, both, 2);
  const vyre_row inside = vyre_build(&b, VYRE_OP_part, U32, 0, 1, 0, tuple, VYRE_NONE, VYRE_NONE);
  const vyre_row behind = vyre_build(&b, VYRE_OP_part, U32, 0, 2, 0, tuple, VYRE_NONE, VYRE_NONE);
  assert_true(vyre_constant_value(m, inside, NULL, 0, &value));
  assert_int_equal(value, 4);
  assert_false(vyre_constant_value(m, behind, NULL, 0, &value));
  const vyre_row first = vyre_build_binary(&b, VYRE_OP_add, n, n), second = vyre_build_binary(&b, VYRE_OP_add, n, first);
  vyre_row_set_operand(m, first, 1, second);
  assert_false(vyre_constant_value(m, second, NULL, 0, &value));
  vyre_module_destroy(m);
}

/* Runs a store inside `depth` nested blocks. */
static vyre_status
run_nested(uint32_t depth, uint32_t *y)
{
  vyre_module *m;
  vyre_builder b;
  assert_null(vyre_module_create(NULL, 1u << 16, &m));
  const vyre_row program = vyre_build_program(m, "deep", 0, vyre_module_add_input(m, "p.vir"), &b);
  const vyre_row buffer = vyre_build_buffer(&b, U32, VYRE_SPACE_STORAGE, 0, 0, 0);
  const vyre_row value = vyre_build_const(&b, U32, depth);
  for (uint32_t i = 0; i < depth; i++)
    vyre_build_block(&b);
  vyre_build_store(&b, buffer, value, 0);
  uint32_t map[8192];
  assert_null(vyre_module_seal(m, map));
  const vyre_binding binding = {{map[buffer.id]}, y, sizeof *y, 0};
  const vyre_dispatch dispatch = {.program = {map[program.id]}, .groups = {1, 1, 1}, .bindings = &binding, .binding_count = 1};
  vyre_status status = vyre_interp_run(m, &dispatch, NULL, NULL);
  vyre_module_destroy(m);
  return status;
}

TEST(nesting_has_a_limit)
{
  uint32_t y = 0;
  assert_null(run_nested(1000, &y));
  assert_int_equal(y, 1000);
  vyre_status status = run_nested(1100, &y);
  assert_non_null(status);
  assert_non_null(strstr(vyre_status_text(status), "more than 1000 deep\nFix: "));
  vyre_status_free(status);
  assert_int_equal(y, 1000);
}
