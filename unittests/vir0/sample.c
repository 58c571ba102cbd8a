/* A module with everything that VIR0 can contain.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static vyre_string
text(vyre_module *m, const char *string)
{
  return vyre_string_intern(m, string, strlen(string));
}

static void
name(vyre_module *m, vyre_row row, const char *string)
{
  vyre_row_set_name(m, row, string, strlen(string));
}

static uint32_t
add_input(vyre_module *m, const char *path, uint32_t version)
{
  uint32_t index = vyre_module_add_input(m, path);
  vyre_input *input = vyre_module_input(m, index);
  input->spirv_version = version;
  input->memory = 1;
  const uint32_t extension[] = {3 << 16 | 10, 0x61, 0}, debug[] = {3 << 16 | 3, 2, 450, 2 << 16 | 4, 0x62};
  vyre_word_list_append(m, &input->capabilities, (const uint32_t[]){1, 4433}, 2);
  vyre_word_list_append(m, &input->extensions, extension, 3);
  vyre_word_list_append(m, &input->kept, debug, 5);
  return index;
}

/* Builds a program with all forms of types. */
static void
build_first(vyre_module *m, uint32_t input)
{
  vyre_builder b;
  vyre_row program = vyre_build_program(m, "main", VYRE_PROGRAM_RELAXED, input, &b);
  const uint32_t modes[] = {3 << 16 | 16, 0, 4461, 4 << 16 | 16, 0, 4462, 32};
  vyre_word_list_append(m, &vyre_program_info_of(m, program)->modes, modes, 7);
  vyre_program_info_of(m, program)->entry = text(m, "entry point");
  b.scope = vyre_scope_of_file(m, text(m, "sample.comp"));
  b.line = 12;
  b.column = 7;
  vyre_row n = vyre_build_spec(&b, U32, 16, 3);
  name(m, n, "n");
  vyre_row one = vyre_build_const(&b, U32, 1);
  vyre_build_workgroup(&b, n, one, one);
  vyre_type_id matrix = vyre_type_matrix(m, VYRE_TYPE(VYRE_F32, 3), 3, 0, true);
  vyre_member members[] = {{text(m, "gain"), F32, VYRE_OFFSET_AUTO, 0},
                           {text(m, "turn"), matrix, VYRE_OFFSET_AUTO, VYRE_ACCESS_NO_WRITE},
                           {text(m, "data"), vyre_type_runtime_array(m, F32X4, 0), VYRE_OFFSET_AUTO, 0}};
  vyre_type_id block = vyre_type_struct(m, text(m, "Block"), members, 3, VYRE_TYPE_BLOCK);
  vyre_row io = vyre_build_buffer(&b, block, VYRE_SPACE_STORAGE, VYRE_ACCESS_COHERENT, 1, 2);
  name(m, io, "io");
  vyre_buffer_info_of(m, io)->spirv_id = 77;
  vyre_row tile = vyre_build_buffer(&b, vyre_type_array(m, F32, 0, n, 4), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  name(m, tile, "tile");
  vyre_row table = vyre_build_buffer(&b, vyre_type_array(m, F32, 3, VYRE_NONE, 0), VYRE_SPACE_CONSTANT, VYRE_ACCESS_NO_WRITE, 0, 0);
  vyre_buffer_info_of(m, table)->initializer = vyre_module_add_initializer(m, (const uint32_t[]){0x3f800000, 0, 0x40000000}, 3);
  vyre_row var = vyre_build_var(&b, F32);
  b.line = 20;
  vyre_row i = vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row load = vyre_build_load(&b, vyre_build_at(&b, table, i), 0);
  vyre_row_set_decorations(m, load, (const uint32_t[]){42, 0, 6422, 2, 8, 9}, 6);
  vyre_row_set_line(m, load, text(m, "other.glsl"), 4000000000u, 4000);
  vyre_row_set_line(m, i, 0, 5, 0);
  vyre_build_set(&b, var, load);
  vyre_row test = vyre_build_if(&b, vyre_build_imm(&b, VYRE_OP_ult, i, 8));
  vyre_row place = vyre_build_lane(&b, load, 0); /* dropped without a trace */
  name(m, place, "dropped");
  vyre_row_kill(m, place);
  vyre_row get = vyre_build_get(&b, var); /* one row in each statement, so that the order of rows is fixed */
  vyre_row value = vyre_build_binary(&b, VYRE_OP_mul, get, load);
  vyre_row_set_line(m, value, text(m, "gone.glsl"), 3, 1);
  vyre_row_set_place(m, value, b.scope, 21, 1);
  vyre_build_store(&b, vyre_build_at(&b, tile, i), value, 0);
  vyre_builder_leave(&b, test);
  vyre_row again = vyre_build_load(&b, vyre_build_at(&b, tile, i), 0);
  vyre_build_store(&b, vyre_build_at_literal(&b, io, 0), again, VYRE_ROW_VOLATILE);
}

void
sample_build(vyre_module *m)
{
  uint32_t first = add_input(m, "first.spv", 0x10300);
  uint32_t second = add_input(m, "second.spv", 0x10600);
  vyre_builder b;
  text(m, "nobody's");
  build_first(m, second);
  vyre_build_program(m, "main", 0, first, &b); /* the second `main`, whose name becomes main_1 */
  vyre_row out = vyre_build_buffer(&b, vyre_type_array(m, U32, 4, VYRE_NONE, 0), VYRE_SPACE_STORAGE, 0, 0, 1);
  vyre_module_add_initializer(m, (const uint32_t[]){5}, 1); /* unused */
  vyre_row start = vyre_build_buffer(&b, U32, VYRE_SPACE_PRIVATE, 0, 0, 0);
  vyre_buffer_info_of(m, start)->initializer = vyre_module_add_initializer(m, (const uint32_t[]){9}, 1);
  vyre_row first_value = vyre_build_load(&b, start, 0);
  vyre_build_store(&b, vyre_build_at_literal(&b, out, 3), first_value, 0);
}

static void
keep_debug(vyre_module *m, uint32_t id, uint32_t number, const uint32_t *operands, uint32_t count)
{
  const uint32_t head[5] = {(count + 5) << 16 | 12, 0, id, 0, number};
  vyre_word_list_append(m, &vyre_module_input(m, 0)->kept, head, 5);
  vyre_word_list_append(m, &vyre_module_input(m, 0)->kept, operands, count);
}

void
sample_add_scopes(vyre_module *m)
{
  enum { FILE_NAME = 100, OUTER, INNER, SOURCE, UNIT, FUNCTION_TYPE, GLOBAL, TYPE, LOCAL };
  const uint32_t string[4] = {4 << 16 | 7, FILE_NAME, 0x6f632e61, 0x706d};
  vyre_word_list_append(m, &vyre_module_input(m, 0)->kept, string, 4);
  keep_debug(m, SOURCE, 35, (const uint32_t[]){FILE_NAME}, 1);
  keep_debug(m, UNIT, 1, (const uint32_t[]){1, 4, SOURCE, 2}, 4);
  keep_debug(m, FUNCTION_TYPE, 8, (const uint32_t[]){3, 0}, 2);
  keep_debug(m, OUTER, 20, (const uint32_t[]){FILE_NAME, FUNCTION_TYPE, SOURCE, 1, 2, UNIT, FILE_NAME, 3, 1}, 9);
  keep_debug(m, INNER, 20, (const uint32_t[]){FILE_NAME, FUNCTION_TYPE, SOURCE, 3, 4, UNIT, FILE_NAME, 3, 3}, 9);
  keep_debug(m, TYPE, 2, (const uint32_t[]){FILE_NAME, 32, 6, 0}, 4);
  keep_debug(m, GLOBAL, 18, (const uint32_t[]){FILE_NAME, TYPE, SOURCE, 5, 6, UNIT, FILE_NAME, 77, 8}, 9);
  keep_debug(m, LOCAL, 26, (const uint32_t[]){FILE_NAME, TYPE, SOURCE, 7, 8, INNER, 4, 1}, 8);
  vyre_scope_info info = {.file = text(m, "a.comp"), .entity = OUTER};
  const vyre_scope outer = vyre_scope_intern(m, &info);
  info = (vyre_scope_info){.file = info.file, .entity = INNER, .caller = outer, .call_line = 21, .call = 5};
  vyre_scope_info variable = {.entity = LOCAL, .caller = outer, .call_line = 21, .call = 5};
  vyre_scope_info part = {.variable = vyre_scope_intern(m, &variable), .index = 2};
  vyre_scope_info value = {.variable = part.variable, .index = 3, .order = 6, .depth = 7};
  value.values = vyre_scope_intern(m, &value);
  value.variable = vyre_scope_intern(m, &part);
  info.values = vyre_scope_intern(m, &value);
  const vyre_scope scopes[2] = {vyre_scope_intern(m, &info), outer};
  uint32_t count;
  const uint32_t *lines = vyre_module_lines(m, &count);
  for (uint32_t row = 2, k = 0; row < count; row++)
    if (lines[row])
      vyre_row_set_place(m, (vyre_row){row}, scopes[k++ % 2], lines[row], row);
}

vyre_module *
sample_new(void)
{
  vyre_module *m = new_module();
  vyre_verify_errors errors = {0};
  sample_build(m);
  assert_ok(vyre_module_seal(m, NULL));
  assert_ok(vyre_verify(m, &errors));
  vyre_verify_errors_free(&errors);
  return m;
}

vyre_bytes
sample_write(const vyre_module *module)
{
  vyre_bytes bytes = {0};
  assert_ok(vyre_vir0_write(module, NULL, 0, &bytes));
  return bytes;
}

vyre_module *
sample_read(const vyre_bytes *bytes)
{
  vyre_module *m = new_module();
  assert_ok(vyre_vir0_read(m, bytes->data, bytes->size, "sample.vir0", NULL, 0));
  assert_true(vyre_module_is_sealed(m));
  return m;
}

void
sample_rehash(vyre_bytes *bytes)
{
  vyre_vir0_header *header = (vyre_vir0_header *)(void *)bytes->data;
  vyre_vir0_section *sections = (vyre_vir0_section *)(void *)(header + 1);
  for (uint32_t i = 0; i < header->sections; i++)
    if (sections[i].offset <= bytes->size && sections[i].size <= bytes->size - sections[i].offset)
      sections[i].hash = XXH3_64bits(bytes->data + sections[i].offset, sections[i].size);
  header->hash = 0;
  header->hash = XXH3_64bits_withSeed(sections, header->sections * sizeof(*sections), XXH3_64bits(header, sizeof(*header)));
}

/* ---- comparing ---- */

static void
same_text(const vyre_module *x, vyre_string a, const vyre_module *y, vyre_string b)
{
  assert_string_equal(vyre_string_text(x, a), vyre_string_text(y, b));
}

static void
same_words(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
  assert_int_equal(a_count, b_count);
  if (a_count)
    assert_memory_equal(a, b, a_count * sizeof(*a));
}

static void
same_list(const vyre_word_list *a, const vyre_word_list *b)
{
  same_words(a->words, a->count, b->words, b->count);
}

static void
same_types(const vyre_module *x, const vyre_module *y)
{
  assert_int_equal(vyre_type_count(x), vyre_type_count(y));
  for (vyre_type_id id = 256; id < vyre_type_count(x); id++) {
    vyre_type_info a = vyre_type_get(x, id), b = vyre_type_get(y, id);
    const vyre_member *am = a.members, *bm = b.members;
    same_text(x, a.name, y, b.name);
    for (uint32_t i = 0; am && i < a.count; i++) {
      same_text(x, am[i].name, y, bm[i].name);
      assert_int_equal(am[i].type, bm[i].type);
      assert_int_equal(am[i].offset, bm[i].offset);
      assert_int_equal(am[i].access, bm[i].access);
    }
    assert_memory_equal(&a, &b, offsetof(vyre_type_info, members));
    assert_int_equal(table_length_row(x, id), table_length_row(y, id));
  }
}

static void
same_infos(vyre_module *x, vyre_module *y, vyre_row row)
{
  if (table_op_is(x, row.id, VYRE_OP_program)) {
    vyre_program_info *a = vyre_program_info_of(x, row), *b = vyre_program_info_of(y, row);
    assert_int_equal(a->input, b->input);
    same_text(x, a->entry, y, b->entry);
    same_list(&a->modes, &b->modes);
  }
  if (table_op_is(x, row.id, VYRE_OP_buffer)) {
    vyre_buffer_info *a = vyre_buffer_info_of(x, row), *b = vyre_buffer_info_of(y, row);
    uint32_t a_count, b_count;
    assert_int_equal(a->set, b->set);
    assert_int_equal(a->binding, b->binding);
    assert_int_equal(a->spirv_id, b->spirv_id);
    assert_int_equal(a->initializer == UINT32_MAX, b->initializer == UINT32_MAX);
    const uint32_t *a_words = vyre_module_initializer(x, a->initializer, &a_count);
    const uint32_t *b_words = vyre_module_initializer(y, b->initializer, &b_count);
    same_words(a_words, a_count, b_words, b_count);
  }
}

static void
same_scopes(vyre_module *x, vyre_scope in_x, vyre_module *y, vyre_scope in_y)
{
  const vyre_scope_info a = vyre_scope_get(x, in_x), b = vyre_scope_get(y, in_y);
  assert_int_equal(in_x != 0, in_y != 0);
  if (in_x == 0)
    return;
  same_text(x, a.file, y, b.file);
  assert_int_equal(a.entity, b.entity);
  assert_int_equal(a.call_line, b.call_line);
  assert_int_equal(a.call, b.call);
  assert_int_equal(a.index, b.index);
  assert_int_equal(a.order, b.order);
  assert_int_equal(a.depth, b.depth);
  same_scopes(x, a.caller, y, b.caller);
  same_scopes(x, a.variable, y, b.variable);
  same_scopes(x, a.values, y, b.values);
}

static void
same_sides(vyre_module *x, vyre_module *y, vyre_row row)
{
  const char *a = vyre_row_name(x, row), *b = vyre_row_name(y, row);
  assert_int_equal(a != NULL, b != NULL);
  if (a)
    assert_string_equal(a, b);
  vyre_string file[2];
  uint32_t line[2], column[2], count[2];
  assert_int_equal(vyre_row_line(x, row, &file[0], &line[0], &column[0]), vyre_row_line(y, row, &file[1], &line[1], &column[1]));
  same_text(x, file[0], y, file[1]);
  same_scopes(x, vyre_row_scope(x, row), y, vyre_row_scope(y, row));
  assert_int_equal(line[0], line[1]);
  assert_int_equal(column[0], column[1]);
  assert_int_equal(vyre_row_spec_id(x, row), vyre_row_spec_id(y, row));
  const uint32_t *x_words = vyre_row_decorations(x, row, &count[0]), *y_words = vyre_row_decorations(y, row, &count[1]);
  same_words(x_words, count[0], y_words, count[1]);
  same_infos(x, y, row);
}

void
sample_compare(vyre_module *x, vyre_module *y)
{
  assert_int_equal(x->view.rows, y->view.rows);
  for (uint32_t column = 0; column < COLUMN_SIDE; column++)
    for (uint32_t row = 0; row < x->view.rows; row++)
      assert_int_equal(x->column[column][row], y->column[column][row]);
  for (uint32_t row = 1; row < x->view.rows; row++)
    same_sides(x, y, (vyre_row){row});
  same_types(x, y);
  assert_int_equal(vyre_module_input_count(x), vyre_module_input_count(y));
  for (uint32_t i = 0; i < vyre_module_input_count(x); i++) {
    vyre_input *a = vyre_module_input(x, i), *b = vyre_module_input(y, i);
    same_text(x, a->path, y, b->path);
    assert_int_equal(a->spirv_version, b->spirv_version);
    assert_int_equal(a->addressing, b->addressing);
    assert_int_equal(a->memory, b->memory);
    same_list(&a->capabilities, &b->capabilities);
    same_list(&a->extensions, &b->extensions);
    same_list(&a->kept, &b->kept);
  }
}
