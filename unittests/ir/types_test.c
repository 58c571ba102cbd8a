/* The type table: std430 layouts, explicit ones, equal types, steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "program_test.h"

static void
check_layout(vyre_type_id type, uint32_t align, uint32_t size, uint32_t stride)
{
  vyre_type_info info = vyre_type_get(m, type);
  assert_int_equal(info.align, align);
  assert_int_equal(info.size, size);
  assert_int_equal(info.stride, stride);
}

MODULE_TEST(scalars_and_vectors_have_std430_layout)
{
  check_layout(F32, 4, 4, 4);
  check_layout(F32X2, 8, 8, 4);
  check_layout(F32X3, 16, 12, 4);
  check_layout(F32X4, 16, 16, 4);
  check_layout(BOOL, 4, 4, 4);
  check_layout(VYRE_TYPE(VYRE_BOOL, 3), 16, 12, 4);
  check_layout(VYRE_TYPE(VYRE_F64, 3), 32, 24, 8);
  check_layout(VYRE_TYPE(VYRE_U8, 4), 4, 4, 1);
  check_layout(VYRE_TYPE(VYRE_F16, 2), 4, 4, 2);
  assert_int_equal(vyre_type_get(m, F32X3).form, VYRE_FORM_VALUE);
  assert_int_equal(vyre_type_get(m, 255).size, 0); /* not a scalar */
  assert_int_equal(vyre_type_get(m, 4000000).size, 0);
  assert_int_equal(vyre_type_count(m), 256);
}

MODULE_TEST(arrays_and_matrices_have_std430_layout)
{
  check_layout(vyre_type_array(m, F32, 10, VYRE_NONE, 0), 4, 40, 4);
  check_layout(vyre_type_array(m, F32X3, 4, VYRE_NONE, 0), 16, 64, 16);
  check_layout(vyre_type_array(m, F32X3, 4, VYRE_NONE, 12), 16, 48, 12);
  check_layout(vyre_type_array(m, F32, 4, VYRE_NONE, 16), 4, 64, 16); /* std140 */
  check_layout(vyre_type_array(m, vyre_type_array(m, F32X2, 3, VYRE_NONE, 0), 5, VYRE_NONE, 0), 8, 120, 24);
  check_layout(vyre_type_runtime_array(m, F32X4, 0), 16, 0, 16);
  check_layout(vyre_type_matrix(m, F32X3, 4, 0, false), 16, 64, 16);
  check_layout(vyre_type_matrix(m, F32X3, 4, 0, true), 16, 48, 16); /* three rows of four */
  check_layout(vyre_type_matrix(m, F32X4, 3, 0, true), 16, 64, 16); /* four rows of three */
  check_layout(vyre_type_matrix(m, F32X2, 2, 0, false), 8, 16, 8);
  check_layout(vyre_type_matrix(m, F32X2, 2, 16, false), 8, 32, 16); /* the stride of std140 */
  check_layout(vyre_type_matrix(m, F32X2, 3, 0, true), 16, 32, 16);
  check_layout(vyre_type_array(m, F32X4, UINT32_MAX, VYRE_NONE, 0), 16, UINT32_MAX, 16); /* saturates */
}

MODULE_TEST(structs_have_std430_layout)
{
  vyre_string name = vyre_string_intern(m, "S", 1), first = vyre_string_intern(m, "a", 1), second = vyre_string_intern(m, "b", 1);
  const vyre_member inner_members[] = {{first, F32X3, VYRE_OFFSET_AUTO, 0}, {second, F32, VYRE_OFFSET_AUTO, VYRE_ACCESS_NO_WRITE}};
  vyre_type_id inner = vyre_type_struct(m, name, inner_members, 2, 0);
  check_layout(inner, 16, 16, 0);
  vyre_type_info info = vyre_type_get(m, inner);
  assert_int_equal(info.members[0].offset, 0);
  assert_int_equal(info.members[1].offset, 12); /* a scalar fits after a vec3 */
  assert_int_equal(info.members[1].access, VYRE_ACCESS_NO_WRITE);
  assert_string_equal(vyre_string_text(m, info.name), "S");
  const vyre_member outer_members[] = {
      {first, F32, VYRE_OFFSET_AUTO, 0},
      {second, inner, VYRE_OFFSET_AUTO, 0},
      {first, F32X2, VYRE_OFFSET_AUTO, 0},
      {first, vyre_type_matrix(m, F32X3, 3, 0, false), VYRE_OFFSET_AUTO, 0},
      {second, vyre_type_runtime_array(m, inner, 0), VYRE_OFFSET_AUTO, 0},
  };
  info = vyre_type_get(m, vyre_type_struct(m, name, outer_members, 5, VYRE_TYPE_BLOCK));
  const uint32_t offsets[] = {0, 16, 32, 48, 96};
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(info.members[i].offset, offsets[i]);
  assert_int_equal(info.size, 96);
  assert_int_equal(info.flags, VYRE_TYPE_BLOCK);
  const vyre_member explicit_members[] = {{first, F32, 64, 0}, {second, F32X4, 16, 0}}; /* in any order */
  check_layout(vyre_type_struct(m, name, explicit_members, 2, 0), 16, 80, 0);
  check_layout(vyre_type_struct(m, name, NULL, 0, 0), 1, 0, 0);
  const vyre_member of_2_bytes[] = {{first, VYRE_TYPE(VYRE_U8, 1), VYRE_OFFSET_AUTO, 0},
                                    {second, VYRE_TYPE(VYRE_F16, 1), VYRE_OFFSET_AUTO, 0},
                                    {first, VYRE_TYPE(VYRE_U8, 1), VYRE_OFFSET_AUTO, 0}};
  check_layout(vyre_type_struct(m, name, of_2_bytes, 3, 0), 2, 6, 0);
  const vyre_member of_8_bytes[] = {
      {first, F32, VYRE_OFFSET_AUTO, 0}, {second, F32X2, VYRE_OFFSET_AUTO, 0}, {first, F32, VYRE_OFFSET_AUTO, 0}};
  check_layout(vyre_type_struct(m, name, of_8_bytes, 3, 0), 8, 24, 0);
}

PROGRAM_TEST(equal_types_have_equal_ids)
{
  vyre_row n = vyre_build_spec(&b, U32, 4, 0);
  vyre_string s = vyre_string_intern(m, "s", 1), t = vyre_string_intern(m, "t", 1);
  const vyre_member x[] = {{s, F32, VYRE_OFFSET_AUTO, 0}}, y[] = {{t, F32, VYRE_OFFSET_AUTO, 0}}, z[] = {{s, F32, 4, 0}};
  const vyre_member w[] = {{s, F32, VYRE_OFFSET_AUTO, VYRE_ACCESS_COHERENT}};
  vyre_type_id ids[2][18];
  for (int round = 0; round < 2; round++) {
    vyre_type_id *id = ids[round];
    *id++ = vyre_type_array(m, F32, 4, VYRE_NONE, 0);
    *id++ = vyre_type_array(m, F32, 5, VYRE_NONE, 0);
    *id++ = vyre_type_array(m, U32, 4, VYRE_NONE, 0);
    *id++ = vyre_type_array(m, F32, 4, VYRE_NONE, 8);
    *id++ = vyre_type_array(m, F32, 0, n, 0);
    *id++ = vyre_type_array(m, F32, 0, VYRE_NONE, 0);
    *id++ = vyre_type_runtime_array(m, F32, 0);
    *id++ = vyre_type_runtime_array(m, F32, 16);
    *id++ = vyre_type_matrix(m, F32X4, 4, 0, false);
    *id++ = vyre_type_matrix(m, F32X4, 4, 0, true);
    *id++ = vyre_type_matrix(m, F32X4, 3, 0, false);
    *id++ = vyre_type_struct(m, s, x, 1, 0);
    *id++ = vyre_type_struct(m, t, x, 1, 0);
    *id++ = vyre_type_struct(m, s, y, 1, 0);
    *id++ = vyre_type_struct(m, s, z, 1, 0);
    *id++ = vyre_type_struct(m, s, x, 1, VYRE_TYPE_BLOCK);
    *id++ = vyre_type_struct(m, s, w, 1, 0);
    *id++ = vyre_type_struct(m, s, NULL, 0, 0);
  }
  for (uint32_t i = 0; i < 18; i++) {
    assert_int_equal(ids[0][i], 256 + i);
    assert_int_equal(ids[1][i], 256 + i);
  }
  assert_int_equal(vyre_type_count(m), 256 + 18);
  assert_int_equal(vyre_type_array(m, F32, 4, VYRE_NONE, 4), ids[0][0]); /* the same stride, given explicitly */
  for (uint32_t i = 0; i < 5000; i++)
    assert_int_equal(vyre_type_array(m, F32, i + 100, VYRE_NONE, 0), 256 + 18 + i);
  for (uint32_t i = 0; i < 5000; i++)
    assert_int_equal(vyre_type_array(m, F32, i + 100, VYRE_NONE, 0), 256 + 18 + i);
}

MODULE_TEST(a_path_steps_to_parts)
{
  vyre_type_id array = vyre_type_array(m, F32X3, 4, VYRE_NONE, 0), matrix = vyre_type_matrix(m, F32X3, 2, 0, false);
  const vyre_member members[] = {{0, array, VYRE_OFFSET_AUTO, 0}, {0, matrix, VYRE_OFFSET_AUTO, 0}};
  vyre_type_id type = vyre_type_struct(m, 0, members, 2, 0);
  assert_int_equal(vyre_type_step(m, type, 0), array);
  assert_int_equal(vyre_type_step(m, type, 1), matrix);
  assert_int_equal(vyre_type_step(m, type, 2), 0);
  assert_int_equal(vyre_type_step(m, array, 99), F32X3);
  assert_int_equal(vyre_type_step(m, matrix, 1), F32X3);
  assert_int_equal(vyre_type_step(m, matrix, 2), 0);
  assert_int_equal(vyre_type_step(m, F32X3, 2), F32);
  assert_int_equal(vyre_type_step(m, F32X3, 75), F32);
  assert_int_equal(vyre_type_step(m, F32, 0), 0);
  assert_int_equal(vyre_type_step(m, 0, 0), 0);
  assert_int_equal(vyre_type_step(m, 999, 0), 0);
}

PROGRAM_TEST(types_may_nest_200000_deep)
{
  vyre_type_id type = F32;
  for (int i = 0; i < 200000; i++) { /* a walk over all parts would need 2^200000 steps, and a recursion a frame for each type */
    const vyre_member members[] = {{0, type, 0, 0}, {0, type, 0, 0}};
    type = vyre_type_struct(m, 0, members, 2, 0);
  }
  assert_true(vyre_build_buffer(&b, type, VYRE_SPACE_STORAGE, 0, 0, 0).id != 0);
  assert_null(vyre_module_seal(m, NULL));
}

PROGRAM_TEST(lengths_that_are_rows_follow_the_seal)
{
  vyre_row n = vyre_build_spec(&b, U32, 4, 7);
  vyre_row twice = vyre_build_imm(&b, VYRE_OP_mul, n, 2);
  vyre_type_id by_spec = vyre_type_array(m, F32, 0, n, 0), by_row = vyre_type_array(m, F32, 0, twice, 0);
  vyre_type_id nested = vyre_type_array(m, by_row, 3, VYRE_NONE, 0);
  vyre_row x = vyre_build_buffer(&b, nested, VYRE_SPACE_WORKGROUP, 0, 0, 0);
  vyre_row y = vyre_build_buffer(&b, by_spec, VYRE_SPACE_WORKGROUP, 0, 0, 0);
  vyre_build_const(&b, F32, 1);
  uint32_t map[16];
  seal(map);
  check_sealed(m);
  assert_true(map[n.id] < map[twice.id] && map[twice.id] < map[x.id] && map[x.id] < map[y.id]);
  assert_int_equal(vyre_type_get(m, by_spec).count_row, map[n.id]);
  assert_int_equal(vyre_type_get(m, by_row).count_row, map[twice.id]);
  assert_int_equal(vyre_type_array(m, F32, 0, row_of(map[twice.id]), 0), by_row); /* found by the new id */
  assert_int_equal(vyre_type_array(m, F32, 0, row_of(map[n.id]), 0), by_spec);
  vyre_row z = vyre_build_buffer(&b, nested, VYRE_SPACE_WORKGROUP, 0, 0, 0);
  assert_null(vyre_module_seal(m, map));
  assert_true(vyre_type_get(m, by_row).count_row < map[z.id]);
}
