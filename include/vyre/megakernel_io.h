/* The host's side of the megakernel's IO queue: a thread that does what it is asked for, from files into memory and back.
 *
 * It works by io_uring, many requests side by side, where the system has it (liburing is opened when it is needed), else by pread
 * and pwrite.  What is moved goes straight from the file to the memory that was named.
 *
 *   READ   `source` is the number of a file, `destination` that of a region of memory: `bytes` from `offset` of the file on go to
 *          the region's begin.  Short reads are continued; where the file ends it is OK with fewer bytes
 *   WRITE  the other way round: `source` is a region, `destination` a file.  OK is all of it
 *   FENCE  OK once all that was published before it has come to its end
 *
 * Requests end in any order, each with the tag that it had.  OK has the bytes that were moved, ERROR an errno: EBADF there is no
 * such file, EFAULT no such region, ERANGE it is smaller, EINVAL no such operation or an offset beyond all files, else the
 * system's. A file that cannot be positioned (a pipe) is read on where it is, whatever the offset.  What its asker gave up is
 * cancelled.
 *
 * Threads: start and stop belong to one thread; the queue is the askers' and the pump's, a slot's state says whose.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_MEGAKERNEL_IO_H
#define VYRE_MEGAKERNEL_IO_H

#include "vyre/megakernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_mega_pump vyre_mega_pump;

/* Memory that requests name by its number: of a target's buffer that was imported, say. */
typedef struct vyre_mega_region {
  void *data;
  uint64_t size;
  uint64_t
      at; /* of a live kernel that is MIRRORED alone: where in the data buffer it is; bytes are copied from there and to there */
} vyre_mega_region;

/* Everything stays until the pump was stopped; the lists are copied. */
typedef struct vyre_mega_pump_options {
  const int *files; /* descriptors, by number; -1 is none */
  uint32_t file_count;
  const vyre_mega_region *regions;
  uint32_t region_count;
  uint32_t part;       /* bytes that one call moves at most; 0: as many as the system takes */
  bool is_plain;       /* pread and pwrite, whatever the system has */
  const char *library; /* NULL: the system's liburing */
  /* Called by the pump's thread after requests came to their end: wakes whoever waits for them.  NULL: nobody. */
  void (*ended)(void *user);
  void *user;
} vyre_mega_pump_options;

/* Counted where the work is done. */
typedef struct vyre_mega_pump_stats {
  bool is_uring;
  uint64_t reads, writes, fences; /* that came to their end, as they were to */
  uint64_t errors, cancelled;     /* and otherwise */
  uint64_t bytes_read, bytes_written;
  uint64_t bytes_bounced; /* through memory that is not the region's: none, but where a device has its own */
  uint64_t calls;         /* parts that were given to the system; of these: */
  uint64_t registered;    /* to or from memory that io_uring has registered */
  uint64_t continued;     /* because a part was short */
} vyre_mega_pump_stats;

/* Of an IO queue's image: one pump each. */
VYRE_MUST_USE vyre_status vyre_mega_pump_start(void *queue, size_t size, const vyre_mega_pump_options *options,
                                               vyre_mega_pump **out);
/* What is under way is cancelled and ends ERROR (ECANCELED); what nobody has claimed stays PUBLISHED.  NULL is ignored, `stats` may
 * be NULL. */
void vyre_mega_pump_stop(vyre_mega_pump *pump, vyre_mega_pump_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
