/* Interns the literals of a solution.  Every evaluated row looks up a literal, so the hash table is the pass's own: with uthash,
 * default<O2> executes 0.7 % more instructions on the modules of bench-shaders.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "solve.h"

#include <string.h>

static uint32_t
hash_of(const solve_literal *l)
{
  uint64_t h = l->type;
  for (uint32_t i = 0; i < 4; i++)
    h = (h ^ l->lanes[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
  return (uint32_t)(h >> 20);
}

static bool
grow_slots(solution *s)
{
  const uint32_t count = s->slot_mask ? (s->slot_mask + 1) * 2 : 64;
  uint32_t *slots = s->ctx->host->alloc(s->ctx, sizeof(uint32_t) * count);
  if (!slots)
    return false;
  s->slots = slots;
  s->slot_mask = count - 1;
  for (uint32_t i = 1; i < s->literal.count; i++) {
    uint32_t slot = hash_of(LIST_AT(solve_literal, s->literal, i)) & s->slot_mask;
    while (slots[slot])
      slot = (slot + 1) & s->slot_mask;
    slots[slot] = i;
  }
  return true;
}

bool
solve_begin_literals(solution *s)
{
  s->literal.size = sizeof(solve_literal);
  return list_append(s->ctx, &s->literal) && grow_slots(s);
}

uint32_t
solve_literal_value(solution *s, const solve_literal *wanted)
{
  uint32_t slot = hash_of(wanted) & s->slot_mask;
  for (; s->slots[slot]; slot = (slot + 1) & s->slot_mask) {
    const solve_literal *l = LIST_AT(solve_literal, s->literal, s->slots[slot]);
    if (l->type == wanted->type && memcmp(l->lanes, wanted->lanes, sizeof l->lanes) == 0)
      return s->literals + s->slots[slot];
  }
  solve_literal *l = list_append(s->ctx, &s->literal);
  if (!l) {
    s->out_of_memory = true;
    return 0;
  }
  *l = *wanted;
  const uint32_t index = s->literal.count - 1;
  s->slots[slot] = index;
  if (s->literal.count * 2 > s->slot_mask && !grow_slots(s))
    s->out_of_memory = true;
  return s->literals + index;
}

uint32_t
solve_splat(solution *s, vyre_type type, uint64_t bits)
{
  solve_literal l = {.type = type};
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++)
    l.lanes[i] = bits;
  return solve_literal_value(s, &l);
}
