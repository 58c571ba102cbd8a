/* Reads the tokens of a kernel file, and reports errors at them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ERRORS = 20 };

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

uint32_t
kernel_line_of(const kernel_file *file, uint32_t at, uint32_t *out_line, uint32_t *out_start)
{
  uint32_t source = 0;
  for (uint32_t i = 1; i < file->source_count; i++)
    source = at >= file->sources[i].text.at ? i : source;
  uint32_t start = file->sources[source].text.at;
  const uint32_t last = start + file->sources[source].text.length;
  *out_line = 1;
  for (uint32_t i = start; i < at && i < last; i++)
    if (file->text[i] == '\n') {
      ++*out_line;
      start = i + 1;
    }
  *out_start = start;
  return source;
}

bool
kernel_error(kernel_file *file, kernel_text where, const char *fix, const char *format, ...)
{
  char message[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  uint32_t line, start;
  const uint32_t source = kernel_line_of(file, where.at, &line, &start);
  const uint32_t last = file->sources[source].text.at + file->sources[source].text.length;
  const char *end = memchr(file->text + start, '\n', last - start);
  const vyre_diagnostic diagnostic = {.severity = VYRE_SEVERE,
                                      .file = kernel_source_path(file, source),
                                      .line = line,
                                      .column = where.at - start + 1,
                                      .length = where.length,
                                      .message = message,
                                      .source = file->text + start,
                                      .source_length = end ? (size_t)(end - file->text) - start : last - start,
                                      .fix = fix};
  if (file->errors++ < MOST_ERRORS && file->diagnostics.emit)
    file->diagnostics.emit(file->diagnostics.user, &diagnostic);
  return false;
}

kernel_text
kernel_here(const kernel_reader *r)
{
  return (kernel_text){r->lexer.token.start, r->lexer.token.length};
}

bool
kernel_expected(kernel_reader *r, const char *what)
{
  const text_token *token = &r->lexer.token;
  if (token->kind == TOKEN_END)
    return kernel_error(r->file, kernel_here(r), NULL, "expected %s, but the text ends", what);
  return kernel_error(r->file, kernel_here(r), NULL, "expected %s, found '%.*s'", what,
                      (int)(token->length < 60 ? token->length : 60), r->file->text + token->start);
}

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

static bool
is_text(const kernel_reader *r, kernel_text text, const char *word)
{
  return text.length == strlen(word) && memcmp(r->file->text + text.at, word, text.length) == 0;
}

bool
kernel_is_word(const kernel_reader *r, const char *word)
{
  return r->lexer.token.kind == TOKEN_WORD && is_text(r, kernel_here(r), word);
}

bool
kernel_accept_word(kernel_reader *r, const char *word)
{
  if (!kernel_is_word(r, word))
    return false;
  text_lex(&r->lexer);
  return true;
}

bool
kernel_is_mark(const kernel_reader *r, char mark)
{
  return r->lexer.token.kind == TOKEN_MARK && r->lexer.token.mark == mark;
}

bool
kernel_accept_mark(kernel_reader *r, char mark)
{
  if (!kernel_is_mark(r, mark))
    return false;
  text_lex(&r->lexer);
  return true;
}

bool
kernel_parse_integer(kernel_reader *r, uint32_t least, uint32_t most, uint32_t *out)
{
  const text_token *token = &r->lexer.token;
  char text[13] = {0}, *end = text;
  const bool good = token->kind == TOKEN_NUMBER && token->length < sizeof text && r->file->text[token->start] != '-';
  memcpy(text, r->file->text + token->start, good ? token->length : 0);
  const uint64_t value = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
  if (!good || *end || value < least || value > most)
    return kernel_error(r->file, kernel_here(r), NULL, "expected a number from %u to %u", least, most);
  *out = (uint32_t)value;
  text_lex(&r->lexer);
  return true;
}
