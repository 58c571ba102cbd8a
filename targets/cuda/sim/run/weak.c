/* Weak accesses to device memory, which may be delayed.
 *
 * A weak store may be delayed until its lane releases, waits at a barrier, ends, or accesses the bytes. A weak load may return a
 * value that the block read earlier, until a lane of the block acquires in a scope larger than the block. Each launch
 * randomly decides whether its accesses are weak.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/run/machine.h"

static bool
overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
  return a < b + b_size && b < a + a_size;
}

/* ---- loads --------------------------------------------------------------------------------------------------------------- */

static ptx_stale *
stale_at(ptx_block *block, uint64_t address)
{
  return &block->stale[(address >> 3) % PTX_STALE];
}

void
ptx_forget_reads(ptx_block *block)
{
  memset(block->stale, 0, sizeof block->stale);
}

void
ptx_forget_read(ptx_block *block, uint64_t address)
{
  ptx_stale *s = stale_at(block, address);
  if (s->word == address >> 3)
    s->bytes = 0;
}

uint64_t
ptx_read_again(ptx_block *block, uint64_t address, uint32_t size, uint64_t value)
{
  ptx_stale *s = stale_at(block, address);
  const uint32_t shift = address & 7, bytes = ((1u << size) - 1) << shift;
  if (s->word != address >> 3)
    *s = (ptx_stale){.word = address >> 3};
  if ((s->bytes & bytes) == bytes)
    return ptx_low(s->value >> shift * 8, size * 8);
  const uint64_t mask = ptx_low(UINT64_MAX, size * 8) << shift * 8;
  s->value = (s->value & ~mask) | value << shift * 8;
  s->bytes |= (uint8_t)bytes;
  return value;
}

/* ---- stores -------------------------------------------------------------------------------------------------------------- */

static void
finish_store(ptx_machine *m, ptx_warp *warp, const ptx_pending *store)
{
  ptx_forget_read(warp->block, store->address);
  ptx_put_bytes(m, store->data, store->value, store->size);
}

static void
remove_store(ptx_machine *m, ptx_warp *warp, uint32_t lane, uint32_t k)
{
  ptx_pending *list = warp->stores[lane];
  finish_store(m, warp, &list[k]);
  const uint32_t left = --warp->store_count[lane];
  memmove(&list[k], &list[k + 1], (left - k) * sizeof *list);
  if (!left)
    warp->pending &= ~(1u << lane);
}

void
ptx_finish_stores(ptx_machine *m, ptx_warp *warp, uint32_t lanes)
{
  PTX_EACH_LANE(lane, lanes & warp->pending)
  while (warp->store_count[lane])
    remove_store(m, warp, lane, 0);
}

/* Finishes the lane's stores that overlap the bytes, in order, because a lane sees its own stores. */
void
ptx_finish_overlapping(ptx_machine *m, ptx_warp *warp, uint32_t lane, uint64_t address, uint32_t size)
{
  for (uint32_t k = 0; warp->pending >> lane & 1 && k < warp->store_count[lane];) {
    const ptx_pending *store = &warp->stores[lane][k];
    if (overlap(store->address, store->size, address, size))
      remove_store(m, warp, lane, k);
    else
      k++;
  }
}

void
ptx_store_device(ptx_machine *m, ptx_warp *warp, uint32_t lane, const ptx_pending *store, bool may_wait)
{
  if (m->is_weak)
    ptx_finish_overlapping(m, warp, lane, store->address, store->size);
  if (!may_wait || !m->is_weak || ptx_draw(m) & 1) {
    finish_store(m, warp, store);
    return;
  }
  if (warp->store_count[lane] == PTX_PENDING) /* delayed stores do not overlap, so any may be the first to finish */
    remove_store(m, warp, lane, ptx_draw(m) % PTX_PENDING);
  warp->stores[lane][warp->store_count[lane]++] = *store;
  warp->pending |= 1u << lane;
}
