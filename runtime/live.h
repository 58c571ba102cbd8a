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

#include <pthread.h>

enum { LIVE_SLICE = 64, LIVE_MESSAGE = 2048 };

/* Of a slot: nobody's; a ticket's, or a publisher's who writes it; an item's that nobody waits for, until it ends. */
enum { LIVE_FREE, LIVE_TAKEN, LIVE_FORGOTTEN };

struct vyre_mega_live {
  vyre_mega *mega;
  vyre_mega_way way;
  vyre_mega_live_options options;
  vyre_mega_row row;
  bool has_buffer[MEGA_BUFFERS];
  void *images[MEGA_BUFFERS]; /* whole pages each */
  size_t sizes[MEGA_BUFFERS]; /* of the images: what counts of them */
  size_t pages[MEGA_BUFFERS];
  uint32_t slots;
  uint32_t *owners, *turns; /* by slot */
  uint32_t first[VYRE_MEGA_LEVELS + 1], cursors[VYRE_MEGA_LEVELS];
  uint32_t published; /* items */
  bool stops;         /* asked for */
  bool ended;         /* the kernel is not launched again, */
  bool failed;        /* because of this: */
  char message[LIVE_MESSAGE];
  vyre_code code;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t woken;
  bool sleeps;
  vyre_mega_stats stats; /* the thread's until it was joined */
  uint64_t started;
  /* Of MIRRORED, by slot: the device has it; by control word: the host has set it. */
  bool *is_there, *is_set;
  unsigned char *down; /* what was read: a control image, then a ring */
};

/* The thread's function. */
void *live_drive(void *live);
void live_wake(vyre_mega_live *live);

#endif
