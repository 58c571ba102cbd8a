/* The lexer of PTX, and constant expressions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
is_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool
skip_space(ptx_parser *p)
{
  for (; p->at < p->end; p->at++) {
    if (*p->at == '\n')
      p->line++;
    else if (p->at + 1 < p->end && p->at[0] == '/' && p->at[1] == '/') {
      while (p->at + 1 < p->end && p->at[1] != '\n')
        p->at++;
    } else if (p->at + 1 < p->end && p->at[0] == '/' && p->at[1] == '*') {
      const uint32_t line = p->line;
      for (p->at += 2; p->at + 1 < p->end && !(p->at[0] == '*' && p->at[1] == '/'); p->at++)
        p->line += *p->at == '\n';
      if (p->at + 1 >= p->end)
        return ptx_error(p, line, "a comment has no end");
      p->at++;
    } else if (!isspace((unsigned char)*p->at))
      break;
  }
  return true;
}

/* Lexes 0f and 0d with the bits in hexadecimal. */
static bool
lex_float_bits(ptx_parser *p, ptx_token *out)
{
  const uint32_t digits = p->at[1] == 'f' || p->at[1] == 'F' ? 8 : 16;
  out->kind = PTX_TOKEN_FLOAT;
  out->float_bits = (uint8_t)(digits * 4);
  p->at += 2;
  for (uint32_t i = 0; i < digits; i++, p->at++) {
    if (p->at >= p->end || !isxdigit((unsigned char)*p->at))
      return ptx_error(p, p->line, "a float's bits must have %u hexadecimal digits", digits);
    const char c = *p->at;
    out->value = out->value << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return true;
}

static bool
lex_number(ptx_parser *p, ptx_token *out)
{
  char text[64];
  uint32_t length = 0;
  if (p->at + 1 < p->end && p->at[0] == '0' && strchr("fFdD", p->at[1]))
    return lex_float_bits(p, out);
  const bool is_hex = p->at + 1 < p->end && p->at[0] == '0' && (p->at[1] | 32) == 'x';
  bool is_float = false;
  for (; p->at < p->end && length < sizeof text - 1; p->at++) {
    const char c = *p->at;
    const bool is_sign = (c == '+' || c == '-') && !is_hex && length && (text[length - 1] | 32) == 'e';
    if (!isalnum((unsigned char)c) && c != '.' && !is_sign)
      break;
    is_float |= c == '.' || (!is_hex && (c | 32) == 'e');
    text[length++] = c;
  }
  text[length] = 0;
  char *end;
  errno = 0;
  if (is_float) {
    const double value = strtod(text, &end);
    out->kind = PTX_TOKEN_FLOAT;
    out->float_bits = 64;
    memcpy(&out->value, &value, 8);
  } else {
    const bool is_binary = text[0] == '0' && (text[1] | 32) == 'b';
    out->kind = PTX_TOKEN_INTEGER;
    out->value = strtoull(is_binary ? text + 2 : text, &end, is_binary ? 2 : 0);
    end += *end == 'U' || *end == 'u';
  }
  if (*end || errno || !length)
    return ptx_error(p, p->line, "'%s' is not a number", text);
  return true;
}

static bool
lex_string(ptx_parser *p, ptx_token *out)
{
  out->kind = PTX_TOKEN_STRING;
  for (p->at++; p->at < p->end && *p->at != '"' && *p->at != '\n'; p->at++)
    ;
  if (p->at >= p->end || *p->at != '"')
    return ptx_error(p, p->line, "a string has no end");
  p->at++;
  return true;
}

static void
lex_word(ptx_parser *p)
{
  for (p->at++; p->at < p->end; p->at++)
    if (!is_name(*p->at)) {
      if (*p->at != ':' || p->at + 2 >= p->end || p->at[1] != ':' || !is_name(p->at[2]))
        break;
      p->at++;
    }
}

bool
ptx_next(ptx_parser *p)
{
  if (!skip_space(p))
    return false;
  ptx_token out = {.kind = PTX_TOKEN_END, .text = p->at, .line = p->line};
  if (p->at >= p->end) {
    p->token = out;
    return true;
  }
  const char c = *p->at;
  if (isdigit((unsigned char)c)) {
    if (!lex_number(p, &out))
      return false;
  } else if (is_name(c)) {
    out.kind = PTX_TOKEN_NAME;
    while (p->at < p->end && is_name(*p->at))
      p->at++;
  } else if (c == '.' && p->at + 1 < p->end && is_name(p->at[1])) {
    out.kind = PTX_TOKEN_WORD;
    out.text++;
    lex_word(p);
  } else if (c == '"') {
    if (!lex_string(p, &out))
      return false;
  } else {
    if (!strchr("{}()[]<>,;:@!|=+-*/%&^~?", c))
      return ptx_error(p, p->line, "unknown character '%c'", isprint((unsigned char)c) ? c : '?');
    out.kind = PTX_TOKEN_SIGN;
    p->at += (c == '<' || c == '>') && p->at + 1 < p->end && p->at[1] == c ? 2 : 1;
  }
  out.length = (uint32_t)(p->at - out.text);
  p->token = out;
  return true;
}

bool
ptx_token_is(const ptx_token *token, const char *text)
{
  return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool
ptx_is_sign(const ptx_parser *p, char sign)
{
  return p->token.kind == PTX_TOKEN_SIGN && p->token.length == 1 && *p->token.text == sign;
}

bool
ptx_is_word(const ptx_parser *p, const char *word)
{
  return p->token.kind == PTX_TOKEN_WORD && ptx_token_is(&p->token, word);
}

bool
ptx_accept_sign(ptx_parser *p, char sign)
{
  return ptx_is_sign(p, sign) && ptx_next(p);
}

bool
ptx_expect_sign(ptx_parser *p, char sign)
{
  if (!ptx_is_sign(p, sign))
    return ptx_error(p, p->token.line, "'%c' is missing before '%.*s'", sign, (int)p->token.length, p->token.text);
  return ptx_next(p);
}

bool
ptx_expect_name(ptx_parser *p, ptx_token *out)
{
  if (p->token.kind != PTX_TOKEN_NAME)
    return ptx_error(p, p->token.line, "a name is missing before '%.*s'", (int)p->token.length, p->token.text);
  *out = p->token;
  return ptx_next(p);
}

char *
ptx_copy_text(ptx_parser *p, const ptx_token *token)
{
  char *copy = ptx_new(p->module, token->length + 1);
  if (copy)
    memcpy(copy, token->text, token->length);
  else
    ptx_no_memory(p);
  return copy;
}

/* ---- constant expressions ------------------------------------------------------------------------------------------------ */

static bool
parse_unary(ptx_parser *p, uint64_t *out, uint32_t depth)
{
  if (depth > 64)
    return ptx_error(p, p->token.line, "an expression is nested too deeply");
  if (ptx_accept_sign(p, '-')) {
    if (!parse_unary(p, out, depth + 1))
      return false;
    *out = 0 - *out;
    return true;
  }
  if (ptx_accept_sign(p, '+'))
    return parse_unary(p, out, depth + 1);
  if (ptx_accept_sign(p, '~')) {
    if (!parse_unary(p, out, depth + 1))
      return false;
    *out = ~*out;
    return true;
  }
  if (p->token.kind == PTX_TOKEN_NAME && ptx_token_is(&p->token, "WARP_SZ")) {
    *out = PTX_WARP;
    return ptx_next(p);
  }
  if (p->token.kind != PTX_TOKEN_INTEGER)
    return ptx_error(p, p->token.line, "an integer is missing before '%.*s'", (int)p->token.length, p->token.text);
  *out = p->token.value;
  return ptx_next(p);
}

/* Supports only sums and products, because compilers write no other expressions. */
bool
ptx_parse_integer(ptx_parser *p, uint64_t *out)
{
  uint64_t sum = 0, product, factor;
  bool subtracts = false;
  for (;;) {
    if (!parse_unary(p, &product, 0))
      return false;
    while (ptx_accept_sign(p, '*')) {
      if (!parse_unary(p, &factor, 0))
        return false;
      product *= factor;
    }
    sum = subtracts ? sum - product : sum + product;
    subtracts = ptx_is_sign(p, '-');
    if (!ptx_accept_sign(p, '+') && !ptx_accept_sign(p, '-'))
      break;
  }
  *out = sum;
  return !p->has_failed;
}
