/* Finds the first of all equal values of a program, by exact comparison.
 *
 * The pass gives each value a number, from 1 on, and functions that compare two values and give a value's key, which is what is
 * compared.  Values go, one after the other, into a table of open addressing by their hashes.  A hash only says where to look: the
 * result does not depend on it.
 *
 * Where many values have one hash, by accident or malice, only FIRST_FEW slots of the table are probed; then a digital tree is,
 * whose branch at depth k is bit k of the key.  So a value costs at most FIRST_FEW + 192 comparisons.
 *
 * The table is the project's own: all of cid takes 8 ns and 8 bytes a row (bench-passes -only=cid), an entry of uthash 56 bytes
 * more than its contents.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CID_FIRST_H
#define VYRE_PASSES_CID_FIRST_H

#include "vyre/plugin.h"

#include <string.h>

enum { FIRST_WORDS = 6, FIRST_FEW = 24 };

typedef struct first_key {
  uint32_t word[FIRST_WORDS];
} first_key;

/* A slot holds a number and, in the bits that numbers leave, those of its hash, so that most unequal values need not be
 * compared. */
typedef struct first_table {
  vyre_pass_ctx *ctx;
  uint32_t most;      /* values that a program has */
  uint32_t *slots;    /* 0: free */
  uint32_t mask;      /* slots - 1; also, all the bits that a number takes */
  uint32_t *children; /* two a value, of those in the tree; NULL: none was needed yet */
  uint32_t root;
} first_table;

/* The pass's functions, inlined where they are used. */
typedef bool (*first_is_equal)(void *user, uint32_t x, uint32_t y);
typedef first_key (*first_key_of)(void *user, uint32_t number);

/* A power of two, so that a third of the slots stay free. */
static inline uint32_t
first_slots_for(uint32_t values)
{
  uint32_t slots = 16;
  while (slots < values + values / 2)
    slots *= 2;
  return slots;
}

/* For programs of up to so many values.  False: no memory. */
static inline bool
first_make(first_table *t, vyre_pass_ctx *ctx, uint32_t most)
{
  *t = (first_table){.ctx = ctx, .most = most, .slots = ctx->host->alloc(ctx, sizeof(uint32_t) * first_slots_for(most))};
  return t->slots != NULL;
}

/* Empties it, for numbers below `end`. */
static inline void
first_begin(first_table *t, uint32_t end)
{
  if (t->mask)
    memset(t->slots, 0, sizeof(uint32_t) * (t->mask + 1));
  if (t->root)
    memset(t->children, 0, sizeof(uint32_t) * 2 * (t->most + 1));
  t->mask = first_slots_for(end) - 1;
  t->root = 0;
}

/* The low bits of each word come first, because they differ most. */
static inline uint32_t
first_in_tree(first_table *t, uint32_t number, first_is_equal is_equal, first_key_of key_of, void *user)
{
  const first_key key = key_of(user, number);
  uint32_t *at = &t->root;
  if (!t->children)
    t->children = t->ctx->host->alloc(t->ctx, 2 * sizeof(uint32_t) * (t->most + 1));
  if (!t->children)
    return 0;
  for (uint32_t depth = 0; *at && depth < 32 * FIRST_WORDS; depth++) {
    if (is_equal(user, *at, number))
      return *at;
    at = &t->children[2 * *at + (key.word[depth % FIRST_WORDS] >> depth / FIRST_WORDS & 1)];
  }
  *at = number; /* two keys that differ part at the bit they differ in */
  return number;
}

/* The number of the first value equal to this one, itself where there was none.  0: no memory. */
static inline __attribute__((always_inline)) uint32_t
first_find(first_table *t, uint32_t number, uint32_t hash, first_is_equal is_equal, first_key_of key_of, void *user)
{
  for (uint32_t i = 0; i < FIRST_FEW; i++) {
    uint32_t *slot = &t->slots[(hash + i) & t->mask];
    if (*slot == 0) {
      *slot = (hash & ~t->mask) | number;
      return number;
    }
    if (((*slot ^ hash) & ~t->mask) == 0 && is_equal(user, *slot & t->mask, number))
      return *slot & t->mask;
  }
  return first_in_tree(t, number, is_equal, key_of, user);
}

#endif
