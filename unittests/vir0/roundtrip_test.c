/* A module is unchanged after writing and reading, its bytes depend on nothing else, and version 1 is frozen.
 *
 * `unit-vir0-roundtrip freeze` writes version1.vir0 and version1.vir.  Only a new version may need that.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"
#include "vir0/vir0.h"

static void
check_round_trip(vyre_module *module)
{
  vyre_bytes first = sample_write(module);
  vyre_module *again = sample_read(&first);
  sample_compare(module, again);
  assert_same_bytes(first, sample_write(again));
  vyre_module_destroy(again);
}

static vyre_module *
read_input(const char *folder, const char *name, const char *end)
{
  char path[1024];
  snprintf(path, sizeof(path), "%s%s%s", folder, name, end);
  const vyre_glsl_options glsl = {.struct_size = sizeof glsl, .debug = true};
  vyre_input_kind kind;
  vyre_module *m = new_module();
  assert_ok(vyre_input_read(m, path, &glsl, (vyre_diagnostics){0}, &kind));
  return m;
}

TEST(texts_are_unchanged)
{
  static const char *const names[] = {"ops", "control", "memory", "functions", "names", "literals"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    vyre_module *m = read_input(CORPUS, names[i], ".vir");
    check_round_trip(m);
    vyre_module_destroy(m);
  }
}

/* With lines.  The SPIR-V of the read module equals that of the original. */
TEST(examples_are_unchanged)
{
  static const char *const names[] = {"saxpy",  "matmul",     "reduce", "scan",     "histogram",
                                      "sha256", "mandelbrot", "blur",   "particles"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    vyre_module *m = read_input(EXAMPLES, names[i], ".comp");
    check_round_trip(m);
    vyre_bytes file = sample_write(m), direct = {0}, by_way = {0};
    vyre_module *again = sample_read(&file);
    assert_null(vyre_spirv_write(m, 0, NULL, &direct));
    assert_null(vyre_spirv_write(again, 0, NULL, &by_way));
    assert_same_bytes(direct, by_way);
    vyre_bytes_free(&file);
    vyre_module_destroy(again);
    vyre_module_destroy(m);
  }
}

TEST(the_sample_is_unchanged)
{
  vyre_module *m = sample_new();
  check_round_trip(m);
  vyre_module_clear(m);
  check_round_trip(m); /* an empty module */
  vyre_module_destroy(m);
}

/* A scope that is read keeps its callers, which precede it in the file in any original order. */
TEST(scopes_are_unchanged)
{
  vyre_module *m = sample_new();
  sample_add_scopes(m);
  check_round_trip(m);
  vyre_module *clone;
  assert_null(vyre_module_clone(m, &clone));
  sample_compare(m, clone);
  vyre_bytes words = {0};
  assert_null(vyre_spirv_write(m, 0, NULL, &words));
  vyre_bytes_free(&words);
  vyre_module_destroy(clone);
  vyre_module_destroy(m);
}

/* A module that is read can be edited: names, strings, types and constants are found again. */
TEST(a_read_module_can_be_edited)
{
  vyre_module *m = sample_new();
  vyre_bytes file = sample_write(m);
  vyre_module *n = sample_read(&file);
  assert_int_equal(vyre_string_intern(n, "Block", 5), vyre_string_intern(n, "Block", 5));
  uint32_t texts = n->texts_size, types = n->type_count, scopes = n->scope_count;
  vyre_string_intern(n, "sample.comp", 11);
  assert_int_equal(n->texts_size, texts);
  assert_true(vyre_type_array(n, F32, 3, VYRE_NONE, 0) >= 256);
  vyre_type_matrix(n, VYRE_TYPE(VYRE_F32, 3), 3, 0, true);
  assert_int_equal(n->type_count, types);
  vyre_builder b = {.module = n};
  vyre_builder_at_end(&b, (vyre_row){1});
  uint32_t rows = n->view.rows;
  vyre_row one = vyre_build_const(&b, U32, 1);
  assert_int_equal(n->view.rows, rows); /* the constant existed */
  vyre_row_set_line(n, one, vyre_string_intern(n, "other.glsl", 10), 1, 1);
  assert_int_equal(n->scope_count, scopes);
  vyre_row_set_name(n, vyre_build_unary(&b, VYRE_OP_not, one), "n", 1);
  assert_null(vyre_module_seal(n, NULL));
  check_round_trip(n);
  vyre_bytes_free(&file);
  vyre_module_destroy(n);
  vyre_module_destroy(m);
}

TEST(bytes_do_not_depend_on_history)
{
  vyre_module *m = sample_new(), *n, *copy;
  vyre_bytes first = sample_write(m);
  for (const char *at = first.data; at + 8 < first.data + first.size; at++) {
    assert_memory_not_equal(at, "dropped", 7);
    assert_memory_not_equal(at, "nobody's", 8);
  }
  /* with other strings and types from before a clear, and with versions */
  n = parse("program @main { %dropped = lindex }");
  vyre_string_intern(n, "first.spv", 9);
  vyre_module_clear(n);
  vyre_string_intern(n, "other.glsl", 10);
  vyre_string_intern(n, "main", 4);
  sample_build(n);
  assert_null(vyre_module_seal(n, NULL));
  assert_null(vyre_module_make_analyses(n, VYRE_VERSIONS));
  assert_null(vyre_module_clone(n, &copy));
  vyre_bytes second = sample_write(n), third = {0};
  assert_null(vyre_bytes_append(&third, "x", 1)); /* the file begins at an odd address */
  assert_null(vyre_vir0_write(copy, NULL, 0, &third));
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.data, second.data, first.size);
  assert_int_equal(first.size + 1, third.size);
  assert_memory_equal(first.data, third.data + 1, first.size);
  vyre_module_clear(n);
  assert_null(vyre_vir0_read(n, third.data + 1, third.size - 1, "odd", NULL, 0));
  sample_compare(m, n);
  vyre_bytes_free(&first);
  vyre_bytes_free(&second);
  vyre_bytes_free(&third);
  vyre_module_destroy(copy);
  vyre_module_destroy(n);
  vyre_module_destroy(m);
}

TEST(named_sections_are_kept)
{
  vyre_module *m = sample_new(), *n;
  const vyre_vir0_named named[] = {{"loops.trips", "12345", 5, true}, {"must.know", "", 0, false}, {"last", "\1\2\3", 3, true}};
  const char *const known[] = {"other", "must.know"};
  vyre_bytes file = {0};
  size_t size;
  assert_null(vyre_vir0_write(m, named, 3, &file));
  n = new_module();
  assert_null(vyre_vir0_read(n, file.data, file.size, "f", known, 2));
  sample_compare(m, n);
  const char *data = vyre_vir0_find(file.data, file.size, "loops.trips", &size);
  assert_int_equal(size, 5);
  assert_memory_equal(data, "12345", 5);
  assert_non_null(vyre_vir0_find(file.data, file.size, "must.know", &size));
  assert_int_equal(size, 0);
  assert_null(vyre_vir0_find(file.data, file.size, "op", &size)); /* vyre's own sections are not found by name */
  assert_null(vyre_vir0_find(file.data, file.size - 1, "last", &size));
  vyre_module_clear(n);
  assert_error(vyre_vir0_read(n, file.data, file.size, "f", known, 1), VYRE_CODE_INPUT,
               "has a section 'must.know' (kind 65536) that its reader must understand");
  vyre_bytes_free(&file);
  assert_null(vyre_vir0_write(m, named, 1, &file));
  assert_null(vyre_vir0_read(n, file.data, file.size, "f", NULL, 0)); /* the section is optional, so it is skipped */
  static const vyre_vir0_named bad[] = {{"", "", 0, true},      {"a\n", "", 0, true}, {"abcdefghijklmnopqrstuvwx", "", 0, true},
                                        {"d\x7f", "", 0, true}, {NULL, "", 0, true},  {"twice", "", 0, true},
                                        {"twice", "", 0, true}};
  for (uint32_t i = 0; i < 6; i++) {
    vyre_bytes none = {0};
    assert_error(vyre_vir0_write(m, &bad[i], i == 5 ? 2 : 1, &none), VYRE_CODE_USAGE, "");
    assert_int_equal(none.size, 0);
  }
  vyre_bytes_free(&file);
  vyre_module_destroy(n);
  vyre_module_destroy(m);
}

TEST(invalid_calls_are_errors)
{
  vyre_module *m = sample_new();
  vyre_bytes file = sample_write(m), none = {0};
  assert_error(vyre_vir0_read(m, file.data, file.size, "f", NULL, 0), VYRE_CODE_INPUT,
               "the module to read it into is not empty\nFix: ");
  vyre_builder b;
  vyre_build_program(m, "late", 0, 0, &b);
  assert_error(vyre_vir0_write(m, NULL, 0, &none), VYRE_CODE_INTERNAL, "");
  vyre_module *small;
  assert_null(vyre_module_create(NULL, 16, &small));
  assert_error(vyre_vir0_read(small, file.data, file.size, "f", NULL, 0), VYRE_CODE_INPUT,
               "rows, but the module may have 16\nFix: ");
  vyre_module_destroy(small);
  vyre_bytes_free(&file);
  vyre_module_destroy(m);
}

/* The greatest depth is written and read.  A greater depth is not written. */
TEST(nesting_has_a_limit)
{
  for (uint32_t over = 0; over < 3; over++) {
    vyre_module *m = new_module();
    vyre_builder b;
    vyre_build_program(m, "deep", 0, vyre_module_add_input(m, "deep"), &b);
    vyre_type_id type = U32;
    for (uint32_t i = 0; i < VIR0_MAX_TYPE_DEPTH + (over == 1); i++)
      type = vyre_type_array(m, type, 1, VYRE_NONE, 0);
    vyre_build_buffer(&b, type, VYRE_SPACE_STORAGE, 0, 0, 0);
    for (uint32_t i = 1; i < VIR0_MAX_ROW_DEPTH; i += 2)
      vyre_build_block(&b);
    if (over == 2)
      vyre_build_jump(&b, VYRE_OP_return, VYRE_NONE);
    assert_null(vyre_module_seal(m, NULL));
    if (over) {
      vyre_bytes none = {0};
      assert_error(vyre_vir0_write(m, NULL, 0, &none), VYRE_CODE_INPUT,
                   over == 1 ? "types to nest 255 deep, but type 511 nests deeper" : "rows to nest 2047 deep");
    } else {
      check_round_trip(m);
    }
    vyre_module_destroy(m);
  }
}

/* ---- version 1 ---- */

/* Clears the op set, which is the writer's, and the header's hash, which covers it. */
static void
clear_op_set(const vyre_bytes *file)
{
  vyre_vir0_header header;
  memcpy(&header, file->data, sizeof header);
  header.opset = 0;
  header.hash = 0;
  memcpy(file->data, &header, sizeof header);
}

TEST(the_first_version_is_read)
{
  vyre_bytes file = {0}, wanted = {0}, text = {0};
  assert_null(vyre_file_read(FROZEN ".vir0", &file));
  assert_null(vyre_file_read(FROZEN ".vir", &wanted));
  uint32_t order;
  memcpy(&order, file.data + 4, 4);
  if (order != VYRE_VIR0_BYTE_ORDER)
    skip(); /* a machine of the other byte order refuses the file */
  vyre_module *m = sample_read(&file), *sample = sample_new();
  sample_compare(m, sample);
  assert_null(vyre_text_print(m, NULL, &text));
  assert_non_null(strstr(wanted.data, text.data)); /* the file has a comment before it */
  vyre_bytes again = sample_write(sample);
  assert_int_equal(again.size, file.size);
  clear_op_set(&file);
  clear_op_set(&again);
  assert_memory_equal(again.data, file.data, file.size);
  vyre_bytes_free(&again);
  vyre_bytes_free(&text);
  vyre_bytes_free(&wanted);
  vyre_bytes_free(&file);
  vyre_module_destroy(sample);
  vyre_module_destroy(m);
}

static int
freeze(void)
{
  vyre_module *m = sample_new();
  vyre_bytes file = sample_write(m), text = {0};
  assert_null(vyre_bytes_printf(
      &text, "; The contents of version1.vir0 that a text can express.\n; SPDX-License-Identifier: Apache-2.0\n\n"));
  assert_null(vyre_text_print(m, NULL, &text));
  assert_null(vyre_file_write(FROZEN ".vir0", file.data, file.size));
  assert_null(vyre_file_write(FROZEN ".vir", text.data, text.size));
  vyre_bytes_free(&file);
  vyre_bytes_free(&text);
  vyre_module_destroy(m);
  return 0;
}

int
main(int count, char **arguments)
{
  if (count > 1 && strcmp(arguments[1], "freeze") == 0)
    return freeze();
  return test_run(NULL, NULL);
}
