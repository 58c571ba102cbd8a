/* Memory for rules in tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_RULES_FIXTURE_H
#define VYRE_UNITTESTS_RULES_FIXTURE_H

#include "../test.h"
#include "rules.h"

/* Memory that a test frees at its end. */
typedef struct arena {
  void *blocks[64];
  uint32_t count;
} arena;

static inline void *
arena_take(void *user, size_t bytes)
{
  arena *a = user;
  assert_in_range(a->count, 0, 63);
  a->blocks[a->count] = calloc(1, bytes);
  return a->blocks[a->count++];
}

static inline void
arena_free(arena *a)
{
  while (a->count)
    free(a->blocks[--a->count]);
}

#endif
