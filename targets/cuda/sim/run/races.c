/* Detects races on shared memory.
 *
 * Each byte has its last write and the reads of up to two threads since. Each thread has the times of its last release and its last
 * acquire; a barrier is both. An access is ordered after an earlier one of another thread if that thread released after its access
 * and this thread acquired after it. The release and the acquire may be unrelated, so a race may be missed, but no report is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

static uint32_t
thread_of(const ptx_warp *warp, uint32_t lane)
{
  return warp->index * PTX_WARP + lane;
}

void
ptx_note_release(ptx_warp *warp, uint32_t lanes)
{
  const uint32_t now = ++warp->block->time;
  PTX_EACH_LANE(lane, lanes)
  warp->block->released[thread_of(warp, lane)] = now;
}

void
ptx_note_acquire(ptx_warp *warp, uint32_t lanes)
{
  const uint32_t now = ++warp->block->time;
  PTX_EACH_LANE(lane, lanes)
  warp->block->acquired[thread_of(warp, lane)] = now;
}

static bool
is_ordered(const ptx_block *block, const ptx_touch *earlier, uint32_t thread)
{
  return !earlier->time || earlier->thread == thread ||
         (block->released[earlier->thread] > earlier->time && block->acquired[thread] > earlier->time);
}

static bool
report(ptx_bundle *b, uint32_t lane, uint64_t offset, const ptx_touch *earlier, const char *what, const char *other)
{
  return ptx_fail(b->machine, b->warp, lane, b->insn, PTX_FAULT_RACE, PTX_SHARED_START + offset,
                  "the thread %s a byte that thread %u %s in line %u, and no barrier is between them", what, earlier->thread, other,
                  earlier->line);
}

bool
ptx_note_shared(ptx_bundle *b, uint32_t lane, uint64_t offset, uint32_t size, bool is_write, bool is_strong)
{
  ptx_block *block = b->warp->block;
  const uint32_t thread = thread_of(b->warp, lane);
  const ptx_touch now = {++block->time, b->insn->line, (uint16_t)thread, is_strong};
  for (uint64_t at = offset; at < offset + size; at++) {
    ptx_shadow *s = &block->shadow[at];
    if (!is_ordered(block, &s->write, thread) && !(is_strong && s->write.is_strong))
      return report(b, lane, at, &s->write, is_write ? "writes" : "reads", "wrote");
    if (!is_write) {
      if (s->read[0].thread != thread)
        s->read[1] = s->read[0];
      s->read[0] = now;
      continue;
    }
    for (uint32_t k = 0; k < 2; k++)
      if (!is_ordered(block, &s->read[k], thread) && !(is_strong && s->read[k].is_strong))
        return report(b, lane, at, &s->read[k], "writes", "read");
    s->write = now;
    memset(s->read, 0, sizeof s->read);
  }
  return true;
}
