/* Random pipelines: of all passes that change something but no result, in groups that run to a fixpoint, and the default ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
  const vyre_registry *registry;
  uint64_t random;
  char *text;
  size_t length;
} writer;

static void
put(writer *w, const char *text)
{
  const size_t length = strlen(text);
  if (w->length + length < MOST_PIPELINE) {
    memcpy(w->text + w->length, text, length + 1);
    w->length += length;
  }
}

/* Returns whether the pass may change something, but no result, as `contract` and `half` do. */
static bool
is_drawn(const vyre_pass *pass)
{
  return strcmp(pass->name, "no-op") != 0 && strcmp(pass->name, "print") != 0 && strcmp(pass->name, "verify") != 0 &&
         strcmp(pass->name, "contract") != 0 && strcmp(pass->name, "half") != 0 && pass->provides == 0;
}

bool
can_draw_pass(const vyre_registry *registry)
{
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry); i++)
    if (is_drawn(vyre_registry_pass(registry, i).pass))
      return true;
  return false;
}

static const char *
any_pass(writer *w)
{
  for (;;) {
    const vyre_pass_info info = vyre_registry_pass(w->registry, random_below(&w->random, vyre_registry_pass_count(w->registry)));
    if (is_drawn(info.pass))
      return info.pass->name;
  }
}

static void
put_passes(writer *w, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    put(w, i ? "," : "");
    put(w, any_pass(w));
  }
}

void
random_pipeline(const vyre_registry *registry, uint64_t seed, char text[MOST_PIPELINE])
{
  writer w = {.registry = registry, .random = seed ^ UINT64_C(0x9e3779b97f4a7c15), .text = text};
  text[0] = '\0';
  random_below(&w.random, 1);
  switch (random_below(&w.random, 8)) {
  case 0:
    put(&w, "default<O1>");
    break;
  case 1:
    put(&w, "default<O2>");
    break;
  case 2:
    put(&w, "default<O3>");
    break;
  case 3:
    put(&w, "fixpoint<on-limit=quiet>(");
    put_passes(&w, 2 + random_below(&w.random, 5));
    put(&w, ")");
    break;
  case 4:
    put_passes(&w, 1 + random_below(&w.random, 3));
    put(&w, ",fixpoint<max=3;on-limit=quiet>(");
    put_passes(&w, 2 + random_below(&w.random, 3));
    put(&w, "),");
    put_passes(&w, 1 + random_below(&w.random, 3));
    break;
  default:
    put_passes(&w, 1 + random_below(&w.random, 8));
    break;
  }
}
