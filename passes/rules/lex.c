/* The lexer of rules: names, numbers, marks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 40 };

bool
rules_is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool
rules_is_digit(char c)
{
  return c >= '0' && c <= '9';
}

size_t
rules_skip_blanks(const char *text, size_t length, size_t at)
{
  for (; at < length; at++) {
    if (text[at] == ';')
      while (at + 1 < length && text[at + 1] != '\n')
        at++;
    else if (text[at] != ' ' && text[at] != '\t' && text[at] != '\n' && text[at] != '\r')
      break;
  }
  return at;
}

/* A token is a name, which may contain dashes, a number with its sign, or a mark of one or two characters. */
rules_token
rules_next_token(const char *text, size_t length, size_t *at)
{
  const size_t start = rules_skip_blanks(text, length, *at);
  size_t end = start;
  if (end < length) {
    const char c = text[end++];
    const bool number = rules_is_digit(c) || (c == '-' && end < length && (rules_is_digit(text[end]) || text[end] == 'i'));
    if (rules_is_letter(c) || number)
      while (end < length && (rules_is_letter(text[end]) || rules_is_digit(text[end]) || text[end] == (number ? '.' : '-')))
        end++;
    else if (end < length && ((c == '=' && text[end] == '>') || (strchr("=<!", c) && text[end] == '=')))
      end++;
  }
  *at = end;
  return (rules_token){text + start, end - start, (uint32_t)start};
}

/* Reads a decimal or hexadecimal integer from -2^63 to 2^64 - 1.  A leading zero is an error, because it means octal in C. */
static bool
read_integer(const rules_reading *r, const rules_token *t, const char *number, uint64_t *out)
{
  const bool negative = number[0] == '-', hex = number[negative] == '0' && (number[negative + 1] | 32) == 'x';
  const char *digits = number + negative + 2 * hex;
  if (!digits[0] || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
    return rules_fail(r, t->at, NULL, "'%s' is not a number", number);
  if (!hex && digits[0] == '0' && digits[1])
    return rules_fail(r, t->at, "remove the leading zeros: numbers are decimal, or hexadecimal after 0x", "'%s' begins with a zero",
                      number);
  errno = 0;
  *out = strtoull(digits, NULL, hex ? 16 : 10);
  if (errno == ERANGE || (negative && *out > UINT64_C(1) << 63))
    return rules_fail(r, t->at, "write a number of at most 64 bits", "'%s' is not from -2^63 to 2^64 - 1", number);
  *out = negative ? 0 - *out : *out;
  return true;
}

static bool
read_float(const rules_reading *r, const rules_token *t, const char *number, uint64_t *out)
{
  char *end;
  const locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* the program's locale may use a decimal comma */
  if (!c_locale)
    return rules_fail(r, t->at, "free some memory", "out of memory");
  const double value = strtod_l(number, &end, c_locale);
  freelocale(c_locale);
  memcpy(out, &value, sizeof *out);
  if (*end)
    return rules_fail(r, t->at, NULL, "'%s' is not a number", number);
  if (isinf(value) && !strchr(number, 'i'))
    return rules_fail(r, t->at, "write inf, or a number that a double can hold", "'%s' is too large", number);
  return true;
}

bool
rules_read_number(const rules_reading *r, const rules_token *t, rules_node *node)
{
  char number[LONGEST_NUMBER + 1];
  if (t->length > LONGEST_NUMBER)
    return rules_fail(r, t->at, NULL, "the number is too long");
  memcpy(number, t->text, t->length);
  number[t->length] = '\0';
  const bool fraction = strchr(number, '.') || strcmp(number, "inf") == 0 || strcmp(number, "-inf") == 0;
  node->op = fraction ? RULES_FLOAT : RULES_INTEGER;
  return (fraction ? read_float : read_integer)(r, t, number, &node->bits);
}
