/* The program being written: its text, its first error, and columns of facts by row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include <stdio.h>
#include <string.h>

void *
code_resize(code_writer *w, void *memory, size_t old_size, size_t new_size)
{
  const vyre_allocator *allocator = vyre_module_allocator(w->module);
  if (new_size == 0 && !memory)
    return NULL;
  void *result = allocator->resize(allocator->user, memory, old_size, new_size);
  if (!result && new_size && !w->status)
    w->status = VYRE_OUT_OF_MEMORY(w->task);
  return result;
}

bool
code_fail(code_writer *w, uint32_t row, const char *format, ...)
{
  va_list arguments;
  if (w->status)
    return false;
  va_start(arguments, format);
  w->status = code_error(w->module, w->program, row, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- text ----------------------------------------------------------------------------------------------------------------- */

void
code_put_text(code_writer *w, const char *format, va_list arguments)
{
  char text[1024];
  const int length = vsnprintf(text, sizeof(text), format, arguments);
  if (!w->status && length > 0)
    w->status = vyre_bytes_append(w->out, text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

void
code_put(code_writer *w, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  code_put_text(w, format, arguments);
  va_end(arguments);
}

void
code_put_bytes(code_writer *w, const vyre_bytes *text)
{
  if (!w->status && text->size)
    w->status = vyre_bytes_append(w->out, text->data, text->size);
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

bool
code_is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool
code_is_word(char c)
{
  return code_is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

bool
code_clean_name(const char *text, const char *first, bool (*may_begin)(char c), char name[CODE_NAME])
{
  bool clean = may_begin(*text);
  size_t n = clean ? 0 : strlen(first);
  memcpy(name, first, n);
  for (; *text && n < CODE_NAME / 2; text++) {
    name[n++] = code_is_word(*text) ? *text : '_';
    clean = clean && code_is_word(*text);
  }
  name[n] = '\0';
  return clean && !*text;
}

/* ---- columns -------------------------------------------------------------------------------------------------------------- */

bool
code_make_columns(code_writer *w, uint32_t **const *words, size_t word_columns, uint8_t **const *bytes, size_t byte_columns)
{
  const size_t rows = w->end - w->program;
  w->word_count = word_columns * rows;
  w->byte_count = byte_columns * rows;
  w->words = code_resize(w, NULL, 0, w->word_count * sizeof(*w->words));
  w->bytes = w->byte_count ? code_resize(w, NULL, 0, w->byte_count) : NULL;
  if (!w->words || (!w->bytes && w->byte_count))
    return false;
  memset(w->words, 0, w->word_count * sizeof(*w->words));
  if (w->bytes)
    memset(w->bytes, 0, w->byte_count);
  for (size_t i = 0; i < word_columns; i++)
    *words[i] = w->words + i * rows;
  for (size_t i = 0; i < byte_columns; i++)
    *bytes[i] = w->bytes + i * rows;
  return true;
}

bool
code_is_in(const code_writer *w, uint32_t row, vyre_space space)
{
  return code_op(w->v, row) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(w->v->imm_hi[row]) == space && w->uses[row - w->program] != 0;
}
