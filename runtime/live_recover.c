/* Recovery of a live kernel whose device is lost or out of memory.
 *
 * MIRRORED: the state is that of the last successful slice.  Items on the device begin again from there, as if the failed
 * slice had not run.  In a shared ring, ended items stay ended.  Items in flight become FAULT, because their progress is
 * unknown, and the others are unclaimed.  So no item runs twice, and none is lost without a report.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live.h"
#include "programs/room.h"

#include <stdlib.h>

/* ---- a ring in the device's memory --------------------------------------------------------------------------------------- */

/* Copies the control image to `down`, for the upload after a loss.  The next slice uploads control words that the host sets later,
 * and slots that are PUBLISHED only on the host. */
static void
copy_control(vyre_mega_live *live)
{
  pthread_mutex_lock(&live->lock);
  for (uint32_t word = 0; word < live->sizes[0] / 4; word++) {
    const uint32_t value = live_word(live->images[0], word);
    memcpy(live->down + (size_t)word * 4, &value, sizeof value);
    live->is_set[word] = false;
  }
  pthread_mutex_unlock(&live->lock);
}

vyre_status
live_upload(vyre_mega_live *live)
{
  const vyre_range *to = live->row.buffers;
  const vyre_fill fills[] = {{to[1], 0}, {to[2], 0}, {to[3], 0}};
  vyre_upload *uploads = calloc((size_t)live->slots + 2, sizeof *uploads);
  uint32_t count = 0;
  if (!uploads)
    return VYRE_OUT_OF_MEMORY("for the upload of a ring");
  copy_control(live);
  uploads[count++] = (vyre_upload){to[0], live->down};
  if (live->pump) {
    live_io_forget(live);
    uploads[count++] = (vyre_upload){to[3], live->io_down};
  }
  for (uint32_t slot = 0; slot < live->slots; slot++) {
    const uint64_t offset = (uint64_t)slot * VYRE_MEGA_SLOT_BYTES;
    if (live->there[slot] == LIVE_IS_THERE)
      uploads[count++] = (vyre_upload){{to[1].buffer, offset, VYRE_MEGA_SLOT_BYTES}, live->down + live->sizes[0] + offset};
    else
      live->there[slot] = LIVE_NOT_THERE;
  }
  const vyre_sequence sequence = {.fills = fills, .fill_count = 3, .uploads = uploads, .upload_count = count};
  vyre_status status = live_submit(live, &sequence);
  free(uploads);
  return status;
}

/* ---- both ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
make_anew(vyre_mega_live *live)
{
  for (uint32_t k = 0; k < MEGA_MOST_BUFFERS; k++)
    live->has_buffer[k] = false;
  live_memory_forget(live);
  live->stats.was_recovered = true;
  VYRE_TRY(mega_compile(live->mega));
  return live_make_buffers(live);
}

vyre_status
live_recover(vyre_mega_live *live, vyre_status status)
{
  const uint32_t ended = live_count_ended(live);
  bool was_lost;
  if (live_may_be_written(live) || (live->has_recovered && ended == live->ended_before))
    return status;
  VYRE_TRY(mega_try_again(live->mega, status, &live->row, 1, live->options.data.buffer.id != 0, &was_lost));
  live->has_recovered = true;
  live->ended_before = ended;
  if (was_lost)
    VYRE_TRY(mega_note_again(make_anew(live), was_lost));
  if (live->way == VYRE_MEGA_MIRRORED)
    return mega_note_again(live_upload(live), was_lost);
  mega_end_claimed(live->images, live->sizes, live->slots); /* a launch that ran out of memory may have begun */
  if (live->mega->options.program.has_programs && live->memory.image)
    program_end_busy(live->memory.image, live->images[1], live->slots, live->images[0]);
  return VYRE_OK;
}
