/* Detects endless loops. If memory has not changed for long, lanes are watched at their backward branches. A lane whose registers
 * repeat while no memory changes is in an endless loop. If all lanes that can run are in such loops, the launch hangs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

enum { QUIET = 1 << 18 }; /* ticks without a change of memory before lanes are watched */

static uint64_t
state_of(const ptx_bundle *b, uint32_t lane)
{
  uint64_t hash = b->warp->pc[lane] + (uint64_t)b->warp->depth[lane] * 0x10001;
  for (uint32_t r = 0; r < b->function->register_count; r++) {
    hash = (hash ^ b->registers[(size_t)r * PTX_WARP + lane]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

void
ptx_watch(ptx_bundle *b, uint32_t lanes)
{
  ptx_warp *warp = b->warp;
  PTX_EACH_LANE(lane, lanes)
  {
    const uint64_t state = state_of(b, lane);
    const uint32_t seen = warp->seen[lane]++;
    if (seen && warp->state[lane] == state)
      warp->spins |= 1u << lane;
    else if (!(seen & (seen - 1))) /* saves the state at powers of two, so that loops of any length are found */
      warp->state[lane] = state;
  }
}

static void
begin_watch(ptx_machine *m)
{
  m->is_watching = true;
  m->watch_ticks = m->ticks;
  for (uint32_t i = 0; i < m->resident; i++) {
    ptx_forget_reads(&m->blocks[i]); /* weak loads must return new values eventually */
    for (uint32_t w = 0; m->blocks[i].is_live && w < m->warps; w++) {
      ptx_warp *warp = &m->blocks[i].warps[w];
      ptx_finish_stores(m, warp, UINT32_MAX);
      warp->spins = 0;
      memset(warp->seen, 0, sizeof warp->seen);
    }
  }
  m->watch_changes = m->changes;
}

/* Returns a warp of spinning lanes if all lanes that can run spin, otherwise NULL. Stores the number of lanes. */
static const ptx_warp *
all_spin(const ptx_machine *m, uint32_t *out_lanes)
{
  const ptx_warp *found = NULL;
  *out_lanes = 0;
  for (uint32_t i = 0; i < m->resident; i++)
    for (uint32_t w = 0; m->blocks[i].is_live && w < m->warps; w++) {
      const ptx_warp *warp = &m->blocks[i].warps[w];
      const uint32_t runnable = ptx_runnable(warp);
      if (runnable & ~warp->spins)
        return NULL;
      *out_lanes += (uint32_t)__builtin_popcount(runnable);
      found = runnable ? warp : found;
    }
  return found;
}

bool
ptx_check_spin(ptx_machine *m)
{
  uint32_t lanes;
  if (m->changes != m->watch_changes) {
    m->watch_changes = m->changes;
    m->watch_ticks = m->ticks;
    m->is_watching = false;
    return true;
  }
  if (!m->is_watching) {
    if (m->ticks - m->watch_ticks > QUIET)
      begin_watch(m);
    return true;
  }
  const ptx_warp *warp = all_spin(m, &lanes);
  if (!warp)
    return true;
  m->is_watching = false;
  m->watch_ticks = m->ticks;
  if (m->launch->goes_on && m->launch->goes_on(m->launch->memory.user, true))
    return true;
  const uint32_t lane = (uint32_t)__builtin_ctz(ptx_runnable(warp));
  return ptx_fail(m, warp, lane, &m->code[warp->pc[lane]], PTX_FAULT_HANG, 0,
                  "%u threads wait in loops for memory that no thread changes; %llu of %llu blocks have not begun", lanes,
                  (unsigned long long)(m->block_count - m->blocks_begun), (unsigned long long)m->block_count);
}
