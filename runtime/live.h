/* A kernel that is live: what its threads share.
 *
 * A slot is the kernel's from PUBLISHED on; among the host's threads `owners` says whose it is.  A publisher takes it by compare
 * and swap, so that no two write one slot.  The thread that drives the kernel sleeps while there is nothing, and is woken by
 * publishers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_LIVE_H
#define VYRE_RUNTIME_LIVE_H

#include "mega.h"
#include "vyre/megakernel_io.h"

#include <pthread.h>

enum { LIVE_SLICE = 64, LIVE_MESSAGE = 2048 };

/* Of MIRRORED, of a slot: the device does not have it; it goes up with this slice; it is there, and `down` has what it became. */
enum { LIVE_NOT_THERE, LIVE_GOES_UP, LIVE_IS_THERE };

/* Of a slot: nobody's; a ticket's, or a publisher's who writes it; an item's that nobody waits for, until it ends. */
enum { LIVE_FREE, LIVE_TAKEN, LIVE_FORGOTTEN };

struct vyre_mega_live {
  vyre_mega *mega;
  vyre_mega_way way;
  vyre_mega_live_options options;
  vyre_mega_row row;
  bool has_buffer[MEGA_BUFFERS];
  uint32_t losses;            /* of the mega's, when they were made */
  void *images[MEGA_BUFFERS]; /* whole pages each */
  size_t sizes[MEGA_BUFFERS]; /* of the images: what counts of them */
  size_t pages[MEGA_BUFFERS];
  uint32_t slots;
  uint32_t *owners, *turns; /* by slot */
  uint32_t first[VYRE_MEGA_LEVELS + 1], cursors[VYRE_MEGA_LEVELS];
  bool stops;  /* asked for */
  bool ended;  /* the kernel is not launched again, */
  bool failed; /* because of this: */
  char message[LIVE_MESSAGE];
  vyre_code code;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t woken;
  bool sleeps;
  vyre_mega_stats stats; /* the thread's until it was joined */
  uint64_t started;
  /* Of MIRRORED, by slot: whether the device has it; by control word: the host has set it. */
  uint8_t *there;
  bool *is_set;
  unsigned char *down;  /* what was read: a control image, then a ring */
  vyre_mega_pump *pump; /* NULL: there is none */
  vyre_mega_pump_stats io_stats;
  /* Of MIRRORED with a pump: the device's queue as the last slice left it; by slot: the host has taken the request, and the device
   * is to be told so. */
  uint32_t io_down[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_WORDS];
  bool io_taken[VYRE_MEGA_IO_SLOTS], io_untold[VYRE_MEGA_IO_SLOTS];
  uint32_t io_words[VYRE_MEGA_IO_SLOTS][2]; /* that go up: bytes and state */
  vyre_mega_region *regions;                /* a copy */
  uint32_t region_count;
  /* Since the last recovery no launch went well, and how many items had ended then: there is no second one before one goes well, or
   * another item has ended. */
  bool has_recovered;
  uint32_t ended_before;
};

/* ---- live.c -------------------------------------------------------------------------------------------------------------- */

/* Buffers over the images, or on the device and without contents. */
vyre_status live_make_buffers(vyre_mega_live *live);
/* The device hangs: a kernel that nobody waits for any more may write what is in common. */
bool live_may_be_written(const vyre_mega_live *live);
/* No slot is the kernel's. */
bool live_is_drained(const vyre_mega_live *live);
void live_wake(vyre_mega_live *live);

/* ---- live_drive.c -------------------------------------------------------------------------------------------------------- */

/* The thread's function. */
void *live_drive(void *live);
vyre_status live_submit(vyre_mega_live *live, const vyre_sequence *sequence);
/* How many items came to their end. */
uint32_t live_count_ended(const vyre_mega_live *live);

/* ---- live_recover.c ------------------------------------------------------------------------------------------------------ */

/* After a launch failed: makes anew what it takes to go on, or returns `status`. */
vyre_status live_recover(vyre_mega_live *live, vyre_status status);
/* Of MIRRORED: all that the device is to have of the images goes up. */
vyre_status live_upload(vyre_mega_live *live);

/* ---- live_io.c: of MIRRORED with a pump ---------------------------------------------------------------------------------- */

enum { LIVE_IO_UPLOADS = 2 * VYRE_MEGA_IO_SLOTS };

/* What the pump did since the last slice goes up: at most LIVE_IO_UPLOADS of them.  Returns how many. */
uint32_t live_io_put(vyre_mega_live *live, vyre_upload *out);
/* That slice went well: requests that are done are the device's again, and new ones the pump's. */
vyre_status live_io_take(vyre_mega_live *live);
/* After a loss all that was taken is to be told again. */
void live_io_forget(vyre_mega_live *live);

static inline uint32_t
live_word(const void *image, size_t word)
{
  return __atomic_load_n((const uint32_t *)image + word, __ATOMIC_ACQUIRE);
}

#endif
