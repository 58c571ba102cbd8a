/* A longest common subsequence of the lines between the common beginning and the common end.  O(lines * lines) for these lines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "diff.h"

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

/* Sets for each line whether it stays.  length[i][k] is the length of the longest common subsequence of the lines from i and from k
 * on.  Returns false if memory runs out. */
static bool
mark(const lines *a, const lines *b, bool *keeps_a, bool *keeps_b)
{
  uint32_t first = 0, last_a = a->count, last_b = b->count;
  for (; first < a->count && first < b->count && same(a->at[first], b->at[first]); first++)
    keeps_a[first] = keeps_b[first] = true;
  while (last_a > first && last_b > first && same(a->at[last_a - 1], b->at[last_b - 1]))
    keeps_a[--last_a] = keeps_b[--last_b] = true;
  const uint32_t n = last_a - first, m = last_b - first;
  const uint64_t cells = ((uint64_t)n + 1) * (m + 1);
  uint32_t *length = cells > MOST_CELLS ? NULL : calloc((size_t)cells, sizeof *length);
  if (!length)
    return cells > MOST_CELLS;
#define LENGTH(i, k) length[(size_t)(i) * (m + 1) + (k)]
  for (uint32_t i = n; i-- > 0;)
    for (uint32_t k = m; k-- > 0;)
      LENGTH(i, k) = same(a->at[first + i], b->at[first + k]) ? LENGTH(i + 1, k + 1) + 1
                     : LENGTH(i + 1, k) > LENGTH(i, k + 1)    ? LENGTH(i + 1, k)
                                                              : LENGTH(i, k + 1);
  for (uint32_t i = 0, k = 0; i < n && k < m;) {
    if (same(a->at[first + i], b->at[first + k]))
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
    if (is_shown)
      VYRE_TRY(print_line(goes ? '-' : comes ? '+' : ' ', comes ? b->at[k] : a->at[i], out));
    since = goes || comes ? 0 : since + (since < AROUND);
    i += !comes;
    k += !goes;
  }
  return VYRE_OK;
}

vyre_status
diff_lines(const char *was, const char *is, vyre_bytes *out)
{
  lines a = {0}, b = {0};
  const bool is_split = split(was, &a) && split(is, &b);
  bool *keeps_a = calloc(a.count + 1, 1), *keeps_b = calloc(b.count + 1, 1);
  vyre_status status = VYRE_OK;
  if (!is_split || !keeps_a || !keeps_b || !mark(&a, &b, keeps_a, keeps_b))
    status = VYRE_OUT_OF_MEMORY("to compare texts");
  else
    status = print_marked(&a, &b, keeps_a, keeps_b, out);
  free(a.at);
  free(b.at);
  free(keeps_a);
  free(keeps_b);
  return status;
}
