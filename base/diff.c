/* Compares texts by a longest common subsequence of the lines between the common beginning and the common end.  The time is
 * quadratic in the number of these lines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "diff.h"

#include "base/grow.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3, MOST_CELLS = 1 << 22 };

typedef struct lines {
  const char **at;
  uint32_t count;
} lines;

static bool
split(const char *text, lines *out)
{
  uint32_t count = 0;
  for (const char *c = text; *c; c++)
    count += *c == '\n';
  out->at = malloc((count + 2) * sizeof *out->at);
  out->count = 0;
  for (; out->at && *text; text += strcspn(text, "\n"), text += *text == '\n')
    out->at[out->count++] = text;
  return out->at != NULL;
}

static bool
same(const char *a, const char *b)
{
  const size_t length = strcspn(a, "\n");
  return length == strcspn(b, "\n") && memcmp(a, b, length) == 0;
}

/* A position in a line. */
typedef struct reader {
  const char *line, *at; /* the first and the next character, borrowed */
  diff_language language;
} reader;

/* Returns the length of the number of a value, such as "%12", that begins at the next character.  Returns 0 if no number begins
 * there. *out is the number. */
static size_t
read_number(const reader *r, uint32_t *out)
{
  const char *text = r->at;
  size_t length = 1;
  uint64_t number = 0;
  if (text[0] != (char)r->language || !isdigit((unsigned char)text[1]) ||
      (text > r->line && (isalnum((unsigned char)text[-1]) || text[-1] == '_')))
    return 0;
  for (; isdigit((unsigned char)text[length]) && number < UINT32_MAX / 16; length++)
    number = number * 10 + (uint64_t)(text[length] - '0');
  *out = (uint32_t)number;
  const bool is_name =
      isalnum((unsigned char)text[length]) || text[length] == '_' || (r->language == DIFF_IR && text[length] == '.');
  return is_name ? 0 : length;
}

/* Returns whether the line defines the value whose number, of `length` bytes, begins at the next character. */
static bool
is_definition(const reader *r, size_t length)
{
  const char *before = r->at, *after = r->at + length;
  if (r->language == DIFF_IR)
    return strspn(r->line, " ") == (size_t)(r->at - r->line) && strncmp(after, " =", 2) == 0;
  while (before > r->line && before[-1] == ' ')
    before--;
  const bool is_typed = before < r->at && before > r->line && isalnum((unsigned char)before[-1]);
  const bool is_returned = before - r->line >= 6 && strncmp(before - 6, "return", 6) == 0;
  return is_typed && !is_returned && (*after == ';' || *after == '[' || strncmp(after, " =", 2) == 0);
}

/* Returns whether the lines are equal apart from the numbers of values. */
static bool
same_shape(const char *line_a, const char *line_b, diff_language language)
{
  reader a = {line_a, line_a, language}, b = {line_b, line_b, language};
  for (uint32_t number;;) {
    const size_t in_a = read_number(&a, &number), in_b = read_number(&b, &number);
    if ((in_a == 0) != (in_b == 0))
      return false;
    const bool ends_a = !*a.at || *a.at == '\n', ends_b = !*b.at || *b.at == '\n';
    if (ends_a || ends_b)
      return ends_a && ends_b;
    if (!in_a && *a.at != *b.at)
      return false;
    a.at += in_a ? in_a : 1;
    b.at += in_b ? in_b : 1;
  }
}

/* By the number of a value of the old text, one more than its number in the new text, or 0 if the number is unchanged. */
typedef struct renumbering {
  uint32_t *now, capacity;
} renumbering;

static uint32_t
number_now(const renumbering *r, uint32_t old)
{
  return old < r->capacity && r->now[old] ? r->now[old] - 1 : old;
}

/* Records that the value `old` has the number `now`.  Returns false if memory runs out. */
static bool
renumber(renumbering *r, uint32_t old, uint32_t now)
{
  const uint32_t before = r->capacity;
  if (!vyre_grow(NULL, &r->now, &r->capacity, (uint64_t)old + 1, sizeof *r->now))
    return false;
  if (r->capacity > before)
    memset(r->now + before, 0, sizeof *r->now * (r->capacity - before));
  r->now[old] = now + 1;
  return true;
}

/* Returns whether the lines, which have one shape, use the same values, and records the value that they define.  Sets *failed if
 * memory runs out. */
static bool
same_values(const char *line_a, const char *line_b, diff_language language, renumbering *r, bool *failed)
{
  reader a = {line_a, line_a, language}, b = {line_b, line_b, language};
  bool is_same = true;
  uint32_t old, now;
  while (*a.at && *a.at != '\n' && !*failed) {
    const size_t in_a = read_number(&a, &old), in_b = read_number(&b, &now);
    if (in_a && is_definition(&a, in_a))
      *failed = !renumber(r, old, now);
    else if (in_a && number_now(r, old) != now)
      is_same = false;
    a.at += in_a ? in_a : 1;
    b.at += in_b ? in_b : 1;
  }
  return is_same;
}

/* Determines for each line whether a line of the same shape remains.  length[i][k] is the length of the longest common subsequence
 * of the lines from i and from k on.  Returns false if memory runs out. */
static bool
mark(const lines *a, const lines *b, diff_language language, bool *keeps_a, bool *keeps_b)
{
  uint32_t first = 0, last_a = a->count, last_b = b->count;
  for (; first < a->count && first < b->count && same_shape(a->at[first], b->at[first], language); first++)
    keeps_a[first] = keeps_b[first] = true;
  while (last_a > first && last_b > first && same_shape(a->at[last_a - 1], b->at[last_b - 1], language))
    keeps_a[--last_a] = keeps_b[--last_b] = true;
  const uint32_t n = last_a - first, m = last_b - first;
  const uint64_t cells = ((uint64_t)n + 1) * (m + 1);
  uint32_t *length = cells > MOST_CELLS ? NULL : calloc((size_t)cells, sizeof *length);
  if (!length)
    return cells > MOST_CELLS;
#define LENGTH(i, k) length[(size_t)(i) * (m + 1) + (k)]
  for (uint32_t i = n; i-- > 0;)
    for (uint32_t k = m; k-- > 0;)
      LENGTH(i, k) = same_shape(a->at[first + i], b->at[first + k], language) ? LENGTH(i + 1, k + 1) + 1
                     : LENGTH(i + 1, k) > LENGTH(i, k + 1)                    ? LENGTH(i + 1, k)
                                                                              : LENGTH(i, k + 1);
  for (uint32_t i = 0, k = 0; i < n && k < m;) {
    if (same_shape(a->at[first + i], b->at[first + k], language))
      keeps_a[first + i++] = keeps_b[first + k++] = true;
    else if (LENGTH(i + 1, k) >= LENGTH(i, k + 1))
      i++;
    else
      k++;
  }
#undef LENGTH
  free(length);
  return true;
}

/* Keeps only the pairs of lines that use the same values.  Returns false if memory runs out. */
static bool
compare_values(const lines *a, const lines *b, diff_language language, bool *keeps_a, bool *keeps_b)
{
  renumbering r = {0};
  bool failed = false;
  for (uint32_t i = 0, k = 0; i < a->count && k < b->count && !failed;) {
    if (!keeps_a[i]) {
      i++;
    } else if (!keeps_b[k]) {
      k++;
    } else {
      if (!same_values(a->at[i], b->at[k], language, &r, &failed))
        keeps_a[i] = keeps_b[k] = false;
      i++;
      k++;
    }
  }
  free(r.now);
  return !failed;
}

static vyre_status
print_line(char before, const char *line, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_append(out, &before, 1));
  VYRE_TRY(vyre_bytes_append(out, line, strcspn(line, "\n")));
  return vyre_bytes_append(out, "\n", 1);
}

/* Returns whether one of the next AROUND lines is removed or added. */
static bool
differs_soon(const lines *a, const lines *b, const bool *keeps_a, const bool *keeps_b, uint32_t i, uint32_t k)
{
  for (uint32_t ahead = 0; ahead <= AROUND; ahead++)
    if ((i + ahead < a->count && !keeps_a[i + ahead]) || (k + ahead < b->count && !keeps_b[k + ahead]))
      return true;
  return false;
}

static vyre_status
print_marked(const lines *a, const lines *b, const bool *keeps_a, const bool *keeps_b, vyre_bytes *out)
{
  uint32_t since = AROUND; /* unchanged lines since the last difference */
  bool is_open = false;
  for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
    const bool goes = i < a->count && !keeps_a[i], comes = !goes && k < b->count && !keeps_b[k];
    const bool is_shown = since < AROUND || differs_soon(a, b, keeps_a, keeps_b, i, k);
    if (is_shown && !is_open)
      VYRE_TRY(vyre_bytes_printf(out, "@@ -%u +%u @@\n", i + 1, k + 1));
    is_open = is_shown;
    if (is_shown && goes)
      VYRE_TRY(print_line('-', a->at[i], out));
    else if (is_shown)
      VYRE_TRY(print_line(comes ? '+' : same(a->at[i], b->at[k]) ? ' ' : '~', b->at[k], out));
    since = goes || comes ? 0 : since + (since < AROUND);
    i += !comes;
    k += !goes;
  }
  return VYRE_OK;
}

vyre_status
diff_lines(const char *was, const char *is, diff_language language, vyre_bytes *out)
{
  lines a = {0}, b = {0};
  const bool is_split = split(was, &a) && split(is, &b);
  bool *keeps_a = calloc(a.count + 1, 1), *keeps_b = calloc(b.count + 1, 1);
  vyre_status status = VYRE_OK;
  if (!is_split || !keeps_a || !keeps_b || !mark(&a, &b, language, keeps_a, keeps_b) ||
      !compare_values(&a, &b, language, keeps_a, keeps_b))
    status = VYRE_OUT_OF_MEMORY("to compare texts");
  else
    status = print_marked(&a, &b, keeps_a, keeps_b, out);
  free(a.at);
  free(b.at);
  free(keeps_a);
  free(keeps_b);
  return status;
}
