/* Options of the printer: comments, messages at rows, one program; and damaged modules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/table.h"
#include "text_test.h"

static const char two_programs[] = "struct @A { x : f32 }\n"
                                   "struct @B { x : u32 }\n"
                                   "program @first {\n"
                                   "  buffer %a : @A[] storage rw set(0) binding(0)\n"
                                   "  %i = lindex\n"
                                   "  if true {\n"
                                   "    store %a[%i].x, 1.0f32\n"
                                   "  }\n"
                                   "}\n"
                                   "program @second {\n"
                                   "  buffer %b : @B storage rw set(0) binding(0)\n"
                                   "}\n";

TEST(one_program_is_printed_with_its_structs)
{
  vyre_module *module = parse(two_programs);
  const vyre_view *v = vyre_module_view(module);
  vyre_text_options options = {.struct_size = sizeof options, .program = v->last[0]};
  assert_prints(module, &options,
                "struct @B { x : u32 }\n\n"
                "program @second workgroup(1, 1, 1) {\n"
                "  buffer %b : @B storage rw set(0) binding(0)\n"
                "}\n");
  options.program = v->first[0];
  assert_prints(module, &options,
                "struct @A { x : f32 }\n\n"
                "program @first workgroup(1, 1, 1) {\n"
                "  buffer %a : @A[] storage rw set(0) binding(0)\n"
                "  %i = lindex\n"
                "  if true {\n"
                "    store %a[%i].x, 1.0f32\n"
                "  }\n"
                "}\n");
  options.program = v->rows;
  vyre_bytes out = {0};
  assert_error(vyre_text_print(module, &options, &out), VYRE_CODE_INPUT, "");
  vyre_bytes_free(&out);
  vyre_module_destroy(module);
}

TEST(rows_and_lines_are_printed_as_comments)
{
  vyre_module *module = parse(two_programs);
  uint32_t store = find_op(module, VYRE_OP_store);
  vyre_row_set_line(module, (vyre_row){store}, vyre_string_intern(module, "a \"b\".comp", 10), 12, 3);
  vyre_text_options options = {.struct_size = sizeof options, .rows = true, .lines = true};
  vyre_bytes text = print(module, &options);
  char wanted[96];
  snprintf(wanted, sizeof(wanted), "    store %%a[%%i].x, 1.0f32 ; row %u, \"a \\\"b\\\".comp\":12:3\n", store);
  assert_non_null(strstr(text.data, wanted));
  options.rows = false;
  vyre_bytes lines = print(module, &options);
  assert_non_null(strstr(lines.data, "    store %a[%i].x, 1.0f32 ; \"a \\\"b\\\".comp\":12:3\n"));
  vyre_module_destroy(parse(text.data)); /* the parser ignores comments */
  vyre_bytes_free(&text);
  vyre_bytes_free(&lines);
  vyre_module_destroy(module);
}

TEST(messages_are_printed_at_their_rows)
{
  vyre_module *module = parse(two_programs);
  uint32_t program = vyre_module_view(module)->first[0];
  const vyre_text_note notes[] = {
      {program, "about the program"},
      {find_op(module, VYRE_OP_const), "about a literal"},
      {find_op(module, VYRE_OP_lindex), "about the index"},
      {find_op(module, VYRE_OP_if), "about the if"},
      {find_op(module, VYRE_OP_at), "about a path"},
      {find_op(module, VYRE_OP_store), "one"},
      {find_op(module, VYRE_OP_store), "two"},
  };
  const vyre_text_options options = {
      .struct_size = sizeof options, .program = program, .notes = notes, .note_count = sizeof(notes) / sizeof(*notes)};
  assert_prints(module, &options,
                "struct @A { x : f32 }\n\n"
                "program @first workgroup(1, 1, 1) {\n"
                "; error: about the program\n"
                "  ; error: about a literal\n"
                "  buffer %a : @A[] storage rw set(0) binding(0)\n"
                "  %i = lindex\n"
                "  ; error: about the index\n"
                "  if true {\n"
                "  ; error: about the if\n"
                "    ; error: about a path\n"
                "    store %a[%i].x, 1.0f32\n"
                "    ; error: one\n"
                "    ; error: two\n"
                "  }\n"
                "}\n");
  vyre_module_destroy(module);
}

/* Structs of one name but different members get different names.  Members of one name are printed by number. */
TEST(names_of_structs_are_made_unique)
{
  vyre_module *module = new_module();
  vyre_builder b;
  uint32_t input = vyre_module_add_input(module, "x");
  vyre_build_program(module, "p", 0, input, &b);
  vyre_string name = vyre_string_intern(module, "S", 1);
  vyre_string member = vyre_string_intern(module, "m", 1);
  for (uint32_t i = 0; i < 4; i++) {
    vyre_member members[] = {{i == 3 ? 0 : member, VYRE_TYPE(VYRE_F32, i + 1), VYRE_OFFSET_AUTO, 0},
                             {i == 2 ? member : 0, VYRE_TYPE(VYRE_U32, 1), VYRE_OFFSET_AUTO, 0}};
    vyre_type_id type = vyre_type_struct(module, i == 3 ? 0 : name, members, 2, 0);
    vyre_row buffer = vyre_build_buffer(&b, type, VYRE_SPACE_WORKGROUP, 0, 0, 0);
    vyre_row path = vyre_build_at_literal(&b, buffer, 1);
    vyre_build_store(&b, path, vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), 7), 0);
  }
  assert_null(vyre_module_seal(module, NULL));
  check_prints(module, "struct @S { m : f32, \"\" : u32 }\n"
                       "struct @S.2 { m : f32x2, \"\" : u32 }\n"
                       "struct @S.3 { \"\" : f32x3, \"\" : u32 }\n"
                       "struct @struct { \"\" : f32x4, \"\" : u32 }\n\n"
                       "program @p workgroup(1, 1, 1) {\n"
                       "  buffer %0 : @S workgroup\n"
                       "  buffer %1 : @S.2 workgroup\n"
                       "  buffer %2 : @S.3 workgroup\n"
                       "  buffer %3 : @struct workgroup\n"
                       "  store %0[1], 7u32\n"
                       "  store %1[1], 7u32\n"
                       "  store %2[1], 7u32\n"
                       "  store %3[1], 7u32\n"
                       "}\n");
  vyre_module_destroy(module);
}

/* Rows of every kind with operands that are dead, themselves or out of range are printed without an endless walk. */
TEST(damaged_rows_are_printed)
{
  for (size_t file = 0; file < CORPUS_COUNT; file++) {
    for (uint32_t kind = 0; kind < 5; kind++) {
      vyre_module *module = parse_corpus(corpus[file]);
      const vyre_view *v = vyre_module_view(module);
      for (uint32_t row = 1; row < v->rows; row++) {
        uint32_t op = VYRE_ROW_OP(v->op[row]);
        if (vyre_op_infos[op].flags & (VYRE_OP_REGION | VYRE_OP_REGIONS))
          continue;
        const uint32_t wrong[] = {row, 0, v->rows, UINT32_MAX, v->rows - row};
        module->column[COLUMN_A][row] = module->column[COLUMN_B][row] = module->column[COLUMN_C][row] = wrong[kind];
        if (kind == 4 && row % 3 == 0)
          module->column[COLUMN_OP][row] = VYRE_ROW(999, 0xff, 0x7e);
        if (kind == 3)
          module->column[COLUMN_IMM][row] ^= UINT32_MAX;
        if (kind == 2 && row % 7 == 0)
          module->column[COLUMN_NEXT][row] = row - 3;
      }
      vyre_text_note note = {v->rows / 2, "note"};
      vyre_text_options options = {.struct_size = sizeof options, .rows = true, .notes = &note, .note_count = 1};
      vyre_bytes text = print(module, &options);
      assert_true(text.size > 0);
      vyre_bytes_free(&text);
      vyre_module_destroy(module);
    }
  }
}

/* Labels are constants.  A tuple that has other users, too, is printed by its parts. */
TEST(labels_are_printed_one_by_one)
{
  static const char text[] = "program @p workgroup(1, 1, 1) {\n"
                             "  %t = tuple 1u32, 2u32, 3u32\n"
                             "  switch lindex {\n"
                             "    case 9u32, 10u32, 11u32, 12u32, 13u32 {\n"
                             "    }\n"
                             "  }\n"
                             "}\n";
  vyre_module *module = parse(text);
  const vyre_view *v = vyre_module_view(module);
  uint32_t shared = find_op(module, VYRE_OP_tuple), labels = v->a[find_op(module, VYRE_OP_case)];
  vyre_row_set_operand(module, (vyre_row){labels}, 2, (vyre_row){shared});
  vyre_bytes printed = print(module, NULL);
  assert_non_null(strstr(printed.data, "    case 9u32, 10u32, 1u32, 2u32, 3u32 {\n"));
  vyre_module_destroy(parse(printed.data));
  vyre_module_destroy(module);
  vyre_bytes_free(&printed);
}

/* A length that is a const row is printed as a row, not as the literal length of an array. */
TEST(a_const_row_may_be_a_length)
{
  vyre_module *module = new_module();
  vyre_builder b;
  vyre_build_program(module, "p", 0, vyre_module_add_input(module, "p"), &b);
  vyre_build_buffer(&b, vyre_type_array(module, F32, 0, vyre_build_const(&b, U32, 4), 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  assert_null(vyre_module_seal(module, NULL));
  static const char wanted[] = "program @p workgroup(1, 1, 1) {\n"
                               "  %0 = const 4u32\n"
                               "  buffer %1 : f32[%0] workgroup\n"
                               "}\n";
  assert_prints(module, NULL, wanted);
  vyre_module *again = parse(wanted);
  assert_prints(again, NULL, wanted);
  vyre_module_destroy(again);
  vyre_module_destroy(module);
}
