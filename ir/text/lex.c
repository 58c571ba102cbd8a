/* The lexer of `.vir` text: one pass, without allocations.
 *
 * A token is a range of the text; literal.c converts numbers to values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lex.h"

#include <string.h>

#define WORD  1u /* may occur in an identifier */
#define DIGIT 2u
#define SPACE 4u
#define MARK  8u
#define HEX   16u

/* clang-format off */
static const uint8_t classes[256] = {
  ['a'] = WORD | HEX, ['b'] = WORD | HEX, ['c'] = WORD | HEX, ['d'] = WORD | HEX, ['e'] = WORD | HEX,
  ['f'] = WORD | HEX, ['g'] = WORD,
  ['h'] = WORD, ['i'] = WORD, ['j'] = WORD, ['k'] = WORD, ['l'] = WORD, ['m'] = WORD, ['n'] = WORD, ['o'] = WORD, ['p'] = WORD,
  ['q'] = WORD, ['r'] = WORD, ['s'] = WORD, ['t'] = WORD, ['u'] = WORD, ['v'] = WORD, ['w'] = WORD, ['x'] = WORD, ['y'] = WORD,
  ['z'] = WORD, ['A'] = WORD | HEX, ['B'] = WORD | HEX, ['C'] = WORD | HEX, ['D'] = WORD | HEX, ['E'] = WORD | HEX,
  ['F'] = WORD | HEX,
  ['G'] = WORD, ['H'] = WORD, ['I'] = WORD, ['J'] = WORD, ['K'] = WORD, ['L'] = WORD, ['M'] = WORD, ['N'] = WORD, ['O'] = WORD,
  ['P'] = WORD, ['Q'] = WORD, ['R'] = WORD, ['S'] = WORD, ['T'] = WORD, ['U'] = WORD, ['V'] = WORD, ['W'] = WORD, ['X'] = WORD,
  ['Y'] = WORD, ['Z'] = WORD, ['_'] = WORD, ['$'] = WORD, ['0'] = WORD | DIGIT | HEX, ['1'] = WORD | DIGIT | HEX,
  ['2'] = WORD | DIGIT | HEX, ['3'] = WORD | DIGIT | HEX, ['4'] = WORD | DIGIT | HEX, ['5'] = WORD | DIGIT | HEX,
  ['6'] = WORD | DIGIT | HEX, ['7'] = WORD | DIGIT | HEX, ['8'] = WORD | DIGIT | HEX, ['9'] = WORD | DIGIT | HEX, [' '] = SPACE,
  ['\t'] = SPACE, ['\r'] = SPACE, ['\n'] = SPACE, ['{'] = MARK, ['}'] = MARK, ['('] = MARK, [')'] = MARK, ['['] = MARK,
  [']'] = MARK,
  [','] = MARK, [':'] = MARK, ['='] = MARK, ['.'] = MARK,
};
/* clang-format on */

static unsigned
class_at(const text_lexer *lexer, uint32_t at)
{
  return at < lexer->length ? classes[(uint8_t)lexer->text[at]] : 0;
}

static char
byte_at(const text_lexer *lexer, uint32_t at)
{
  return at < lexer->length ? lexer->text[at] : '\0';
}

bool
text_is_word_byte(char byte)
{
  return (classes[(uint8_t)byte] & WORD) != 0;
}

bool
text_is_identifier(const char *text, size_t length)
{
  if (length == 0 || (classes[(uint8_t)text[0]] & (WORD | DIGIT)) != WORD || text[0] == '$')
    return false;
  for (size_t i = 1; i < length; i++)
    if ((classes[(uint8_t)text[i]] & WORD) == 0)
      return false;
  return true;
}

bool
text_is_dotted(const char *text, size_t length)
{
  if (length == 0 || !text_is_identifier(text, 1))
    return false;
  for (size_t i = 1; i < length; i++)
    if ((classes[(uint8_t)text[i]] & WORD) == 0 && text[i] != '.')
      return false;
  return true;
}

static uint32_t
hex_value(char digit)
{
  return digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)((digit | 32) - 'a') + 10u;
}

uint32_t
text_unescape(const char *text, uint32_t length, char *out)
{
  uint32_t size = 0;
  for (uint32_t i = 0; i < length; i++) {
    char byte = text[i];
    if (byte == '\\' && i + 3 < length && text[i + 1] == 'x') {
      byte = (char)(hex_value(text[i + 2]) << 4 | hex_value(text[i + 3]));
      i += 3;
    } else if (byte == '\\' && i + 1 < length) {
      byte = text[++i];
    }
    out[size++] = byte;
  }
  return size;
}

uint32_t
text_escape(char byte, char out[8])
{
  static const char digits[] = "0123456789abcdef";
  if ((uint8_t)byte < ' ' || byte == 0x7f) {
    memcpy(out, "\\x", 2);
    out[2] = digits[(uint8_t)byte >> 4];
    out[3] = digits[(uint8_t)byte & 15u];
    return 4;
  }
  uint32_t size = 0;
  if (byte == '"' || byte == '\\')
    out[size++] = '\\';
  out[size++] = byte;
  return size;
}

static void
skip_space(text_lexer *lexer)
{
  const char *text = lexer->text;
  const uint32_t length = lexer->length;
  uint32_t at = lexer->cursor;
  bool first = at == 0;
  for (;;) {
    while (at < length && (classes[(uint8_t)text[at]] & SPACE))
      first |= text[at++] == '\n';
    if (at >= length || text[at] != ';')
      break;
    const char *end = memchr(text + at, '\n', length - at);
    at = end ? (uint32_t)(end - text) : length;
  }
  lexer->cursor = at;
  lexer->token.first_on_line = first;
}

/* Lexes a quoted text, starting at its opening quote. */
static void
lex_quoted(text_lexer *lexer, uint32_t quote)
{
  text_token *token = &lexer->token;
  uint32_t at = quote + 1;
  token->name = at;
  for (; at < lexer->length && lexer->text[at] != '"' && (uint8_t)lexer->text[at] >= ' '; at++) {
    if (lexer->text[at] != '\\')
      continue;
    token->escaped = true;
    char escape = byte_at(lexer, at + 1);
    if (escape == 'x' && (class_at(lexer, at + 2) & HEX) && (class_at(lexer, at + 3) & HEX)) {
      at += 3;
    } else if (escape == '"' || escape == '\\') {
      at++;
    } else {
      token->kind = TOKEN_BAD;
      token->problem = "a backslash in a name must be followed by \\, a quote, or x and two hexadecimal digits";
    }
  }
  token->name_length = at - token->name;
  if (byte_at(lexer, at) == '"') {
    at++;
  } else if (token->kind != TOKEN_BAD) {
    token->kind = TOKEN_BAD;
    token->problem =
        at < lexer->length && lexer->text[at] != '\n' ? "control character in a quoted name" : "the closing quote is missing";
  }
  lexer->cursor = at;
}

static void
lex_name(text_lexer *lexer)
{
  text_token *token = &lexer->token;
  uint32_t at = lexer->cursor + 1;
  bool is_global = lexer->text[lexer->cursor] == '@';
  token->kind = is_global ? TOKEN_GLOBAL : TOKEN_NAME;
  if (byte_at(lexer, at) == '"') {
    lex_quoted(lexer, at);
    return;
  }
  token->name = at;
  const char *text = lexer->text;
  const uint32_t length = lexer->length;
  uint64_t number = 0;
  for (; at < length && (uint8_t)(text[at] - '0') < 10; at++)
    number = number < UINT32_MAX ? number * 10 + (uint64_t)(text[at] - '0') : number;
  const uint32_t digits = at - token->name;
  while (at < length && ((classes[(uint8_t)text[at]] & WORD) || (is_global && text[at] == '.')))
    at++;
  token->name_length = at - token->name;
  lexer->cursor = at;
  if (digits && digits == token->name_length && !is_global) {
    bool plain = number < UINT32_MAX && (text[token->name] != '0' || digits == 1);
    token->kind = plain ? TOKEN_NUMBERED : TOKEN_BAD;
    token->number = (uint32_t)number;
    token->problem = "a row number is at most 4294967294 and has no leading zeros";
  } else if (token->name_length == 0 || class_at(lexer, token->name) & DIGIT || byte_at(lexer, token->name) == '$') {
    token->kind = TOKEN_BAD;
    token->problem = "a name begins with a letter or _, or is quoted";
  }
}

/* Lexes all characters that may belong to a number: letters, digits, dots, and a sign after the letter of an exponent. */
static void
lex_number(text_lexer *lexer)
{
  uint32_t at = lexer->cursor;
  at += lexer->text[at] == '-';
  bool hex = byte_at(lexer, at) == '0' && (byte_at(lexer, at + 1) | 32) == 'x';
  for (; (class_at(lexer, at) & WORD) || byte_at(lexer, at) == '.'; at++) {
    char low = (char)(lexer->text[at] | 32);
    char sign = byte_at(lexer, at + 1);
    if ((hex ? low == 'p' : low == 'e') && (sign == '-' || sign == '+') && (class_at(lexer, at + 2) & DIGIT))
      at++;
  }
  lexer->token.kind = TOKEN_NUMBER;
  lexer->cursor = at;
}

static void
lex_word(text_lexer *lexer)
{
  const char *text = lexer->text;
  const uint32_t start = lexer->cursor, length = lexer->length;
  uint32_t at = start;
  while (at < length && (classes[(uint8_t)text[at]] & WORD))
    at++;
  lexer->token.kind = TOKEN_WORD;
  if (at - start == 3 && memcmp(lexer->text + start, "nan", 3) == 0 && byte_at(lexer, at) == '(') {
    lexer->token.kind = TOKEN_NUMBER;
    at++;
    while (class_at(lexer, at) & WORD)
      at++;
    at += byte_at(lexer, at) == ')';
    while (class_at(lexer, at) & WORD)
      at++;
  }
  lexer->cursor = at;
}

static void
lex_bad_byte(text_lexer *lexer)
{
  lexer->token.kind = TOKEN_BAD;
  lexer->token.problem = "unexpected character";
  do {
    lexer->cursor++; /* skips a whole UTF-8 character */
  } while (lexer->cursor < lexer->length && ((uint8_t)lexer->text[lexer->cursor] & 0xc0u) == 0x80u);
}

void
text_lex(text_lexer *lexer)
{
  text_token *token = &lexer->token;
  lexer->behind = token->start + token->length;
  skip_space(lexer);
  uint32_t start = lexer->cursor;
  char byte = byte_at(lexer, start);
  token->start = start;
  token->escaped = false;
  token->mark = '\0';
  token->name_length = 0;
  unsigned class = class_at(lexer, start);
  if (start >= lexer->length) {
    token->kind = TOKEN_END;
  } else if (byte == '%' || byte == '@') {
    lex_name(lexer);
  } else if (class & MARK) {
    token->kind = TOKEN_MARK;
    token->mark = byte;
    lexer->cursor++;
  } else if (class & DIGIT || (byte == '-' && (class_at(lexer, start + 1) & DIGIT)) ||
             (byte == '-' && byte_at(lexer, start + 1) == 'i')) {
    lex_number(lexer);
  } else if (class & WORD) {
    lex_word(lexer);
  } else if (byte == '"') {
    token->kind = TOKEN_STRING;
    lex_quoted(lexer, start);
  } else if (byte == '-' && byte_at(lexer, start + 1) == '>') {
    token->kind = TOKEN_ARROW;
    lexer->cursor += 2;
  } else {
    lex_bad_byte(lexer);
  }
  token->length = lexer->cursor - start;
}
