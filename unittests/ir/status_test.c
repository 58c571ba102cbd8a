/* Status, diagnostics, bytes, the default allocator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/status.h"

TEST(a_status_is_its_message)
{
  vyre_status status = VYRE_ERROR(VYRE_CODE_USAGE, "no pass '%s'\nFix: see -list-passes", "dec");
  assert_int_equal(vyre_status_code(status), VYRE_CODE_USAGE);
  assert_string_equal(vyre_status_text(status), "no pass 'dec'\nFix: see -list-passes");
  vyre_status_free(status);
  assert_int_equal(vyre_status_code(VYRE_OK), VYRE_CODE_OK);
  assert_string_equal(vyre_status_text(VYRE_OK), "");
  vyre_status_free(VYRE_OK);
}

TEST(notes_precede_the_fix)
{
  vyre_status status = VYRE_ERROR(VYRE_CODE_INPUT, "bad\nFix: better");
  status = vyre_status_note(status, "while doing %d", 1);
  status = vyre_status_note(status, "while doing\nmore");
  assert_string_equal(vyre_status_text(status), "bad\n  while doing 1\n  while doing\n  more\nFix: better");
  vyre_status_free(status);
  assert_null(vyre_status_note(VYRE_OK, "nothing"));
}

TEST(the_first_error_wins)
{
  assert_null(vyre_status_join(VYRE_OK, VYRE_OK));
  vyre_status status = vyre_status_join(VYRE_OK, VYRE_ERROR(VYRE_CODE_DEVICE, "second"));
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  status = vyre_status_join(VYRE_ERROR(VYRE_CODE_INPUT, "first"), status);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  assert_string_equal(vyre_status_text(status), "first\n  second");
  status = vyre_status_join(status, VYRE_OK);
  assert_string_equal(vyre_status_text(status), "first\n  second");
  vyre_status_free(status);
}

/* The property belongs to the first error, as the code does. */
TEST(a_status_of_exhausted_memory_is_recognized)
{
  assert_false(vyre_status_is_out_of_memory(VYRE_OK));
  assert_null(vyre_status_mark_out_of_memory(VYRE_OK));
  vyre_status status = VYRE_OUT_OF_MEMORY("for a test");
  assert_true(vyre_status_is_out_of_memory(status));
  status = vyre_status_join(VYRE_ERROR(VYRE_CODE_DEVICE, "the device is out of memory"), status);
  assert_false(vyre_status_is_out_of_memory(status));
  status = vyre_status_note(vyre_status_mark_out_of_memory(status), "while allocating");
  assert_true(vyre_status_is_out_of_memory(status));
  assert_int_equal(vyre_status_code(status), VYRE_CODE_DEVICE);
  vyre_status_free(status);
}

TEST(an_error_without_a_fix_gets_the_one_of_its_kind)
{
  vyre_status status = VYRE_OUT_OF_MEMORY("for a test");
  assert_string_equal(vyre_status_text(status),
                      "out of memory for a test\nFix: close other programs, or raise the limit of memory (ulimit -v)");
  assert_ptr_equal(vyre_status_add_fix(status, VYRE_CODE_USAGE, "another"), status);
  vyre_status_free(status);
  status = vyre_status_add_fix(VYRE_ERROR(VYRE_CODE_INPUT, "bad\nFix: better"), VYRE_CODE_USAGE, "best");
  assert_int_equal(vyre_status_code(status), VYRE_CODE_USAGE);
  assert_string_equal(vyre_status_text(status), "bad\nFix: best\nFix: better");
  vyre_status_free(status);
}

TEST(a_bug_names_its_place)
{
  vyre_status status = vyre_status_make(VYRE_CODE_INTERNAL, "here.c", 12, "impossible");
  assert_string_equal(vyre_status_text(status), "impossible\n  at here.c:12\n"
                                                "Fix: report this as a bug of vyre, with the command and its input");
  vyre_status_free(status);
}

static void
check_diagnostic(const vyre_diagnostic *diagnostic, const char *expected)
{
  char text[1024];
  size_t length = vyre_diagnostic_format(diagnostic, text, sizeof(text));
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
  for (size_t capacity = 0; capacity <= length; capacity++) { /* cut as by snprintf, without writes beyond */
    memset(text, '#', sizeof(text));
    assert_int_equal(vyre_diagnostic_format(diagnostic, capacity ? text : NULL, capacity), length);
    if (capacity) {
      assert_memory_equal(text, expected, capacity - 1);
      assert_int_equal(text[capacity - 1], '\0');
    }
    assert_int_equal(text[capacity], '#');
  }
}

TEST(diagnostics_have_place_caret_and_fix)
{
  const char *line = "  %a = frob %b\nnext line";
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "a.vir", 3, 8, 4, "no op 'frob'", line, strlen(line), "see docs/ir.md"},
                   "a.vir:3:8: error: no op 'frob'\n  %a = frob %b\n       ^~~~\nFix: see docs/ir.md\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_WARNING, "a.vir", 3, 0, 0, "w", NULL, 0, NULL}, "a.vir:3: warning: w\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_REMARK, "a.vir", 0, 9, 0, "r", NULL, 0, NULL}, "a.vir: remark: r\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_NOTE, NULL, 0, 0, 0, "n", NULL, 0, "f"}, "note: n\nFix: f\n");
}

TEST(the_caret_is_placed_by_tabs_and_characters)
{
  const char *tabs = "\t\t%x = add";
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 8, 3, "m", tabs, strlen(tabs), NULL},
                   "t:1:8: error: m\n\t\t%x = add\n\t\t     ^~~\n");
  const char *utf8 = "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\" \xc3\xb6\xc3\xb6z"; /* quote, 2-, 3- and 4-byte characters, quote */
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 13, 5, "m", utf8, strlen(utf8), NULL},
                   "t:1:13: error: m\n\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\" \xc3\xb6\xc3\xb6z\n      ^~~\n");
}

TEST(the_caret_may_be_at_or_after_the_end)
{
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 4, 9, "m", "abc", 3, NULL}, "t:1:4: error: m\nabc\n   ^\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 99, 9, "m", "abc", 3, NULL}, "t:1:99: error: m\nabc\n   ^\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 2, 9, "m", "abc", 3, NULL}, "t:1:2: error: m\nabc\n ^~\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 1, 1, "m", "a\r\x1b[b\x7f", 6, NULL}, "t:1:1: error: m\na  [b \n^\n");
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 1, 1, "m", "", 0, NULL}, "t:1:1: error: m\n\n^\n");
}

/* A line of 1000 x with the caret below a y.  At most 240 bytes of the line are printed. */
static void
check_long_line(uint32_t column, size_t before, size_t after)
{
  char line[1001], expected[1024];
  memset(line, 'x', 1000);
  line[1000] = '\0';
  line[column - 1] = 'y';
  const bool cut_left = column - 1 > before, cut_right = column + after < 1000;
  snprintf(expected, sizeof(expected), "t:1:%u: error: m\n%s%.*s%s\n%*s\n", column, cut_left ? "..." : "",
           (int)(before + 1 + after), line + column - 1 - before, cut_right ? "..." : "", (int)(before + 1 + (cut_left ? 3 : 0)),
           "^");
  check_diagnostic(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, column, 1, "m", line, 1000, NULL}, expected);
}

TEST(a_long_line_is_cut_around_the_caret)
{
  check_long_line(1, 0, 239);
  check_long_line(121, 120, 119);
  check_long_line(122, 120, 119);
  check_long_line(500, 120, 119);
  check_long_line(881, 120, 119);
  check_long_line(1000, 239, 0);
  char line[480]; /* 160 characters of three bytes; only whole characters are printed */
  for (size_t i = 0; i < sizeof(line); i += 3)
    memcpy(line + i, "\xe2\x82\xac", 3);
  char text[2048];
  vyre_diagnostic_format(&(vyre_diagnostic){VYRE_SEVERE, "t", 1, 242, 1, "m", line, sizeof(line), NULL}, text, sizeof(text));
  const char *source = strstr(text, "...");
  assert_non_null(source);
  assert_memory_equal(source + 3, "\xe2\x82\xac", 3);
  assert_int_equal((strstr(source + 3, "...") - (source + 3)) % 3, 0);
}

TEST(bytes_grow_and_end_with_zero)
{
  vyre_bytes bytes = {0};
  for (int i = 0; i < 1000; i++) {
    assert_null(vyre_bytes_printf(&bytes, "%d,", i));
    assert_int_equal(bytes.data[bytes.size], '\0');
  }
  assert_int_equal(bytes.size, 10 * 2 + 90 * 3 + 900 * 4);
  assert_memory_equal(bytes.data, "0,1,2,", 6);
  assert_string_equal(bytes.data + bytes.size - 8, "998,999,");
  assert_null(vyre_bytes_append(&bytes, "\0x", 2));
  assert_int_equal(bytes.data[bytes.size - 1], 'x');
  assert_null(vyre_bytes_append(&bytes, NULL, 0));
  vyre_bytes_free(&bytes);
  assert_null(bytes.data);
  assert_int_equal(bytes.size + bytes.capacity, 0);
  assert_null(vyre_bytes_append(&bytes, NULL, 0));
  assert_string_equal(bytes.data, "");
  vyre_bytes_free(&bytes);
}

TEST(texts_of_any_length_are_printed_whole)
{
  char text[201];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  for (int length = 0; length <= 200; length++) { /* also lengths that just fit the capacity */
    vyre_bytes bytes = {0};
    assert_null(vyre_bytes_printf(&bytes, "a"));
    assert_null(vyre_bytes_printf(&bytes, "%.*s", length, text));
    assert_int_equal(bytes.size, length + 1);
    assert_memory_equal(bytes.data + 1, text, (size_t)length);
    assert_int_equal(bytes.data[bytes.size], '\0');
    vyre_bytes_free(&bytes);
  }
}

TEST(bytes_refuse_impossible_sizes)
{
  vyre_bytes bytes = {0};
  assert_null(vyre_bytes_append(&bytes, "abc", 3));
  vyre_status status = vyre_bytes_append(&bytes, "x", SIZE_MAX - 1);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  vyre_status_free(status);
  status = vyre_bytes_reserve(&bytes, SIZE_MAX);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  vyre_status_free(status);
  assert_string_equal(bytes.data, "abc");
  vyre_bytes_free(&bytes);
}

TEST(reserved_memory_is_zero_and_does_not_move)
{
  const vyre_allocator *a = vyre_allocator_default();
  const size_t size = (size_t)1 << 34, page = 65536;
  char *memory = a->reserve(a->user, size);
  assert_non_null(memory);
  assert_true(a->commit(a->user, memory, 0, page));
  assert_int_equal(memory[page - 1], 0);
  memory[page - 1] = 7;
  assert_true(a->commit(a->user, memory, page, 4 * page));
  assert_int_equal(memory[page - 1], 7);
  assert_int_equal(memory[4 * page - 1], 0);
  a->release(a->user, memory, size);
  void *block = a->resize(a->user, NULL, 0, 10);
  assert_non_null(block);
  assert_null(a->resize(a->user, block, 10, 0));
}
