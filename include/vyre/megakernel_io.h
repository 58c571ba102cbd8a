/* The host's side of the megakernel's IO queue: a thread, the pump, that serves requests to copy between files and memory.
 *
 * It uses io_uring with many requests in flight if the system has it (liburing is loaded on demand), and otherwise pread and
 * pwrite. Data is transferred directly between the file and the named memory.
 *
 *     READ   `source` is the number of a file, `destination` that of a memory region. Copies `bytes` bytes from `offset` in the
 *            file to the start of the region. Short reads are continued. At the end of the file, the result is OK with fewer bytes.
 *     WRITE  The reverse: `source` is a region, `destination` a file. OK means that all bytes were written.
 *     FENCE  OK after all requests published before it have ended.
 *
 * Requests end in any order and keep their tags. OK has the number of transferred bytes, ERROR has an errno. It is EBADF for an
 * invalid file, EFAULT for an invalid region, and ERANGE for a region that is too small. It is EINVAL for an invalid operation or
 * offset. Other errors are the system's. A file without positions (a pipe) is read sequentially, regardless of the offset. Requests
 * that their requester gives up are cancelled.
 *
 * Threads: start and stop belong to one thread. Requesters and the pump share the queue; a slot's state says which of them owns it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_MEGAKERNEL_IO_H
#define VYRE_MEGAKERNEL_IO_H

#include "vyre/megakernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_mega_pump vyre_mega_pump;

/* Memory that requests name by number, for example of an imported buffer of a target. */
typedef struct vyre_mega_region {
  void *data;
  uint64_t size;
  uint64_t at; /* only for a MIRRORED live kernel: offset in the data buffer, from and to which bytes are copied */
} vyre_mega_region;

/* Options; everything named here must exist until the pump is stopped. The lists are copied. */
typedef struct vyre_mega_pump_options {
  size_t struct_size; /* sizeof(vyre_mega_pump_options) */
  const int *files;   /* descriptors by number; -1 for an invalid number */
  uint32_t file_count;
  const vyre_mega_region *regions;
  uint32_t region_count;
  uint32_t part;       /* most bytes of one system call, or 0 for the system's limit */
  bool is_plain;       /* use pread and pwrite even if the system has io_uring */
  const char *library; /* path of liburing, or NULL for the system's */
  /* Called on the pump's thread after requests ended, for example to wake waiting threads. May be NULL. */
  void (*ended)(void *user);
  void *user;
} vyre_mega_pump_options;

/* Statistics of the pump. */
typedef struct vyre_mega_pump_stats {
  bool is_uring;
  uint64_t reads, writes, fences; /* requests that ended OK */
  uint64_t errors, cancelled;     /* requests that ended otherwise */
  uint64_t bytes_read, bytes_written;
  uint64_t bytes_bounced; /* bytes copied through other memory, if the device has its own; otherwise 0 */
  uint64_t calls;         /* system calls for parts of requests; the next two are among them: */
  uint64_t registered;    /* calls on memory that is registered with io_uring */
  uint64_t continued;     /* calls that continue a short transfer */
} vyre_mega_pump_stats;

/* Starts a pump for the image of an IO queue. A queue has at most one pump. */
VYRE_MUST_USE vyre_status vyre_mega_pump_start(void *queue, size_t size, const vyre_mega_pump_options *options,
                                               vyre_mega_pump **out);
/* Stops the pump. Requests in progress are cancelled and end ERROR (ECANCELED); unclaimed requests stay PUBLISHED. `stats` may be
 * NULL. Does nothing to NULL. */
void vyre_mega_pump_stop(vyre_mega_pump *pump, vyre_mega_pump_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
