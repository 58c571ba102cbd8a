/* Suggestions for misspelled words: "did you mean".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_SUGGEST_H
#define VYRE_BASE_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct vyre_suggestion {
  const char *word; /* the misspelled word, not terminated */
  size_t length;
  const char *best; /* the nearest candidate, borrowed; NULL if none is near */
  uint32_t distance;
} vyre_suggestion;

/* Compares a candidate.  Begin with {.word = w, .length = n}, call this for every candidate, then read `best`.  The first of
 * equally near candidates wins.  Differences in case, and '_' for '-', do not count. */
void vyre_suggest(vyre_suggestion *suggestion, const char *candidate);
/* Also compares the part of the candidate after a dot: "unrol" finds "acme.unroll". */
void vyre_suggest_qualified(vyre_suggestion *suggestion, const char *candidate);

#endif
