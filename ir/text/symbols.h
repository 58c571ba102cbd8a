/* Names of a text and their values: a hash table over positions in the text, in scopes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_SYMBOLS_H
#define VYRE_IR_TEXT_SYMBOLS_H

#include "vyre/status.h"

typedef struct text_symbol {
  uint32_t scope; /* 0: an empty slot */
  uint32_t hash;
  uint32_t at; /* where the name's text begins */
  uint32_t value;
} text_symbol;

/* Scopes are numbers that grow.  Entries of scopes below `oldest` count as removed, so that a table is emptied in no time. */
typedef struct text_symbols {
  const char *text;
  uint32_t length; /* of the text */
  uint32_t oldest;
  text_symbol *slots;
  uint32_t capacity, count;
  const vyre_allocator *allocator;
} text_symbols;

/* NULL: there is none.  Good until the next add. */
text_symbol *text_symbols_find(const text_symbols *symbols, uint32_t scope, const char *name, uint32_t length);
/* A name that is not yet there, at `at` in the text.  False: no memory. */
bool text_symbols_add(text_symbols *symbols, uint32_t scope, uint32_t at, uint32_t length, uint32_t value);
/* Removes all of scopes below this one. */
void text_symbols_forget(text_symbols *symbols, uint32_t oldest);
/* The name in that scope that is most like `name`; its length in *out_length, 0: none is near. */
const char *text_symbols_nearest(const text_symbols *symbols, uint32_t scope, const char *name, uint32_t length,
                                 uint32_t *out_length);
void text_symbols_free(text_symbols *symbols);

/* The number of letters that must be changed, added, dropped or exchanged with their neighbour; at most `limit` + 1. */
uint32_t text_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length, uint32_t limit);
/* The number of equal letters they begin with. */
uint32_t text_common(const char *a, uint32_t a_length, const char *b, uint32_t b_length);
/* The distance that still counts as near for a word of that length. */
uint32_t text_near(uint32_t length);

#endif
