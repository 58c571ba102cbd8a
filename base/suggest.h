/* Near misses: "did you mean".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_SUGGEST_H
#define VYRE_BASE_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct vyre_suggestion {
  const char *word; /* what was written; not terminated */
  size_t length;
  const char *best; /* NULL: nothing is near; borrowed from the candidates */
  uint32_t distance;
} vyre_suggestion;

/* Begin with {.word = w, .length = n}, offer every candidate, read `best`.  Of equals the first stays.  Case and '_' for '-' cost
 * nothing but lose against an exact match. */
void vyre_suggest(vyre_suggestion *suggestion, const char *candidate);
/* The same for the part of the candidate after a dot: "unrol" finds "acme.unroll". */
void vyre_suggest_qualified(vyre_suggestion *suggestion, const char *candidate);

#endif
