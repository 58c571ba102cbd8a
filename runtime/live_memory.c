/* The memory of a live kernel's fifth buffer, if the live kernel owns it.
 *
 * The host writes the image, and marks the blocks that it wrote.  If the device has its own memory (MIRRORED), a slice uploads
 * these blocks and reads all of the used memory back.  So the image always has the state of the last successful slice, from which
 * the device's memory can be made again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

static size_t
blocks_of(const live_memory *m)
{
  return m->used / BLOCK;
}

vyre_status
live_memory_start(vyre_mega_live *live)
{
  live_memory *m = &live->memory;
  if (!m->image || live->way != VYRE_MEGA_MIRRORED)
    return VYRE_OK;
  m->dirty = calloc(m->size / BLOCK, sizeof *m->dirty);
  m->idle = calloc(m->size / BLOCK, sizeof *m->idle);
  m->down = malloc(m->size);
  if (!m->dirty || !m->idle || !m->down)
    return VYRE_OUT_OF_MEMORY("for a live megakernel");
  live_memory_forget(live);
  return VYRE_OK;
}

void
live_memory_free(vyre_mega_live *live)
{
  free(live->memory.dirty);
  free(live->memory.idle);
  free(live->memory.down);
}

void
live_memory_write(vyre_mega_live *live, uint64_t at, const void *data, uint64_t size)
{
  live_memory *m = &live->memory;
  pthread_mutex_lock(&live->lock); /* a slice that ends must not replace the data before its block is marked */
  __atomic_thread_fence(__ATOMIC_RELEASE);
  if (size == sizeof(uint32_t)) { /* a word that a kernel may read meanwhile */
    uint32_t word = 0;
    if (data)
      memcpy(&word, data, sizeof word);
    __atomic_store_n((uint32_t *)(void *)(m->image + at), word, __ATOMIC_RELEASE);
  } else if (data)
    memcpy(m->image + at, data, size);
  else
    memset(m->image + at, 0, size);
  for (uint64_t block = at / BLOCK; m->dirty && size && block <= (at + size - 1) / BLOCK; block++)
    m->dirty[block] = true;
  const size_t end = (size_t)((at + size + BLOCK - 1) / BLOCK * BLOCK);
  m->used = m->used > end ? m->used : end;
  pthread_mutex_unlock(&live->lock);
}

void
live_memory_read(vyre_mega_live *live, uint64_t at, void *out, uint64_t size)
{
  pthread_mutex_lock(&live->lock);
  memcpy(out, live->memory.image + at, size);
  pthread_mutex_unlock(&live->lock);
}

void
live_memory_set_idle(vyre_mega_live *live, uint64_t at, uint64_t size, bool is_idle)
{
  live_memory *m = &live->memory;
  pthread_mutex_lock(&live->lock);
  for (uint64_t block = at / BLOCK; m->idle && size && block <= (at + size - 1) / BLOCK; block++) {
    m->dirty[block] = m->dirty[block] || (m->idle[block] && !is_idle);
    m->idle[block] = is_idle;
  }
  pthread_mutex_unlock(&live->lock);
}

/* Returns the range of blocks from `first` on whose flag is `value`.  *out_end is the block after it. */
static vyre_range
range_of(const vyre_mega_live *live, const bool *flags, bool value, size_t first, size_t *out_end)
{
  size_t end = first;
  while (end < blocks_of(&live->memory) && flags[end] == value)
    end++;
  *out_end = end;
  return (vyre_range){live->row.buffers[MEGA_BUFFERS].buffer, first * BLOCK, (end - first) * BLOCK};
}

vyre_status
live_memory_list(vyre_mega_live *live, live_transfers *out)
{
  live_memory *m = &live->memory;
  pthread_mutex_lock(&live->lock);
  const size_t blocks = blocks_of(m);
  *out = (live_transfers){.uploads = calloc(blocks / 2 + 1, sizeof *out->uploads),
                          .reads = calloc(blocks / 2 + 1, sizeof *out->reads)};
  const bool is_ready = out->uploads && out->reads;
  for (size_t block = 0, end; is_ready && block < blocks; block = end) {
    const vyre_range range = range_of(live, m->dirty, m->dirty[block], block, &end);
    if (!m->dirty[block])
      continue;
    memset(m->dirty + block, 0, end - block);
    memcpy(m->down + range.offset, m->image + range.offset, range.size); /* the host may change the image during the slice */
    out->uploads[out->upload_count++] = (vyre_upload){range, m->down + range.offset};
  }
  for (size_t block = 0, end; is_ready && block < blocks; block = end) {
    const vyre_range range = range_of(live, m->idle, m->idle[block], block, &end);
    if (!m->idle[block])
      out->reads[out->read_count++] = (vyre_read){range, m->down + range.offset};
  }
  pthread_mutex_unlock(&live->lock);
  return is_ready ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a slice");
}

void
live_memory_merge(vyre_mega_live *live, const live_transfers *done)
{
  live_memory *m = &live->memory;
  pthread_mutex_lock(&live->lock);
  for (uint32_t i = 0; i < done->read_count; i++) {
    const vyre_range *range = &done->reads[i].range;
    for (uint64_t block = range->offset / BLOCK; block < (range->offset + range->size) / BLOCK; block++)
      if (!m->dirty[block])
        memcpy(m->image + block * BLOCK, m->down + block * BLOCK, BLOCK);
  }
  pthread_mutex_unlock(&live->lock);
}

void
live_memory_forget(vyre_mega_live *live)
{
  live_memory *m = &live->memory;
  pthread_mutex_lock(&live->lock);
  for (size_t block = 0; m->dirty && block < blocks_of(m); block++)
    m->dirty[block] = !m->idle[block];
  pthread_mutex_unlock(&live->lock);
}
