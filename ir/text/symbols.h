/* A hash table from names to values, in scopes. A name is a position in the text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_SYMBOLS_H
#define VYRE_IR_TEXT_SYMBOLS_H

#include "vyre/status.h"

typedef struct text_symbol {
  uint32_t scope; /* 0 for an empty slot */
  uint32_t hash;
  uint32_t at; /* offset of the name in the text */
  uint32_t value;
} text_symbol;

/* Scopes are increasing numbers. Entries whose scope is less than `oldest` count as removed, so a table is cleared in O(1). */
typedef struct text_symbols {
  const char *text;
  uint32_t length; /* of the text */
  uint32_t oldest;
  text_symbol *slots;
  uint32_t capacity, count;
  const vyre_allocator *allocator;
} text_symbols;

/* Returns the entry, or NULL if there is none. The pointer is valid until the next insertion. */
text_symbol *text_symbols_find(const text_symbols *symbols, uint32_t scope, const char *name, uint32_t length);
/* Adds a name that is not in the table; `at` is its offset in the text. Returns false if memory runs out. */
bool text_symbols_add(text_symbols *symbols, uint32_t scope, uint32_t at, uint32_t length, uint32_t value);
/* Removes the entries of all scopes less than `oldest`. */
void text_symbols_forget(text_symbols *symbols, uint32_t oldest);
/* Returns the name of the scope that is most similar to `name`, and its length in *out_length. Returns NULL, and length 0, if no
 * name is similar. */
const char *text_symbols_nearest(const text_symbols *symbols, uint32_t scope, const char *name, uint32_t length,
                                 uint32_t *out_length);
void text_symbols_free(text_symbols *symbols);

/* Returns the edit distance: the number of letters inserted, deleted, replaced or exchanged with their neighbour, at most `limit` +
 * 1. */
uint32_t text_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length, uint32_t limit);
/* Returns the length of the common prefix. */
uint32_t text_common(const char *a, uint32_t a_length, const char *b, uint32_t b_length);
/* Returns the greatest edit distance at which a word of `length` letters counts as similar. */
uint32_t text_near_limit(uint32_t length);

#endif
