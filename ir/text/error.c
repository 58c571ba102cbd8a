/* Error messages of the parser, and the token functions that report most of them.
 *
 * Lines and columns are computed only for messages. This is O(text) for each of at most 20 messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "literal.h"

#include "base/grow.h"
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint32_t
text_line_of(const text_parser *p, uint32_t at)
{
  uint32_t line = 1;
  const char *text = p->lexer.text;
  for (const char *next; (next = memchr(text, '\n', (size_t)(p->lexer.text + at - text))) != NULL; text = next + 1)
    line++;
  return line;
}

static void
emit(text_parser *p, uint32_t start, uint32_t length, const char *fix, const char *message)
{
  const char *text = p->lexer.text;
  uint32_t line = start;
  while (line && text[line - 1] != '\n')
    line--;
  const char *end = memchr(text + line, '\n', p->lexer.length - line);
  uint32_t source_length = end ? (uint32_t)(end - text) - line : p->lexer.length - line;
  if (source_length && text[line + source_length - 1] == '\r')
    source_length--;
  vyre_diagnostic diagnostic = {
      .severity = VYRE_SEVERE,
      .file = p->path,
      .line = text_line_of(p, start),
      .column = start - line + 1,
      .length = length,
      .message = message,
      .source = text + line,
      .source_length = source_length,
      .fix = fix,
  };
  if (p->diagnostics.emit)
    p->diagnostics.emit(p->diagnostics.user, &diagnostic);
}

/* Replaces control characters, which could change the state of a terminal, by '?'. */
static void
make_printable(char *text)
{
  for (; *text; text++)
    if ((uint8_t)*text < ' ' || *text == 0x7f)
      *text = '?';
}

bool
text_error(text_parser *p, uint32_t start, uint32_t length, const char *fix, const char *format, ...)
{
  if (p->stop || p->last_error == start + 1)
    return false;
  p->last_error = start + 1;
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  make_printable(message);
  emit(p, start, length, fix, message);
  p->stop = ++p->errors >= TEXT_MAX_ERRORS;
  return false;
}

bool
text_error_token(text_parser *p, const char *fix, const char *format, ...)
{
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return text_error(p, p->lexer.token.start, p->lexer.token.length, fix, "%s", message);
}

/* Returns a fix with the word of the list `what` that is most similar to the current token, or NULL. `what` is not a list if it
 * begins with "a" or "the". */
static const char *
suggest_word(const text_parser *p, const char *what, char fix[96])
{
  const text_token *token = &p->lexer.token;
  uint32_t best = text_near_limit(token->length) + 1;
  const char *nearest = NULL;
  uint32_t nearest_length = 0;
  if (strncmp(what, "a ", 2) == 0 || strncmp(what, "the ", 4) == 0)
    return NULL;
  for (const char *word = what; *word;) {
    uint32_t length = 0;
    while (text_is_word_byte(word[length]))
      length++;
    uint32_t distance = text_distance(p->lexer.text + token->start, token->length, word, length, best);
    if (length > 1 && distance < best && distance < token->length) {
      best = distance;
      nearest = word;
      nearest_length = length;
    }
    word += length ? length : 1;
  }
  return text_suggest(fix, "", nearest, nearest_length);
}

bool
text_expected(text_parser *p, const char *what)
{
  const text_token *token = &p->lexer.token;
  if (token->kind == TOKEN_END)
    return text_error_token(p, NULL, "expected %s, found the end of the text", what);
  if (token->kind == TOKEN_BAD) {
    uint8_t byte = (uint8_t)p->lexer.text[token->start];
    if (byte < ' ' || byte >= 0x7f)
      return text_error_token(p, NULL, "%s (byte 0x%02x)", token->problem, byte);
    if (token->length == 1)
      return text_error_token(p, NULL, "%s '%c'", token->problem, byte);
    return text_error_token(p, NULL, "%s", token->problem);
  }
  int length = token->length < 60 ? (int)token->length : 60;
  char fix[96];
  return text_error_token(p, token->kind == TOKEN_WORD ? suggest_word(p, what, fix) : NULL, "expected %s, found '%.*s'", what,
                          length, p->lexer.text + token->start);
}

void
text_no_memory(text_parser *p)
{
  p->stop = true;
}

const char *
text_suggest(char out[96], const char *sigil, const char *name, uint32_t length)
{
  if (!name || length == 0)
    return NULL;
  snprintf(out, 96, "did you mean '%s%.*s'?", sigil, length < 60 ? (int)length : 60, name);
  make_printable(out);
  return out;
}

/* ---- tokens ---- */

bool
text_is_word(const text_parser *p, const char *word)
{
  const text_token *token = &p->lexer.token;
  const char *at = p->lexer.text + token->start;
  return token->kind == TOKEN_WORD && at[0] == word[0] && (token->length == 1 || at[1] == word[1]) &&
         strncmp(p->lexer.text + token->start, word, token->length) == 0 && word[token->length] == '\0';
}

bool
text_accept_mark(text_parser *p, char mark)
{
  if (!text_is_mark(p, mark))
    return false;
  text_lex(&p->lexer);
  return true;
}

bool
text_accept_word(text_parser *p, const char *word)
{
  if (!text_is_word(p, word))
    return false;
  text_lex(&p->lexer);
  return true;
}

bool
text_expect_mark(text_parser *p, char mark)
{
  char what[] = {'\'', mark, '\'', '\0'};
  return text_accept_mark(p, mark) || text_expected(p, what);
}

bool
text_expect_integer(text_parser *p, uint64_t most, uint32_t *out)
{
  const text_token *token = &p->lexer.token;
  const char *text = p->lexer.text + token->start;
  uint64_t value;
  *out = 0;
  if (token->kind != TOKEN_NUMBER)
    return text_expected(p, "a number");
  text_literal literal;
  bool is_integer = text_read_integer(text, token->length, &value);
  if (!is_integer && text_read_literal(text, token->length, &literal) == LITERAL_GOOD)
    return text_error_token(p, "remove the type", "expected a number without a type");
  bool digits = true;
  for (uint32_t i = 0; i < token->length; i++)
    digits = digits && text[i] >= '0' && text[i] <= '9';
  if (!is_integer && !digits)
    return text_expected(p, "a number");
  if (!is_integer || value > most)
    return text_error_token(p, NULL, "the number is out of range: at most %llu", (unsigned long long)most);
  *out = (uint32_t)value;
  text_lex(&p->lexer);
  return true;
}

bool
text_grow(text_parser *p, void *array, uint32_t *capacity, uint32_t count, size_t size)
{
  if (vyre_grow(p->allocator, array, capacity, (uint64_t)count + 1, size))
    return true;
  text_no_memory(p);
  return false;
}

bool
text_push_word(text_parser *p, text_words *words, uint32_t word)
{
  if (!text_grow(p, &words->data, &words->capacity, words->count, sizeof(word)))
    return false;
  words->data[words->count++] = word;
  return true;
}
