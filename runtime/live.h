/* A live kernel: the state that the host's threads share.
 *
 * The device's kernel owns a slot from PUBLISHED on.  `owners` coordinates the host's threads: a publisher claims a slot by compare
 * and swap, so that no two threads write the same slot.  The driving thread launches the kernel.  It sleeps while there is no work,
 * and publishers wake it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_LIVE_H
#define VYRE_RUNTIME_LIVE_H

#include "mega.h"
#include "vyre/megakernel_io.h"

#include <pthread.h>

enum { LIVE_SLICE = 64, LIVE_MESSAGE = 2048 };

/* States of a slot in MIRRORED: not on the device; in the current slice's upload; on the device, with the slot's last state in
 * `down`. */
enum { LIVE_NOT_THERE, LIVE_GOES_UP, LIVE_IS_THERE };

/* States of a slot's owner: free; owned by a ticket or a publisher; owned by an item without a ticket until the item ends. */
enum { LIVE_FREE, LIVE_TAKEN, LIVE_FORGOTTEN };

/* The fifth buffer's memory, if the live kernel owns it. */
typedef struct live_memory {
  unsigned char *image; /* borrowed; whole pages, or NULL */
  size_t size, used;    /* in bytes; a launch needs only the first `used` */
  /* For MIRRORED: blocks that the host has written since the last upload, blocks without data, and data that moves up or down. */
  bool *dirty, *idle;
  unsigned char *down;
} live_memory;

struct vyre_mega_live {
  vyre_mega *mega;
  vyre_mega_way way;
  vyre_mega_live_options options;
  vyre_mega_row row;
  bool has_buffer[MEGA_MOST_BUFFERS];
  uint32_t losses;            /* the mega's losses when the buffers were made */
  void *images[MEGA_BUFFERS]; /* whole pages */
  size_t sizes[MEGA_BUFFERS]; /* used bytes of each image */
  size_t pages[MEGA_BUFFERS];
  uint32_t slots;
  uint32_t *owners, *turns; /* by slot */
  uint32_t first[VYRE_MEGA_LEVELS + 1], cursors[VYRE_MEGA_LEVELS];
  live_memory memory;
  bool stops;  /* stop was called */
  bool ended;  /* the kernel is not launched again */
  bool failed; /* the driving thread ended with the error `message` */
  char message[LIVE_MESSAGE];
  vyre_code code;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t woken;
  bool sleeps;
  vyre_mega_stats stats; /* owned by the driving thread until it is joined */
  uint64_t started;
  /* For MIRRORED.  `there` has a LIVE_ state for each slot.  `is_set` records for each control word whether the host has set it. */
  uint8_t *there;
  bool *is_set;
  unsigned char *down;  /* data that was read back: a control image, then a ring */
  vyre_mega_pump *pump; /* owned; NULL if requests have no pump */
  vyre_mega_pump_stats io_stats;
  /* For MIRRORED with a pump: the device's IO queue after the last slice.  For each of its slots: the host has claimed the
   * request; the request's new state is not uploaded yet. */
  uint32_t io_down[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_WORDS];
  bool io_taken[VYRE_MEGA_IO_SLOTS], io_unsent[VYRE_MEGA_IO_SLOTS];
  uint32_t io_words[VYRE_MEGA_IO_SLOTS][2]; /* by slot of the IO queue, words to upload: bytes and state */
  vyre_mega_region *regions;                /* owned; a copy of the caller's regions */
  uint32_t region_count;
  /* No launch has succeeded since the last recovery.  A second recovery needs a successful launch, or another ended item since
   * then. */
  bool has_recovered;
  uint32_t ended_before;
};

/* ---- live.c -------------------------------------------------------------------------------------------------------------- */

/* Makes the device's buffers: over the images, or for MIRRORED separate ones without contents. */
vyre_status live_make_buffers(vyre_mega_live *live);
/* Returns whether the device hangs, so that an abandoned kernel may still write shared memory. */
bool live_may_be_written(const vyre_mega_live *live);
/* Returns whether the kernel owns no slot. */
bool live_is_drained(const vyre_mega_live *live);
/* Returns whether no item of the slot is in flight. */
bool live_has_ended(const vyre_mega_live *live, uint32_t slot);
/* Returns an error if the kernel has ended. */
vyre_status live_check_end(const vyre_mega_live *live);
void live_wake(vyre_mega_live *live);
/* As vyre_mega_live_wait, until a deadline of clock_now. *out_ended is false if the item has not ended then. */
vyre_status live_wait_until(vyre_mega_live *live, vyre_mega_ticket ticket, uint64_t deadline, vyre_mega_slot *out, bool *out_ended);

/* Starts a live kernel whose fifth buffer has the memory: whole pages, of which the first `used` bytes are in use. */
vyre_status live_start(vyre_mega *mega, const vyre_mega_live_options *options, const live_memory *memory, vyre_mega_live **out);

/* ---- live_memory.c ------------------------------------------------------------------------------------------------------- */

/* The uploads of a slice, and the parts of the memory that it reads back to `down`.  Both are owned. */
typedef struct live_transfers {
  vyre_upload *uploads;
  vyre_read *reads;
  uint32_t upload_count, read_count;
} live_transfers;

vyre_status live_memory_start(vyre_mega_live *live);
void live_memory_free(vyre_mega_live *live);
/* Writes bytes of the memory, zeros if `data` is NULL; reads bytes as of the last slice. */
void live_memory_write(vyre_mega_live *live, uint64_t at, const void *data, uint64_t size);
void live_memory_read(vyre_mega_live *live, uint64_t at, void *out, uint64_t size);
/* Marks memory as without data, which no slice moves, or as in use. */
void live_memory_set_idle(vyre_mega_live *live, uint64_t at, uint64_t size, bool is_idle);
/* For MIRRORED: lists the transfers of a slice; copies the data that the slice has read back to the image. */
vyre_status live_memory_list(vyre_mega_live *live, live_transfers *out);
void live_memory_merge(vyre_mega_live *live, const live_transfers *done);
/* For MIRRORED: marks all of the used memory for upload. */
void live_memory_forget(vyre_mega_live *live);

/* ---- live_drive.c -------------------------------------------------------------------------------------------------------- */

/* The driving thread's function. */
void *live_drive(void *live);
vyre_status live_submit(vyre_mega_live *live, const vyre_sequence *sequence);
/* Returns the number of ended items. */
uint32_t live_count_ended(const vyre_mega_live *live);

/* ---- live_recover.c ------------------------------------------------------------------------------------------------------ */

/* Recovers after a failed launch, or returns `status`. */
vyre_status live_recover(vyre_mega_live *live, vyre_status status);
/* For MIRRORED: restores the device's buffers from the control image, and from the slots and the IO queue that were read back
 * last. */
vyre_status live_upload(vyre_mega_live *live);

/* ---- live_io.c: for MIRRORED with a pump --------------------------------------------------------------------------------- */

enum { LIVE_IO_UPLOADS = 2 * VYRE_MEGA_IO_SLOTS };

/* Lists uploads of the pump's work since the last slice.  Returns their number, at most LIVE_IO_UPLOADS. */
uint32_t live_io_list_uploads(vyre_mega_live *live, vyre_upload *out);
/* Updates the pump's queue after a successful slice: frees slots of completed requests, cancels requests that the device gave up,
 * and publishes the device's new requests. */
vyre_status live_io_update(vyre_mega_live *live);
/* After a loss: marks all claimed requests for another upload. */
void live_io_forget(vyre_mega_live *live);

static inline uint32_t
live_word(const void *image, size_t word)
{
  return __atomic_load_n((const uint32_t *)image + word, __ATOMIC_ACQUIRE);
}

#endif
