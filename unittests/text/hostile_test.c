/* Invalid texts and exhausted memory result in a clear status, without leaks or invalid accesses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "text_test.h"

static uint64_t random_state = 88172645463325252u;

static uint32_t
random_below(size_t limit)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return limit ? (uint32_t)((random_state >> 11) % limit) : 0;
}

/* clang-format off */
static const char *const pieces[] = {
  "%", "@", "{", "}", "(", ")", "[", "]", ",", ":", "=", ".", "\"", "\\", ";", "\n", "\xff", "->", "%0", "%x", "%i",
  "@f(", "@S", "gid", "gid.x",
  "0x", "0u32", "1.5f32x4", "nan(0x7fc00001)f32", "-inff32", "truex2", "99999999999999999999", "1e400f32", "[0, 1]",
  "[%n]", "stride 4",
  " : f32x3", "if true {", "else", "for %k = 0u32 to 3u32 {", "loop {", "continuing {", "switch %i {", "case 1u32 {",
  "default", "block %b {",
  "leave %b", "return", "break", "fallthrough", "breakif true", "trap", "func", "program", "struct", "buffer", "var",
  "spec", "const", "at",
  "tuple", "part", "shuffle", "join", "lane", "load", "store", "transpose", "matmat", "bitcast", "atomic_add",
  "barrier", "deco(1, 2)", "async_copy", "async_wait 1",
  "order(3)", "mat4(f32x4)", "path f32[]", "workgroup", "constant = [", "id(3)",
};
/* clang-format on */

static size_t
insert(char *text, size_t size, size_t at, const char *piece, size_t length)
{
  memmove(text + at + length, text + at, size - at);
  memcpy(text + at, piece, length);
  return size + length;
}

/* Changes bytes, drops, repeats and cuts pieces, and inserts words of the language. */
static size_t
mutate(char *text, size_t size)
{
  char copy[80];
  for (uint32_t i = 1 + random_below(5); i; i--) {
    size_t at = random_below(size + 1);
    size_t length = random_below(sizeof(copy));
    const char *piece = pieces[random_below(sizeof(pieces) / sizeof(*pieces))];
    switch (random_below(6)) {
    case 0:
      if (at < size)
        text[at] = (char)random_below(256);
      break;
    case 1:
      length = length < size - at ? length : size - at;
      memmove(text + at, text + at + length, size - at - length);
      size -= length;
      break;
    case 2: {
      size_t from = random_below(size + 1);
      length = length < size - from ? length : size - from;
      memcpy(copy, text + from, length);
      size = insert(text, size, at, copy, length);
      break;
    }
    case 3:
      if (random_below(20) == 0)
        size = at;
      break;
    default:
      size = insert(text, size, at, piece, strlen(piece));
      break;
    }
  }
  return size;
}

static void
format(void *user, const vyre_diagnostic *diagnostic)
{
  char text[256];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof(text));
}

/* A text that parses must also print and parse again.  The copy has the exact size, so that a sanitizer finds reads beyond it. */
static void
try_text(const char *text, size_t size)
{
  char *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, text, size);
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 1u << 16, &module));
  vyre_status status = vyre_text_parse(module, copy, size, "hostile", (vyre_diagnostics){format, NULL});
  if (!status) {
    vyre_bytes printed = check_fixed_point(module);
    vyre_bytes_free(&printed);
  }
  vyre_status_free(status);
  vyre_module_destroy(module);
  free(copy);
}

TEST(mutated_texts_do_not_crash)
{
  char *text = malloc(1u << 16);
  assert_non_null(text);
  for (size_t file = 0; file < CORPUS_COUNT; file++) {
    vyre_bytes source = read_corpus(corpus[file]);
    assert_true(source.size < 1u << 15);
    for (uint32_t i = 0; i < 250; i++) {
      memcpy(text, source.data, source.size);
      try_text(text, mutate(text, source.size));
    }
    vyre_bytes_free(&source);
  }
  free(text);
}

TEST(noise_does_not_crash)
{
  char text[512];
  for (uint32_t i = 0; i < 500; i++) {
    size_t size = random_below(sizeof(text));
    for (size_t k = 0; k < size; k++)
      text[k] = (char)random_below(i % 2 ? 256 : 128);
    try_text(text, size);
  }
}

/* Every third prefix of a text. */
TEST(cut_texts_do_not_crash)
{
  vyre_bytes source = read_corpus("memory");
  for (size_t size = 0; size < source.size; size += 3)
    try_text(source.data, size);
  vyre_bytes_free(&source);
}

/* ---- exhausted memory -------- */

/* Parses and prints the text, which is a vyre_bytes. */
static vyre_status
parse_and_print(const vyre_allocator *allocator, void *text)
{
  const vyre_bytes *source = text;
  vyre_bytes out = {.allocator = allocator};
  vyre_module *module;
  VYRE_TRY(vyre_module_create(allocator, 1u << 14, &module));
  vyre_status status = vyre_text_parse_lines(module, source->data, source->size, "memory", (vyre_diagnostics){0});
  if (!status)
    status = vyre_text_print(module, NULL, &out);
  vyre_bytes_free(&out);
  vyre_module_destroy(module);
  return status;
}

TEST(each_allocation_may_fail)
{
  for (size_t file = 0; file < CORPUS_COUNT; file++) {
    vyre_bytes source = read_corpus(corpus[file]);
    assert_true(test_each_failure(parse_and_print, &source, false, 1) > 20);
    vyre_bytes_free(&source);
  }
}
