/* The IO queue of a kernel on a device with separate memory.  The device executes nothing between slices.  Then requests are
 * copied to the pump's queue and are CLAIMED on the device, and results are uploaded with the bytes that were read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live.h"
#include "protocol/words.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t
state_of(const vyre_mega_live *live, uint32_t slot)
{
  return live_word(live->images[3], (size_t)slot * VYRE_MEGA_IO_WORDS + IO_STATE);
}

static bool
has_result(uint32_t state)
{
  return state == VYRE_MEGA_IO_OK || state == VYRE_MEGA_IO_ERROR;
}

static bool
is_given_up(const vyre_mega_live *live, uint32_t slot)
{
  return live_word(live->images[3], (size_t)slot * VYRE_MEGA_IO_WORDS + IO_OP) == VYRE_MEGA_IO_GIVEN_UP;
}

/* Returns the region that an operation names, or NULL for an invalid number.  The pump refuses an operation with an invalid
 * number. */
static const vyre_mega_region *
region_of(const vyre_mega_live *live, const uint32_t *words)
{
  const uint32_t number = words[words[IO_OP] == VYRE_MEGA_IO_WRITE ? IO_SOURCE : IO_DESTINATION];
  return number < live->region_count ? &live->regions[number] : NULL;
}

/* Returns the first bytes of a region on the device.  The range ends after `bytes`, because the kernel owns
 * the bytes behind them. */
static vyre_range
range_of(const vyre_mega_live *live, const vyre_mega_region *region, uint32_t bytes)
{
  const vyre_range *data = &live->row.buffers[MEGA_BUFFERS];
  return (vyre_range){data->buffer, data->offset + region->at, bytes};
}

uint32_t
live_io_list_uploads(vyre_mega_live *live, vyre_upload *out)
{
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++) {
    const uint32_t *down = &live->io_down[slot * VYRE_MEGA_IO_WORDS], state = state_of(live, slot);
    uint32_t *words = live->io_words[slot];
    /* A request that the device gave up becomes EMPTY later, even if it has a result now. */
    const bool is_over = state == VYRE_MEGA_EMPTY || (has_result(state) && !is_given_up(live, slot));
    if (!live->io_taken[slot] || (!is_over && !live->io_unsent[slot]))
      continue;
    words[0] =
        is_over && has_result(state) ? live_word(live->images[3], (size_t)slot * VYRE_MEGA_IO_WORDS + IO_BYTES) : down[IO_BYTES];
    words[1] = is_over ? state : VYRE_MEGA_CLAIMED;
    const vyre_mega_region *region = region_of(live, down);
    if (is_over && state == VYRE_MEGA_IO_OK && down[IO_OP] == VYRE_MEGA_IO_READ && words[0] && region) {
      out[count++] = (vyre_upload){range_of(live, region, words[0]), region->data};
      live->io_stats.bytes_bounced += words[0];
    }
    out[count++] = (vyre_upload){{live->row.buffers[3].buffer, (slot * VYRE_MEGA_IO_WORDS + IO_BYTES) * 4, 8}, words};
  }
  return count;
}

/* Reads back the bytes of a WRITE. */
static vyre_status
fetch(vyre_mega_live *live, const uint32_t *words)
{
  const vyre_mega_region *region = region_of(live, words);
  if (words[IO_OP] != VYRE_MEGA_IO_WRITE || !region || words[IO_BYTES] == 0 || words[IO_BYTES] > region->size)
    return VYRE_OK;
  const vyre_read read = {range_of(live, region, words[IO_BYTES]), region->data};
  live->io_stats.bytes_bounced += words[IO_BYTES];
  return live_submit(live, &(vyre_sequence){.reads = &read, .read_count = 1});
}

static vyre_status
publish(vyre_mega_live *live, uint32_t slot, const uint32_t *words)
{
  vyre_mega_io request;
  VYRE_TRY(vyre_mega_io_read(live->io_down, sizeof live->io_down, slot, &request));
  VYRE_TRY(fetch(live, words));
  if (request.op < VYRE_MEGA_IO_READ || request.op > VYRE_MEGA_IO_FENCE)
    request = (vyre_mega_io){.op = VYRE_MEGA_IO_READ, .source = UINT32_MAX}; /* an invalid request, which the pump refuses */
  return vyre_mega_io_publish(live->images[3], live->sizes[3], slot, &request);
}

/* Updates a slot whose state was uploaded, and cancels its request if the device gave it up. */
static vyre_status
end_sent(vyre_mega_live *live, uint32_t slot)
{
  const uint32_t op = live->io_down[slot * VYRE_MEGA_IO_WORDS + IO_OP], sent = live->io_words[slot][1];
  live->io_unsent[slot] = false;
  if (has_result(sent) || sent == VYRE_MEGA_EMPTY)
    live->io_taken[slot] = false;
  if (has_result(sent))
    return vyre_mega_io_recycle(live->images[3], live->sizes[3], slot);
  return live->io_taken[slot] && op == VYRE_MEGA_IO_GIVEN_UP && state_of(live, slot) != VYRE_MEGA_EMPTY && !is_given_up(live, slot)
             ? vyre_mega_io_abandon(live->images[3], live->sizes[3], slot)
             : VYRE_OK;
}

/* Updates all uploaded slots before taking new requests, which may fail.  Otherwise a later slice would upload an old state to
 * a new request's slot. */
vyre_status
live_io_update(vyre_mega_live *live)
{
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++)
    if (live->io_taken[slot])
      VYRE_TRY(end_sent(live, slot));
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++) {
    const uint32_t *down = &live->io_down[slot * VYRE_MEGA_IO_WORDS];
    if (live->io_taken[slot] || down[IO_STATE] != VYRE_MEGA_PUBLISHED)
      continue;
    if (down[IO_OP] != VYRE_MEGA_IO_GIVEN_UP) /* it is EMPTY here, and on the device after the next slice */
      VYRE_TRY(publish(live, slot, down));
    live->io_taken[slot] = live->io_unsent[slot] = true;
    live->io_words[slot][1] = VYRE_MEGA_CLAIMED;
  }
  return VYRE_OK;
}

void
live_io_forget(vyre_mega_live *live)
{
  for (uint32_t slot = 0; slot < VYRE_MEGA_IO_SLOTS; slot++) {
    live->io_unsent[slot] = live->io_taken[slot];
    live->io_words[slot][1] = VYRE_MEGA_CLAIMED;
  }
}
