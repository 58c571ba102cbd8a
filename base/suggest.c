/* A candidate is near if few edits (insertion, deletion, change, swap of neighbours) lead to it: at most a third of the word's
 * length, and at least one.
 *
 * Limits: words of more than 64 characters get no suggestion.  O(length^2) for each candidate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "suggest.h"

#include <string.h>

#define LONGEST 64u

static uint32_t
least(uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static char
fold_case(char c)
{
  if (c >= 'A' && c <= 'Z')
    return (char)(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

/* Returns the edit distance by optimal string alignment, or UINT32_MAX if a word is longer than LONGEST. */
static uint32_t
distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
  if (a_length > LONGEST || b_length > LONGEST)
    return UINT32_MAX;
  uint32_t rows[3][LONGEST + 1];
  for (uint32_t j = 0; j <= b_length; j++)
    rows[0][j] = j;
  for (uint32_t i = 1; i <= a_length; i++) {
    uint32_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
    now[0] = i;
    for (uint32_t j = 1; j <= b_length; j++) {
      char x = fold_case(a[i - 1]), y = fold_case(b[j - 1]);
      now[j] = least(least(before[j] + 1, now[j - 1] + 1), before[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == fold_case(b[j - 2]) && fold_case(a[i - 2]) == y)
        now[j] = least(now[j], two_before[j - 2] + 1);
    }
  }
  return rows[a_length % 3][b_length];
}

static void
compare(vyre_suggestion *suggestion, const char *part, const char *candidate)
{
  uint32_t limit = (uint32_t)suggestion->length / 3;
  uint32_t edits = distance(suggestion->word, suggestion->length, part, strlen(part));
  if (edits > (limit ? limit : 1) || edits >= suggestion->length)
    return;
  if (!suggestion->best || edits < suggestion->distance) {
    suggestion->best = candidate;
    suggestion->distance = edits;
  }
}

void
vyre_suggest(vyre_suggestion *suggestion, const char *candidate)
{
  compare(suggestion, candidate, candidate);
}

void
vyre_suggest_qualified(vyre_suggestion *suggestion, const char *candidate)
{
  compare(suggestion, candidate, candidate);
  const char *dot = strchr(candidate, '.');
  if (dot && !memchr(suggestion->word, '.', suggestion->length))
    compare(suggestion, dot + 1, candidate);
}
