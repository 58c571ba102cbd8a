/* A hash over a list of pieces: everything that an output depends on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_HASHER_H
#define VYRE_CLI_INPUTS_HASHER_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

typedef struct hasher {
  XXH3_state_t state;
} hasher;

static inline void
hasher_begin(hasher *h)
{
  XXH3_128bits_reset(&h->state);
}

/* Adds a piece and its length, so that different lists of pieces have different hashes. */
static inline void
hasher_add(hasher *h, const void *data, size_t size)
{
  const uint64_t length = size;
  XXH3_128bits_update(&h->state, &length, sizeof length);
  if (size)
    XXH3_128bits_update(&h->state, data, size);
}

static inline void
hasher_add_text(hasher *h, const char *text)
{
  hasher_add(h, text, strlen(text));
}

static inline void
hasher_end(const hasher *h, uint64_t out[2])
{
  const XXH128_hash_t hash = XXH3_128bits_digest(&h->state);
  out[0] = hash.low64;
  out[1] = hash.high64;
}

#endif
