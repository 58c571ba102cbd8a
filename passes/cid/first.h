/* Finds the first of all equal values of a program, by exact comparison.
 *
 * The pass numbers values from 1 on, and passes a function that compares two values and a function that returns a value's key,
 * which holds everything that equality compares.  Values are added in order to an open-addressing table, by hash.  The hash only
 * selects slots: the result does not depend on it.
 *
 * If many values have one hash, by accident or by attack, only FIRST_FEW slots are probed.  Then a digital tree is searched,
 * whose branch at depth k is bit k of the key.  So a value costs at most FIRST_FEW + 192 comparisons.
 *
 * The table is the project's own: all of cid takes 8 ns and 8 bytes a row (bench-passes -only=cid), and an entry of uthash takes
 * 56 bytes more than its contents.
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

/* A slot holds a number and, in the bits above it, bits of the value's hash, so that most unequal values are not compared. */
typedef struct first_table {
  vyre_pass_ctx *ctx;
  uint32_t most;      /* the greatest number of values in a program */
  uint32_t *slots;    /* by slot, 0 if it is free */
  uint32_t mask;      /* number of slots less 1; selects the bits of a slot that hold the number */
  uint32_t *children; /* two for each value in the tree; NULL until the tree is needed */
  uint32_t root;
} first_table;

/* Functions of the pass, inlined into their callers. */
typedef bool (*first_is_equal)(void *user, uint32_t x, uint32_t y);
typedef first_key (*first_key_of)(void *user, uint32_t number);

/* Returns the number of slots: a power of two that leaves a third of them free. */
static inline uint32_t
first_slots_for(uint32_t values)
{
  uint32_t slots = 16;
  while (slots < values + values / 2)
    slots *= 2;
  return slots;
}

/* Allocates a table for programs of at most `most` values.  Returns false if memory runs out. */
static inline bool
first_make(first_table *t, vyre_pass_ctx *ctx, uint32_t most)
{
  *t = (first_table){.ctx = ctx, .most = most, .slots = ctx->host->alloc(ctx, sizeof(uint32_t) * first_slots_for(most))};
  return t->slots != NULL;
}

/* Empties the table, for numbers below `end`. */
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

/* Finds or inserts a value in the tree.  The low bits of each word are compared first, because they differ most. */
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
  *at = number; /* keys separate at the first bit in which they differ */
  return number;
}

/* Adds a value if a free slot shows that it differs from all others: the slots before the free one have other hashes.  Returns
 * false if the value may equal another one, or if there is no free slot. */
static inline bool
first_add_new(const first_table *t, uint32_t number, uint32_t hash)
{
  for (uint32_t i = 0; i < FIRST_FEW; i++) {
    uint32_t *slot = &t->slots[(hash + i) & t->mask];
    if (*slot == 0) {
      *slot = (hash & ~t->mask) | number;
      return true;
    }
    if (((*slot ^ hash) & ~t->mask) == 0)
      return false;
  }
  return false;
}

/* Returns the number of the first value equal to this one, which is itself if it is new.  Returns 0 if memory runs out. */
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
