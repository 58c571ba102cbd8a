/* Each message of the parser with its position and fix, limits, and parsing after an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "text_test.h"

#define PROGRAM "program @p {\n  buffer %x : f32[] storage rw set(0) binding(0)\n  var %s : f32\n  %i = gid.x\n"
#define STRUCTS "struct @S { pos : f32x3, m : mat3(f32x3) }\nprogram @p {\n  buffer %s : @S[4] workgroup\n  %i = gid.x\n"

static const struct {
  const char *text;
  size_t length;
  const char *messages;
} wrong[] = {
#define TEXT(text, messages)  {text, sizeof(text) - 1, messages},
#define BODY(text, messages)  {PROGRAM text "\n}\n", sizeof(PROGRAM text "\n}\n") - 1, messages},
#define PATHS(text, messages) {STRUCTS text "\n}\n", sizeof(STRUCTS text "\n}\n") - 1, messages},
#include "errors.def"
};

static uint32_t
count_lines(const vyre_bytes *text)
{
  uint32_t lines = 0;
  for (size_t i = 0; i < text->size; i++)
    lines += text->data[i] == '\n';
  return lines;
}

/* Returns the messages about the text, to be freed.  Asserts that the status counts them. */
static vyre_bytes
messages_of(const char *text, size_t length)
{
  vyre_bytes messages = {0};
  char count[64];
  vyre_module *module = new_module();
  vyre_status status = vyre_text_parse(module, text, length, "test.vir", (vyre_diagnostics){note_message, &messages});
  snprintf(count, sizeof(count), "test.vir: %u error", count_lines(&messages));
  assert_error(status, VYRE_CODE_INPUT, count);
  vyre_module_destroy(module);
  return messages;
}

TEST(each_error_has_its_position)
{
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    vyre_bytes messages = messages_of(wrong[i].text, wrong[i].length);
    if (strcmp(messages.data, wrong[i].messages) != 0)
      fail_msg("%s\nwanted:\n%s\nfound:\n%s", wrong[i].text, wrong[i].messages, messages.data);
    vyre_bytes_free(&messages);
  }
}

/* Returns `prefix`, `times` times `part`, and `suffix`. */
static vyre_bytes
repeated(const char *prefix, const char *part, uint32_t times, const char *suffix)
{
  vyre_bytes text = {0};
  assert_null(vyre_bytes_printf(&text, "%s", prefix));
  for (uint32_t i = 0; i < times; i++)
    assert_null(vyre_bytes_append(&text, part, strlen(part)));
  assert_null(vyre_bytes_printf(&text, "%s", suffix));
  return text;
}

static void
check_message(vyre_bytes *text, const char *wanted)
{
  vyre_bytes messages = messages_of(text->data, text->size);
  assert_string_equal(messages.data, wanted);
  vyre_bytes_free(&messages);
  vyre_bytes_free(text);
}

TEST(long_numbers_are_refused)
{
  vyre_bytes text = repeated(PROGRAM "  %a = const ", "1", 1001, ".5f32\n}\n");
  check_message(&text, "5:14: the number has 1006 bytes, but the limit is 1000\n");
}

TEST(long_names_are_refused)
{
  vyre_bytes text = repeated(PROGRAM "  %", "n", 65536, " = const 1u32\n}\n");
  check_message(&text, "5:3: the name has 65536 bytes, but the limit is 65535\n");
}

/* errors.def has a deeper expression, which is an error. */
TEST(expressions_nest_64_deep)
{
  vyre_bytes good =
      repeated(PROGRAM "  %a = ", "neg(", 63, "%i)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))\n}\n");
  vyre_module_destroy(parse(good.data));
  vyre_bytes_free(&good);
}

TEST(regions_nest_1024_deep)
{
  vyre_bytes good = repeated(PROGRAM, "if true {\n", 1023, "");
  for (uint32_t i = 0; i < 1024; i++)
    assert_null(vyre_bytes_append(&good, "}\n", 2));
  vyre_module *module = parse(good.data);
  vyre_bytes printed = check_fixed_point(module);
  vyre_bytes_free(&printed);
  vyre_module_destroy(module);
  vyre_bytes_free(&good);
  vyre_bytes text = repeated(PROGRAM, "if true {\n", 1024, "");
  check_message(&text, "1028:9: regions nest deeper than 1024\n");
}

TEST(functions_with_too_much_inlined_text_are_refused)
{
  vyre_bytes text = {0};
  assert_null(vyre_bytes_printf(&text, "func @f0(%%a : u32) -> u32 { return add(%%a, 1u32) }\n"));
  for (uint32_t i = 1; i < 30; i++)
    assert_null(vyre_bytes_printf(&text, "func @f%u(%%a : u32) -> u32 { return @f%u(@f%u(%%a)) }\n", i, i - 1, i - 1));
  vyre_bytes messages = messages_of(text.data, text.size);
  assert_non_null(strstr(messages.data, "the functions inlined into this program have more than 16 MiB of text"));
  vyre_bytes_free(&messages);
  vyre_bytes_free(&text);
}

TEST(twenty_errors_are_reported)
{
  vyre_bytes text = repeated(PROGRAM, "  xyzzy 1\n", 40, "}\n");
  vyre_bytes messages = messages_of(text.data, text.size);
  assert_int_equal(count_lines(&messages), 20);
  assert_non_null(strstr(messages.data, "24:3: unknown op 'xyzzy'"));
  vyre_bytes_free(&messages);
  vyre_module *module = new_module();
  assert_error(vyre_text_parse(module, text.data, text.size, "a.vir", (vyre_diagnostics){0}), VYRE_CODE_INPUT,
               "a.vir: 20 errors, and perhaps more");
  vyre_module_destroy(module);
  vyre_bytes_free(&text);
}

/* Checks that each error is reported once.  Uses of the faulty value are not reported, and later statements are parsed. */
TEST(errors_do_not_cascade)
{
  static const char text[] = PROGRAM "  %a = ad %i, 1u32\n"
                                     "  %b = add %a, %j\n"
                                     "  if %b {\n"
                                     "    %c = muul %a, %b\n"
                                     "  }\n"
                                     "  store %x[%i] 1.0f32\n"
                                     "  if ult %a {\n"
                                     "    %skipped = nope\n"
                                     "  } else {\n"
                                     "  }\n"
                                     "  store %x[%b], %c\n"
                                     "}\n"
                                     "program @q {\n"
                                     "  %z = neg %i\n"
                                     "}\n";
  vyre_bytes messages = messages_of(text, sizeof(text) - 1);
  assert_string_equal(messages.data, "5:8: unknown op 'ad' | did you mean 'add'?\n"
                                     "6:16: %j is not defined\n"
                                     "8:10: unknown op 'muul' | did you mean 'mul'?\n"
                                     "10:16: expected ',', found '1.0f32'\n"
                                     "11:13: expected ',', found '{'\n"
                                     "18:12: %i is not defined\n");
  vyre_bytes_free(&messages);
}

static void
keep_first(void *user, const vyre_diagnostic *diagnostic)
{
  char *out = user;
  if (!*out)
    vyre_diagnostic_format(diagnostic, out, 512);
}

TEST(the_line_is_shown_with_a_caret)
{
  static const char text[] = "program @p {\r\n\t%a = add 1u32, 2.0f32 ; comment\r\n}\r\n";
  char shown[512] = "";
  vyre_module *module = new_module();
  vyre_status status = vyre_text_parse(module, text, sizeof(text) - 1, "dir/a.vir", (vyre_diagnostics){keep_first, shown});
  assert_string_equal(vyre_status_text(status),
                      "dir/a.vir: 1 error\nFix: correct the marked places; docs/ir.md describes the text");
  assert_string_equal(shown, "dir/a.vir:2:17: error: the left operand of add is u32, but the literal is f32\n"
                             "\t%a = add 1u32, 2.0f32 ; comment\n"
                             "\t               ^~~~~~\n");
  vyre_status_free(status);
  vyre_module_destroy(module);
}

TEST(empty_texts_and_comments_are_valid)
{
  static const char *const texts[] = {"", "\n", "; only a comment", "\xef\xbb\xbf; a mark of UTF-8\n", "\xef\xbb\xbf"};
  for (size_t i = 0; i < 5; i++)
    vyre_module_destroy(parse(texts[i]));
}
