/* Finds blocks that both arms of a selection lead to, other than its merge block: `if (c) goto X else Y; Y: goto X; X: goto M`.
 *
 * SPIR-V restricts the entry and exit of a construct, not the blocks in it, and tools that simplify control flow produce such
 * shared blocks.  The arms end at the first block that they share.  The rows from there to the merge block follow the `if`, and a
 * `block` surrounds both, so that a branch from an arm to the merge block can leave it.
 *
 * Limits: selections whose arms meet at several blocks are not supported.  Cost: constant in a function that cannot have a shared
 * block; otherwise each selection visits the blocks that it leads to.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

bool
flow_may_share(const import *m, const function *f)
{
  for (uint32_t k = 0; k < f->block_count; k++) {
    const block *b = AT(block, m->blocks, f->blocks + k);
    if (!b->is_target && b->preds > (b->is_loop ? 2u : 1u))
      return true;
  }
  return false;
}

/* Marks the blocks where the enclosing constructs end or continue. */
static void
stop_at_constructs(import *m, uint32_t stamp)
{
  for (uint32_t k = m->instance->constructs; k < m->constructs.count; k++) {
    const construct *c = CONSTRUCT(m, k);
    const uint32_t ends[3] = {c->merge, c->kind == CONSTRUCT_LOOP ? c->next : NONE, c->header};
    for (uint32_t i = 0; i < 3; i++)
      if (ends[i] != NONE)
        AT(block, m->blocks, ends[i])->stamp = stamp;
    for (uint32_t i = 0; c->kind == CONSTRUCT_SWITCH && i < c->case_count; i++)
      AT(block, m->blocks, AT(switch_case, m->cases, c->cases + i)->block)->stamp = stamp;
  }
}

/* Marks the blocks reachable from `from`, without those of stamp `stop`.  Does not follow blocks of stamp `other`, and returns the
 * last such block that it reaches, or NONE. */
static uint32_t
mark(import *m, uint32_t from, uint32_t stop, uint32_t other, uint32_t stamp)
{
  const uint32_t first = m->stack.count;
  uint32_t met = NONE;
  if (!list_add_word(m, &m->stack, from))
    return NONE;
  for (uint32_t k = first; k < m->stack.count && !failed(m); k++) {
    const uint32_t at = *AT(uint32_t, m->stack, k);
    block *b = AT(block, m->blocks, at);
    if (b->stamp == other)
      met = at;
    if (b->stamp == stop || b->stamp == stamp || b->stamp == other)
      continue;
    b->stamp = stamp;
    for (uint32_t i = 0; i < b->successor_count; i++)
      if (!list_add_word(m, &m->stack, *AT(uint32_t, m->successors, b->successors + i)))
        return NONE;
  }
  m->stack.count = first;
  return met;
}

uint32_t
flow_shared(import *m, uint32_t yes, uint32_t no, uint32_t merge)
{
  const uint32_t stop = m->stamp + 1, reached = m->stamp + 2, met = m->stamp + 3;
  if (!AT(function, m->functions, m->instance->function)->may_share || yes == no || yes == merge || no == merge)
    return NONE;
  m->stamp += 3;
  stop_at_constructs(m, stop);
  AT(block, m->blocks, merge)->stamp = stop;
  (void)mark(m, yes, stop, NONE, reached);
  return failed(m) ? NONE : mark(m, no, stop, reached, met);
}
