/* The tokens of rules: names, numbers, marks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <string.h>

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

/* A name (dashes in it too), a number with its sign, or a mark of one or two characters. */
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
