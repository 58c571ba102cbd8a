/* The thread that drives a live kernel: it launches the kernel repeatedly, and sleeps while there is no work.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live.h"
#include "vyre/environment.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 100 };

static bool
is_over(vyre_mega_live *live)
{
  return __atomic_load_n(&live->stops, __ATOMIC_SEQ_CST) || live_word(live->images[0], VYRE_MEGA_SHUTDOWN) != 0;
}

vyre_status
live_submit(vyre_mega_live *live, const vyre_sequence *sequence)
{
  vyre_timing timing = {0};
  VYRE_TRY(live->mega->ops->submit(live->mega->target, sequence, &timing));
  live->stats.input_bytes += timing.bytes_up;
  live->stats.readback_bytes += timing.bytes_down;
  live->stats.bytes_moved += timing.bytes_up + timing.bytes_down;
  live->stats.kernel_launches += timing.launches;
  live->stats.sync_points += timing.waits;
  return VYRE_OK;
}

/* ---- a shared ring ------------------------------------------------------------------------------------------------------- */

static vyre_status
launch(vyre_mega_live *live)
{
  mega_launch own;
  vyre_sequence sequence = {0};
  mega_add_launch(live->mega, live->row.buffers, &own, live->mega->steps, &sequence);
  return live_submit(live, &sequence);
}

/* ---- a ring in the device's memory --------------------------------------------------------------------------------------- */

typedef struct slice {
  live_transfers memory;
  vyre_upload *uploads;
  vyre_read *reads;
  uint32_t *words; /* control words to upload */
  uint32_t upload_count, read_count;
} slice;

/* Adds a slot to the uploads or readbacks.  Merges adjacent slots. */
static void
add_slot(vyre_mega_live *live, slice *s, uint32_t slot, bool is_up)
{
  const uint64_t offset = (uint64_t)slot * VYRE_MEGA_SLOT_BYTES;
  const vyre_range range = {live->row.buffers[1].buffer, offset, VYRE_MEGA_SLOT_BYTES};
  vyre_range *last = is_up           ? s->upload_count ? &s->uploads[s->upload_count - 1].range : NULL
                     : s->read_count ? &s->reads[s->read_count - 1].range
                                     : NULL;
  if (last && last->buffer.id == range.buffer.id && last->offset + last->size == offset)
    last->size += range.size;
  else if (is_up)
    s->uploads[s->upload_count++] = (vyre_upload){range, (unsigned char *)live->images[1] + offset};
  else
    s->reads[s->read_count++] = (vyre_read){range, live->down + live->sizes[0] + offset};
}

/* Adds uploads of control words that the host has set.  The device owns the others. */
static void
add_words(vyre_mega_live *live, slice *s)
{
  pthread_mutex_lock(&live->lock);
  for (uint32_t word = 0; word < live->sizes[0] / 4; word++) {
    if (!live->is_set[word])
      continue;
    live->is_set[word] = false;
    s->words[word] = live_word(live->images[0], word);
    s->uploads[s->upload_count++] = (vyre_upload){{live->row.buffers[0].buffer, word * 4, 4}, &s->words[word]};
  }
  pthread_mutex_unlock(&live->lock);
}

/* Copies the device's control words to the image, except the doorbell, which the host owns, and words that the host has set
 * meanwhile.  Either side may set SHUTDOWN. */
static void
merge_control(vyre_mega_live *live)
{
  pthread_mutex_lock(&live->lock);
  for (uint32_t word = 0; word < live->sizes[0] / 4; word++) {
    uint32_t value;
    memcpy(&value, live->down + (size_t)word * 4, 4);
    if (word != VYRE_MEGA_DOORBELL && !live->is_set[word] && (word != VYRE_MEGA_SHUTDOWN || value))
      __atomic_store_n((uint32_t *)live->images[0] + word, value, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&live->lock);
}

/* Copies slots whose items ended to the ring.  The host's view of other slots does not change. */
static void
merge_slots(vyre_mega_live *live)
{
  const unsigned char *ring = live->down + live->sizes[0];
  for (uint32_t slot = 0; slot < live->slots; slot++) {
    uint32_t words[VYRE_MEGA_SLOT_WORDS], *to = (uint32_t *)live->images[1] + (size_t)slot * VYRE_MEGA_SLOT_WORDS;
    if (live->there[slot] == LIVE_NOT_THERE)
      continue;
    memcpy(words, ring + (size_t)slot * VYRE_MEGA_SLOT_BYTES, sizeof words);
    live->there[slot] = vyre_mega_state_is_active(words[VYRE_MEGA_SLOT_STATUS]) ? LIVE_IS_THERE : LIVE_NOT_THERE;
    if (live->there[slot] == LIVE_IS_THERE)
      continue;
    for (uint32_t i = VYRE_MEGA_SLOT_ARGS; i < VYRE_MEGA_SLOT_WORDS; i++)
      __atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&to[VYRE_MEGA_SLOT_STATUS], words[VYRE_MEGA_SLOT_STATUS], __ATOMIC_RELEASE);
  }
}

/* Adds transfers of the kernel's memory.  Called after the items were found, which may need what the host has written. */
static vyre_status
add_memory(vyre_mega_live *live, slice *s)
{
  const live_transfers *m = &s->memory;
  VYRE_TRY(live_memory_list(live, &s->memory));
  vyre_upload *uploads = realloc(s->uploads, ((size_t)s->upload_count + m->upload_count + 1) * sizeof *uploads);
  s->uploads = uploads ? uploads : s->uploads;
  vyre_read *reads = realloc(s->reads, ((size_t)s->read_count + m->read_count + 1) * sizeof *reads);
  s->reads = reads ? reads : s->reads;
  if (!uploads || !reads)
    return VYRE_OUT_OF_MEMORY("for a slice");
  memcpy(uploads + s->upload_count, m->uploads, m->upload_count * sizeof *uploads);
  memcpy(reads + s->read_count, m->reads, m->read_count * sizeof *reads);
  s->upload_count += m->upload_count;
  s->read_count += m->read_count;
  return VYRE_OK;
}

static vyre_status
run_slice(vyre_mega_live *live, slice *s)
{
  mega_launch own;
  s->reads[s->read_count++] = (vyre_read){{live->row.buffers[0].buffer, 0, live->sizes[0]}, live->down};
  for (uint32_t slot = 0; slot < live->slots; slot++) {
    if (live->there[slot] == LIVE_NOT_THERE &&
        live_word(live->images[1], (size_t)slot * VYRE_MEGA_SLOT_WORDS) == VYRE_MEGA_PUBLISHED) {
      live->there[slot] = LIVE_GOES_UP;
      add_slot(live, s, slot, true);
    }
    if (live->there[slot] != LIVE_NOT_THERE)
      add_slot(live, s, slot, false);
  }
  add_words(live, s);
  if (live->pump) {
    s->upload_count += live_io_list_uploads(live, s->uploads + s->upload_count);
    s->reads[s->read_count++] = (vyre_read){{live->row.buffers[3].buffer, 0, sizeof live->io_down}, live->io_down};
  }
  if (live->memory.image)
    VYRE_TRY(add_memory(live, s));
  vyre_sequence sequence = {.uploads = s->uploads, .upload_count = s->upload_count, .reads = s->reads, .read_count = s->read_count};
  mega_add_launch(live->mega, live->row.buffers, &own, live->mega->steps, &sequence);
  VYRE_TRY(live_submit(live, &sequence));
  if (live->memory.image)
    live_memory_merge(live, &s->memory); /* before the ends of items, after which the host reads their results */
  merge_control(live);
  merge_slots(live);
  return live->pump ? live_io_update(live) : VYRE_OK;
}

static vyre_status
mirror(vyre_mega_live *live)
{
  slice s = {.uploads = calloc(live->slots + live->sizes[0] / 4 + LIVE_IO_UPLOADS, sizeof *s.uploads),
             .reads = calloc((size_t)live->slots + 2, sizeof *s.reads),
             .words = malloc(live->sizes[0])};
  vyre_status status = s.uploads && s.reads && s.words ? run_slice(live, &s) : VYRE_OUT_OF_MEMORY("for a slice");
  if (status && live->memory.image)
    live_memory_forget(live);
  free(s.memory.uploads);
  free(s.memory.reads);
  free(s.uploads);
  free(s.reads);
  free(s.words);
  return status;
}

/* ---- the thread ---------------------------------------------------------------------------------------------------------- */

uint32_t
live_count_ended(const vyre_mega_live *live)
{
  return live_word(live->images[0], VYRE_MEGA_DONE_COUNT) + live_word(live->images[0], VYRE_MEGA_FAULT_COUNT);
}

static bool
has_rung(vyre_mega_live *live, uint32_t seen)
{
  return __atomic_load_n((uint32_t *)live->images[0] + VYRE_MEGA_DOORBELL, __ATOMIC_SEQ_CST) != seen || is_over(live);
}

/* Sleeps until an item is published.  Sleeps at most a millisecond if an item waits for an event that this thread does not
 * see: a mask, a handler's next call, IO. */
static void
sleep_for(vyre_mega_live *live, uint32_t seen)
{
  struct timespec until;
  for (uint32_t i = 0; i < SPINS; i++, sched_yield()) /* about as long as waking a thread takes */
    if (has_rung(live, seen))
      return;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&live->lock);
  __atomic_store_n(&live->sleeps, true, __ATOMIC_SEQ_CST);
  while (!has_rung(live, seen)) {
    if (live_is_drained(live))
      pthread_cond_wait(&live->woken, &live->lock);
    else if (pthread_cond_timedwait(&live->woken, &live->lock, &until) != 0)
      break;
  }
  __atomic_store_n(&live->sleeps, false, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&live->lock);
}

/* Counts items that ended and interpreted parts of programs. */
static uint32_t
count_work(const vyre_mega_live *live)
{
  return live_count_ended(live) + live_word(live->images[0], VYRE_MEGA_PROGRESS);
}

static vyre_status
drive(vyre_mega_live *live)
{
  while (!is_over(live)) {
    const uint32_t bell = live_word(live->images[0], VYRE_MEGA_DOORBELL), before = count_work(live);
    vyre_status status = live->way == VYRE_MEGA_MIRRORED ? mirror(live) : launch(live);
    if (status) {
      VYRE_TRY(live_recover(live, status));
      continue;
    }
    live->has_recovered = false;
    if (live->way != VYRE_MEGA_MAPPED && count_work(live) == before)
      sleep_for(live, bell);
  }
  return VYRE_OK;
}

void *
live_drive(void *user)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_mega_live *live = user;
  vyre_status status = drive(live);
  if (status) {
    snprintf(live->message, sizeof live->message, "%s", vyre_status_text(status));
    live->code = vyre_status_code(status);
    live->failed = true;
    vyre_status_free(status);
  }
  __atomic_store_n(&live->ended, true, __ATOMIC_RELEASE);
  return NULL;
}
