/* The hash table of names: open addressing, 16 bytes per name, without copies of the text. With uthash (80 bytes per name), parsing
 * a text of names takes 30 % longer (bench-ir, "parse (names)").
 *
 * The length of a name is not stored because the text determines its end: a quoted name ends at its quote, others at the first
 * character that cannot continue them. Each operation takes expected O(1). Names are compared by hash, scope and text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

#include "lex.h"

#include <string.h>

static uint32_t
hash_name(uint32_t scope, const char *name, uint32_t length)
{
  uint64_t hash = scope * (uint64_t)0x9e3779b97f4a7c15u ^ length;
  uint32_t i = 0;
  for (; i + 8 <= length; i += 8) {
    uint64_t word;
    memcpy(&word, name + i, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  uint64_t rest = 0;
  for (uint32_t shift = 0; i < length; i++, shift += 8)
    rest |= (uint64_t)(uint8_t)name[i] << shift;
  hash = (hash ^ rest) * 0xc4ceb9fe1a85ec53u;
  return (uint32_t)(hash ^ hash >> 32);
}

static bool
ends_at(const text_symbols *symbols, uint32_t start, uint32_t end)
{
  char next = end < symbols->length ? symbols->text[end] : '\0';
  if (start && symbols->text[start - 1] == '"')
    return next == '"';
  return !text_is_word_byte(next) && !(next == '.' && start && symbols->text[start - 1] == '@');
}

/* Returns whether a name is quoted. %7 is the number of a row without a name, but %"7" is a name. */
static bool
is_quoted(const text_symbols *symbols, const char *name)
{
  return name > symbols->text && name[-1] == '"';
}

static bool
is_named(const text_symbols *symbols, const text_symbol *entry, const char *name, uint32_t length)
{
  bool digit = length && name[0] >= '0' && name[0] <= '9';
  if (digit && is_quoted(symbols, name) != is_quoted(symbols, symbols->text + entry->at))
    return false;
  return length <= symbols->length - entry->at && memcmp(symbols->text + entry->at, name, length) == 0 &&
         ends_at(symbols, entry->at, entry->at + length);
}

text_symbol *
text_symbols_find(const text_symbols *symbols, uint32_t scope, const char *name, uint32_t length)
{
  if (symbols->capacity == 0)
    return NULL;
  uint32_t hash = hash_name(scope, name, length);
  for (uint32_t slot = hash;; slot++) {
    text_symbol *entry = &symbols->slots[slot & (symbols->capacity - 1)];
    if (entry->scope < symbols->oldest || entry->scope == 0)
      return NULL;
    if (entry->hash == hash && entry->scope == scope && is_named(symbols, entry, name, length))
      return entry;
  }
}

static void
put_symbol(text_symbols *symbols, text_symbol symbol)
{
  uint32_t slot = symbol.hash & (symbols->capacity - 1);
  while (symbols->slots[slot].scope && symbols->slots[slot].scope >= symbols->oldest)
    slot = (slot + 1) & (symbols->capacity - 1);
  symbols->slots[slot] = symbol;
}

static bool
grow_slots(text_symbols *symbols)
{
  if (symbols->count < symbols->capacity / 4 * 3)
    return true;
  const vyre_allocator *allocator = symbols->allocator;
  text_symbols grown = *symbols;
  grown.capacity = symbols->capacity ? symbols->capacity * 2 : 64;
  if (grown.capacity < symbols->capacity)
    return false;
  grown.slots = allocator->resize(allocator->user, NULL, 0, grown.capacity * sizeof(text_symbol));
  if (!grown.slots)
    return false;
  memset(grown.slots, 0, grown.capacity * sizeof(text_symbol));
  for (uint32_t i = 0; i < symbols->capacity; i++)
    if (symbols->slots[i].scope && symbols->slots[i].scope >= symbols->oldest)
      put_symbol(&grown, symbols->slots[i]);
  text_symbols_free(symbols);
  *symbols = grown;
  return true;
}

bool
text_symbols_add(text_symbols *symbols, uint32_t scope, uint32_t at, uint32_t length, uint32_t value)
{
  if (!grow_slots(symbols))
    return false;
  put_symbol(symbols, (text_symbol){scope, hash_name(scope, symbols->text + at, length), at, value});
  symbols->count++;
  return true;
}

void
text_symbols_forget(text_symbols *symbols, uint32_t oldest)
{
  symbols->oldest = oldest;
  symbols->count = 0;
}

void
text_symbols_free(text_symbols *symbols)
{
  if (symbols->slots)
    symbols->allocator->resize(symbols->allocator->user, symbols->slots, symbols->capacity * sizeof(text_symbol), 0);
  symbols->slots = NULL;
  symbols->capacity = symbols->count = 0;
}

/* ---- similar names ---- */

#define MAX_NEAR 32u /* longer words are not similar to any other */

uint32_t
text_near_limit(uint32_t length)
{
  return length < 5 ? 1 : length < 9 ? 2 : 3;
}

uint32_t
text_common(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
  uint32_t length = 0;
  while (length < a_length && length < b_length && a[length] == b[length])
    length++;
  return length;
}

uint32_t
text_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length, uint32_t limit)
{
  uint32_t rows[3][MAX_NEAR + 1];
  uint32_t gap = a_length > b_length ? a_length - b_length : b_length - a_length;
  if (a_length > MAX_NEAR || b_length > MAX_NEAR || gap > limit)
    return limit + 1;
  for (uint32_t j = 0; j <= b_length; j++)
    rows[0][j] = j;
  for (uint32_t i = 1; i <= a_length; i++) {
    uint32_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (uint32_t j = 1; j <= b_length; j++) {
      uint32_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
      best = last[j] + 1 < best ? last[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[a_length % 3][b_length];
}

static uint32_t
length_at(const text_symbols *symbols, uint32_t at)
{
  uint32_t end = at;
  while (end < symbols->length && end - at <= MAX_NEAR && !ends_at(symbols, at, end))
    end++;
  return end - at;
}

const char *
text_symbols_nearest(const text_symbols *symbols, uint32_t scope, const char *name, uint32_t length, uint32_t *out_length)
{
  uint32_t best = text_near_limit(length) + 1;
  const char *nearest = NULL;
  *out_length = 0;
  for (uint32_t i = 0; i < symbols->capacity; i++) {
    const text_symbol *entry = &symbols->slots[i];
    if (entry->scope != scope)
      continue;
    const char *text = symbols->text + entry->at;
    uint32_t size = length_at(symbols, entry->at);
    uint32_t distance = text_distance(name, length, text, size, best);
    bool first = false; /* prefers the longer common prefix, then the earlier name, so that the result does not depend on hashes */
    if (distance == best && nearest) {
      uint32_t common = text_common(name, length, text, size), known = text_common(name, length, nearest, *out_length);
      first = common > known || (common == known && text < nearest);
    }
    if (size == 0 || (distance >= best && !first) || distance >= length)
      continue;
    best = distance;
    nearest = text;
    *out_length = size;
  }
  return nearest;
}
