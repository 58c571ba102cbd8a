/* A module as a whole, and the data beside its columns: strings, inputs, programs, buffers, names, lines, spec ids, decorations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "program_test.h"

MODULE_TEST(an_empty_module_is_sealed)
{
  assert_int_equal(v->struct_size, sizeof(vyre_view));
  assert_int_equal(v->rows, 1);
  assert_int_equal(v->op[0] | v->a[0] | v->first[0] | v->last[0] | v->parent[0] | v->next[0], 0);
  assert_ptr_equal(v->op_infos, vyre_op_infos);
  check_sealed(m);
  uint32_t map[1] = {5};
  assert_null(vyre_module_seal(m, map));
  assert_int_equal(map[0], 0);
  assert_null(vyre_module_status(m));
  assert_non_null(vyre_module_allocator(m)->resize);
#ifdef __x86_64__ /* other processors may have pages of 64 KiB, of which each column takes one */
  assert_true(vyre_module_bytes(m) < 100000);
#endif
  assert_true(vyre_module_bytes(m) < 1000000);
  vyre_module_destroy(NULL);
}

TEST(every_op_is_found_by_its_text)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].text)
      assert_int_equal(vyre_op_find(vyre_op_infos[op].text, strlen(vyre_op_infos[op].text)), op);
  assert_int_equal(vyre_op_find("addx", 3), VYRE_OP_add);
  assert_int_equal(vyre_op_find("ad", 2), VYRE_OP_null);
  assert_int_equal(vyre_op_find("addx", 4), VYRE_OP_null);
  assert_int_equal(vyre_op_find("", 0), VYRE_OP_null);
}

/* Flags that passes, the verifier and the interpreter depend on, for an op of each kind. */
TEST(ops_have_the_expected_flags)
{
  static const struct {
    vyre_opcode op;
    uint32_t flags;
  } want[] = {
      {VYRE_OP_program, VYRE_OP_IDENTITY | VYRE_OP_REGION | VYRE_OP_INTERFACE},
      {VYRE_OP_workgroup, VYRE_OP_IDENTITY | VYRE_OP_INTERFACE},
      {VYRE_OP_spec, VYRE_OP_IDENTITY | VYRE_OP_INTERFACE},
      {VYRE_OP_buffer, VYRE_OP_IDENTITY | VYRE_OP_INTERFACE},
      {VYRE_OP_const, VYRE_OP_PURE},
      {VYRE_OP_var, VYRE_OP_IDENTITY},
      {VYRE_OP_loop, VYRE_OP_IDENTITY | VYRE_OP_REGIONS | VYRE_OP_EFFECT},
      {VYRE_OP_return, VYRE_OP_IDENTITY | VYRE_OP_EFFECT | VYRE_OP_ENDS},
      {VYRE_OP_barrier, VYRE_OP_IDENTITY | VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_EFFECT | VYRE_OP_CONVERGENT},
      {VYRE_OP_load, VYRE_OP_READS},
      {VYRE_OP_store, VYRE_OP_IDENTITY | VYRE_OP_WRITES | VYRE_OP_EFFECT},
      {VYRE_OP_atomic_add, VYRE_OP_IDENTITY | VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_EFFECT},
      {VYRE_OP_add, VYRE_OP_PURE | VYRE_OP_COMMUTES | VYRE_OP_ASSOC | VYRE_OP_TAKES_IMM},
      {VYRE_OP_sub, VYRE_OP_PURE | VYRE_OP_TAKES_IMM},
      {VYRE_OP_fmin, VYRE_OP_PURE | VYRE_OP_COMMUTES | VYRE_OP_TAKES_IMM},
      {VYRE_OP_subgroup_add, VYRE_OP_READS | VYRE_OP_CONVERGENT},
  };
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
    if (vyre_op_infos[want[i].op].flags != want[i].flags)
      fail_msg("%s has flags 0x%x, not 0x%x", vyre_op_infos[want[i].op].text, vyre_op_infos[want[i].op].flags, want[i].flags);
}

TEST(a_full_module_returns_an_error)
{
  assert_ok(vyre_module_create(NULL, 10, &m));
  vyre_build_program(m, "p", 0, 0, &b);
  for (uint32_t i = 4; i < 10; i++)
    assert_int_equal(build_gid(&b).id, i);
  assert_null(vyre_module_status(m));
  assert_int_equal(build_gid(&b).id, 0);
  assert_int_equal(vyre_build_const(&b, U32, 5).id, 0);
  assert_int_equal(vyre_build_program(m, "q", 0, 0, &b).id, 0);
  assert_error(vyre_module_status(m), VYRE_CODE_INPUT, "has reached its limit of 10 rows");
  assert_error(vyre_module_seal(m, NULL), VYRE_CODE_INPUT, "");
  vyre_module *copy;
  assert_error(vyre_module_clone(m, &copy), VYRE_CODE_INPUT, "");
  assert_null(copy);
  vyre_module_clear(m); /* a cleared module works again */
  assert_null(vyre_module_status(m));
  assert_int_equal(vyre_build_program(m, "p", 0, 0, &b).id, 1);
  assert_null(vyre_module_seal(m, NULL));
  vyre_module_destroy(m);
}

MODULE_TEST(texts_are_interned)
{
  assert_int_equal(vyre_string_intern(m, "", 0), 0);
  assert_int_equal(vyre_string_intern(m, NULL, 0), 0);
  assert_string_equal(vyre_string_text(m, 0), "");
  assert_string_equal(vyre_string_text(m, 12345), "");
  vyre_string ab = vyre_string_intern(m, "abc", 2), abc = vyre_string_intern(m, "abc", 3);
  assert_int_not_equal(ab, abc);
  assert_string_equal(vyre_string_text(m, ab), "ab");
  assert_int_equal(vyre_string_intern(m, "ab\0c", 4), ab); /* the text ends at its zero byte */
  char text[32];
  vyre_string ids[5000];
  size_t bytes = vyre_module_bytes(m);
  for (uint32_t i = 0; i < 5000; i++)
    ids[i] = vyre_string_intern(m, text, (size_t)snprintf(text, sizeof(text), "name%u", i));
  for (uint32_t i = 0; i < 5000; i++) {
    size_t length = (size_t)snprintf(text, sizeof(text), "name%u", i);
    assert_int_equal(vyre_string_intern(m, text, length), ids[i]);
    assert_string_equal(vyre_string_text(m, ids[i]), text);
  }
  assert_true(vyre_module_bytes(m) > bytes + 5000 * 9);
  for (uint32_t i = 0; i < 5000; i++) { /* from the buffer itself, which may move during the call */
    const char *own = vyre_string_text(m, ids[i]);
    vyre_string tail = vyre_string_intern(m, own + 1, strlen(own) - 1);
    snprintf(text, sizeof(text), "ame%u", i);
    assert_string_equal(vyre_string_text(m, tail), text);
  }
}

MODULE_TEST(inputs_and_infos_are_kept)
{
  for (uint32_t i = 0; i < 100; i++) {
    assert_int_equal(vyre_module_add_input(m, i % 2 ? "odd.spv" : "even.spv"), i);
    vyre_input *input = vyre_module_input(m, i);
    input->spirv_version = i;
    for (uint32_t word = 0; word < i; word++)
      vyre_word_list_append(m, &input->capabilities, &word, 1);
    vyre_word_list_append(m, &input->kept, NULL, 0);
  }
  assert_int_equal(vyre_module_input_count(m), 100);
  assert_string_equal(vyre_string_text(m, vyre_module_input(m, 7)->path), "odd.spv");
  assert_int_equal(vyre_module_input(m, 99)->capabilities.count, 99);
  assert_int_equal(vyre_module_input(m, 99)->capabilities.words[98], 98);
  assert_int_equal(vyre_module_input(m, 100)->path, 0); /* no such input: an empty one */
  vyre_row programs[50], buffers[50];
  for (uint32_t i = 0; i < 50; i++) {
    programs[i] = vyre_build_program(m, "p", 0, i, &b);
    vyre_word_list_append(m, &vyre_program_info_of(m, programs[i])->modes, &i, 1);
    buffers[i] = vyre_build_buffer(&b, F32, VYRE_SPACE_STORAGE, 0, i, i + 1);
    vyre_buffer_info_of(m, buffers[i])->spirv_id = i;
  }
  uint32_t map[512];
  vyre_row_kill(m, programs[0]);
  assert_null(vyre_module_seal(m, map));
  for (uint32_t i = 1; i < 50; i++) {
    assert_int_equal(vyre_program_info_of(m, row_of(map[programs[i].id]))->input, i);
    assert_int_equal(vyre_program_info_of(m, row_of(map[programs[i].id]))->modes.words[0], i);
    const vyre_buffer_info *info = vyre_buffer_info_of(m, row_of(map[buffers[i].id]));
    assert_true(info->set == i && info->binding == i + 1 && info->spirv_id == i && info->initializer == UINT32_MAX);
  }
  assert_int_equal(vyre_buffer_info_of(m, row_of(1))->initializer, UINT32_MAX); /* not a buffer: a dummy */
  assert_int_equal(vyre_program_info_of(m, row_of(2))->modes.count, 0);
  vyre_word_list_append(m, &vyre_program_info_of(m, row_of(2))->modes, map, 3); /* discarded without a leak */
}

MODULE_TEST(initializers_are_kept)
{
  const uint32_t words[] = {1, 2, 3};
  uint32_t count;
  for (uint32_t i = 0; i < 100; i++)
    assert_int_equal(vyre_module_add_initializer(m, words, i % 4), i);
  for (uint32_t i = 0; i < 100; i++) {
    const uint32_t *kept = vyre_module_initializer(m, i, &count);
    assert_int_equal(count, i % 4);
    if (count)
      assert_memory_equal(kept, words, count * sizeof(uint32_t));
  }
  assert_null(vyre_module_initializer(m, 100, &count));
  assert_int_equal(count, 0);
}

PROGRAM_TEST(lines_are_kept)
{
  vyre_string files[3] = {vyre_string_intern(m, "a.comp", 6), vyre_string_intern(m, "b.comp", 6), 0};
  vyre_row rows[300];
  for (uint32_t i = 0; i < 300; i++) {
    b.scope = vyre_scope_of_file(m, files[i % 3]);
    b.line = i * 100000;
    b.column = i * 5;
    rows[i] = build_gid(&b);
  }
  vyre_string file;
  uint32_t line, column;
  for (uint32_t i = 0; i < 300; i++) {
    assert_int_equal(vyre_row_line(m, rows[i], &file, &line, &column), i != 0);
    assert_int_equal(file, i ? files[i % 3] : 0);
    assert_int_equal(line, i * 100000);
    assert_int_equal(column, i * 5 < 1023 ? i * 5 : 1023);
  }
  vyre_row_set_line(m, rows[5], files[0], 0, 0);
  assert_false(vyre_row_line(m, rows[5], &file, &line, &column));
  assert_false(vyre_row_line(m, row_of(1), &file, &line, &column)); /* built without a line */
  assert_false(vyre_row_line(m, row_of(1 << 30), &file, &line, &column));
}

PROGRAM_TEST(spec_ids_and_decorations_are_kept)
{
  vyre_row x = build_gid(&b), y = build_gid(&b), z = build_gid(&b);
  assert_int_equal(vyre_row_spec_id(m, x), UINT32_MAX);
  vyre_row_set_spec_id(m, x, UINT32_MAX);
  vyre_row_set_spec_id(m, y, 0);
  assert_int_equal(vyre_row_spec_id(m, y), 0);
  const uint32_t words[] = {42, 0, 43, 1, 9};
  uint32_t count;
  assert_null(vyre_row_decorations(m, z, &count));
  vyre_row_set_decorations(m, z, words, 2);
  assert_int_equal(VYRE_ROW_FLAGS(v->op[z.id]), VYRE_ROW_DECO);
  vyre_row_set_decorations(m, z, words, 5);
  assert_memory_equal(vyre_row_decorations(m, z, &count), words, sizeof(words));
  assert_int_equal(count, 5);
  vyre_row_set_decorations(m, y, vyre_row_decorations(m, z, &count), 5); /* the words of another row */
  for (int i = 0; i < 50; i++)
    vyre_row_set_decorations(m, build_gid(&b), vyre_row_decorations(m, z, &count), 5);
  assert_memory_equal(vyre_row_decorations(m, y, &count), words, sizeof(words));
  vyre_row_set_decorations(m, z, words + 2, 3);
  assert_memory_equal(vyre_row_decorations(m, z, &count), words + 2, 3 * sizeof(uint32_t));
  assert_int_equal(count, 3);
  vyre_row_set_decorations(m, z, NULL, 0);
  assert_int_equal(VYRE_ROW_FLAGS(v->op[z.id]), 0);
  assert_null(vyre_row_decorations(m, z, &count));
  vyre_row_set_decorations(m, x, NULL, 0);
}

PROGRAM_TEST(names_are_set_and_removed)
{
  vyre_row x = build_gid(&b), y = build_gid(&b);
  assert_null(vyre_row_name(m, x));
  assert_null(vyre_row_name(m, VYRE_NONE));
  assert_null(vyre_row_name(m, row_of(1 << 30)));
  vyre_row_set_name(m, x, "long name", 4);
  assert_string_equal(vyre_row_name(m, x), "long");
  vyre_row_set_name(m, y, vyre_row_name(m, x), 4); /* the text of another row */
  assert_string_equal(vyre_row_name(m, y), "long");
  vyre_row_set_name(m, x, "", 0);
  assert_null(vyre_row_name(m, x));
  assert_string_equal(vyre_row_name(m, y), "long");
  vyre_row_set_name(m, VYRE_NONE, "no", 2);
  assert_null(vyre_row_name(m, VYRE_NONE));
  vyre_row_set_name(m, x, vyre_row_name(m, y), 2); /* a text of the module itself */
  assert_string_equal(vyre_row_name(m, x), "lo");
  assert_null(vyre_module_seal(m, NULL));
}

/* Builds a program with rows and data of most kinds. */
static void
fill(void)
{
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t input = vyre_module_add_input(m, "in.spv");
    vyre_word_list_append(m, &vyre_module_input(m, input)->extensions, &i, 1);
    vyre_word_list_append(m, &vyre_module_input(m, input)->capabilities, &i, 1);
    vyre_word_list_append(m, &vyre_module_input(m, input)->kept, &i, 1);
    program = vyre_build_program(m, "main", VYRE_PROGRAM_RELAXED, input, &b);
    vyre_word_list_append(m, &vyre_program_info_of(m, program)->modes, &i, 1);
    b.scope = vyre_scope_of_file(m, vyre_string_intern(m, "file", 4));
    b.line = 10 + i;
    vyre_row n = vyre_build_spec(&b, U32, 3, i);
    vyre_type_id type = vyre_type_array(m, F32, 0, n, 0);
    vyre_row x = vyre_build_buffer(&b, type, VYRE_SPACE_CONSTANT, 0, 0, 0);
    vyre_buffer_info_of(m, x)->initializer = vyre_module_add_initializer(m, &i, 1);
    vyre_row load = vyre_build_load(&b, vyre_build_at(&b, x, build_value(&b)), 0);
    vyre_row_set_name(m, load, "v", 1);
    vyre_row_set_name(m, vyre_build_binary(&b, VYRE_OP_add, load, vyre_build_const(&b, F32, ONE_F32)), "v", 1);
    vyre_row_set_decorations(m, load, &i, 1);
    vyre_row_kill(m, build_gid(&b));
  }
}

static void
check_filled(void)
{
  check_sealed(m);
  uint32_t seen = 0, count;
  for (uint32_t row = v->first[0]; row; row = v->next[row], seen++) {
    assert_string_equal(vyre_row_name(m, row_of(row)), seen == 0 ? "main" : seen == 1 ? "main_1" : "main_2");
    assert_int_equal(vyre_program_info_of(m, row_of(row))->modes.words[0], seen);
    assert_int_equal(vyre_program_info_of(m, row_of(row))->input, seen);
    for (uint32_t in = v->first[row]; in; in = v->next[in]) {
      vyre_string file;
      uint32_t line, column;
      if (VYRE_ROW_OP(v->op[in]) == VYRE_OP_spec) {
        assert_int_equal(vyre_row_spec_id(m, row_of(in)), seen);
        assert_int_equal(vyre_type_get(m, 256 + seen).count_row, in);
      } else if (VYRE_ROW_OP(v->op[in]) == VYRE_OP_buffer) {
        assert_int_equal(*vyre_module_initializer(m, vyre_buffer_info_of(m, row_of(in))->initializer, &count), seen);
      } else if (VYRE_ROW_OP(v->op[in]) == VYRE_OP_load) {
        assert_string_equal(vyre_row_name(m, row_of(in)), "v");
        assert_int_equal(*vyre_row_decorations(m, row_of(in), &count), seen);
        assert_true(vyre_row_line(m, row_of(in), &file, &line, &column));
        assert_string_equal(vyre_string_text(m, file), "file");
        assert_int_equal(line, 10 + seen);
      } else if (VYRE_ROW_OP(v->op[in]) == VYRE_OP_add) {
        assert_string_equal(vyre_row_name(m, row_of(in)), "v_1");
        assert_int_equal(v->imm[in], ONE_F32);
      }
    }
    const vyre_input *input = vyre_module_input(m, seen);
    assert_true(input->extensions.words[0] == seen && input->capabilities.words[0] == seen && input->kept.words[0] == seen);
  }
  assert_int_equal(seen, 3);
}

/* Makes `other` the module of the test. */
static void
change_to(vyre_module *other)
{
  m = other;
  v = vyre_module_view(m);
}

MODULE_TEST(a_copy_is_equal_and_independent)
{
  vyre_module *original = m, *copy;
  fill();
  assert_ok(vyre_module_clone(m, &copy));
  assert_ok(vyre_module_seal(m, NULL));
  check_filled();
  change_to(copy);
  check_filled();
  const vyre_view *w = vyre_module_view(original);
  assert_int_equal(v->rows, w->rows);
  const uint32_t *const ours[] = {v->op, v->imm, v->imm_hi, v->a, v->b, v->c, v->parent, v->prev, v->next, v->first, v->last};
  const uint32_t *const theirs[] = {w->op, w->imm, w->imm_hi, w->a, w->b, w->c, w->parent, w->prev, w->next, w->first, w->last};
  for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
    assert_memory_equal(ours[i], theirs[i], v->rows * sizeof(uint32_t));
  vyre_module_destroy(original);
  check_filled();
  fill(); /* its tables grow independently of the original */
  assert_ok(vyre_module_seal(m, NULL));
}

MODULE_TEST(a_cleared_module_is_empty)
{
  for (int i = 0; i < 3; i++) {
    fill();
    assert_null(vyre_module_seal(m, NULL));
    check_filled();
    size_t bytes = vyre_module_bytes(m);
    vyre_module_clear(m);
    assert_int_equal(vyre_module_view(m)->rows, 1);
    assert_int_equal(vyre_module_input_count(m), 0);
    assert_int_equal(vyre_type_count(m), 256);
    check_sealed(m);
    assert_true(vyre_module_bytes(m) <= bytes);
    vyre_build_program(m, "", 0, 0, &b); /* no name, line or spec id remains */
    for (uint32_t k = 0; k < 100; k++) {
      vyre_row row = build_gid(&b);
      uint32_t count;
      assert_null(vyre_row_name(m, row));
      assert_int_equal(vyre_row_spec_id(m, row), UINT32_MAX);
      assert_null(vyre_row_decorations(m, row, &count));
    }
    vyre_row_move_before(m, row_of(4), row_of(3));
    assert_false(vyre_module_is_sealed(m));
    vyre_module_clear(m);
    check_sealed(m);
  }
}

MODULE_TEST(files_of_a_cleared_module_are_forgotten)
{
  static const char *const names[3][2] = {{"a.comp", "b.comp"}, {"b.comp", "a.comp"}, {"a.comp", "c.comp"}};
  for (int round = 0; round < 3; round++) {
    vyre_build_program(m, "p", 0, 0, &b);
    vyre_row rows[2];
    for (uint32_t i = 0; i < 2; i++)
      vyre_row_set_line(m, rows[i] = build_gid(&b), vyre_string_intern(m, names[round][i], 6), 5, 6);
    for (uint32_t i = 0; i < 2; i++) {
      vyre_string file;
      uint32_t line, column;
      assert_true(vyre_row_line(m, rows[i], &file, &line, &column));
      assert_string_equal(vyre_string_text(m, file), names[round][i]);
    }
    vyre_module_clear(m);
  }
}

static void *
moving_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  (void)user;
  const vyre_allocator *plain = vyre_allocator_default();
  void *moved = new_size ? plain->resize(plain->user, NULL, 0, new_size) : NULL;
  if (moved && memory)
    memcpy(moved, memory, old_size < new_size ? old_size : new_size);
  if (memory && (moved || new_size == 0)) {
    memset(memory, 0xdd, old_size); /* makes stale reads visible */
    plain->resize(plain->user, memory, old_size, 0);
  }
  return moved;
}

TEST(tables_that_move_can_copy_their_own_texts_and_words)
{
  vyre_allocator moving = *vyre_allocator_default();
  moving.resize = moving_resize;
  assert_null(vyre_module_create(&moving, 0, &m));
  vyre_build_program(m, "p", 0, 0, &b);
  const uint32_t words[3] = {42, 43, 44};
  vyre_row first = build_gid(&b), row;
  vyre_row_set_decorations(m, first, words, 3);
  const char *text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
  vyre_string string = vyre_string_intern(m, text, strlen(text));
  for (size_t i = 1; i < strlen(text); i++) {
    uint32_t count;
    vyre_string tail = vyre_string_intern(m, vyre_string_text(m, string) + i, strlen(text) - i);
    assert_string_equal(vyre_string_text(m, tail), text + i);
    vyre_row_set_decorations(m, row = build_gid(&b), vyre_row_decorations(m, first, &count), 3);
    assert_memory_equal(vyre_row_decorations(m, row, &count), words, sizeof words);
  }
  vyre_module_destroy(m);
}
