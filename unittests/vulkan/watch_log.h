/* A log of a device's commands, and a check for missing and idle barriers by the simplest model of a device's memory.
 *
 * A log has commands with the bytes that they read and write, barriers, and batches of a queue, with the semaphore values that a
 * batch waits for and signals.  A log also has the batches that the host knows to be done.  The check runs the log from its
 * start.  For each byte the check keeps the last uses that no later write hides.  Each use has the stages that are ordered after
 * it and the accesses to which it is visible (Vulkan 1.2 specification, 7.1, 7.4.2, 7.6).  A command is a hazard if it conflicts
 * with an earlier use of its bytes that is not ordered before the command.  A barrier, or one memory barrier of it, is idle if
 * the log without it has no hazard.
 *
 * The model is strict where the specification allows more, because the target promises more:
 *  - a stage mask means its stages alone, not the earlier or later stages of a pipeline;
 *  - within a queue, a signal makes nothing available, and neither an order through the other queue nor an overwrite by the
 *    other queue counts: a queue must order its own commands;
 *  - a wait of the host replaces execution dependencies, but only a barrier or a semaphore makes a device's write visible to
 *    later submissions, even to those that overwrite the bytes.
 * The model is not strict about these, which may be idle:
 *  - barriers that set the layout of an image, because any use may be before them; their other orders count;
 *  - waits for semaphores, which also inform a queue about work that the host knows to be done, and cost nothing then;
 *  - uses of staging that the host knows to be done are forgotten: only the host's wait orders the next use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_WATCH_LOG_H
#define VYRE_UNITTESTS_WATCH_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

enum { WATCH_QUEUES = 2, WATCH_ANY = 0 /* any resource */ };

typedef enum watch_kind { WATCH_COMMAND, WATCH_BARRIER, WATCH_WAIT, WATCH_SIGNAL, WATCH_KNOWN } watch_kind;

/* Bytes of a resource, which is a number.  An image has one byte. */
typedef struct watch_use {
  uint32_t resource;
  uint64_t first, end;
  VkPipelineStageFlags stage; /* exactly one */
  VkAccessFlags access;
  bool writes;
} watch_use;

/* One memory barrier. */
typedef struct watch_part {
  uint32_t resource;
  uint64_t first, end;
  VkAccessFlags from, to;
  bool is_layout;
} watch_part;

typedef struct watch_entry {
  watch_kind kind;
  uint32_t queue;
  const char *name;
  uint32_t first, count;         /* a command's uses; a barrier's parts */
  uint32_t group;                /* of commands that were declared to be beside each other; 0 if there is none */
  VkPipelineStageFlags from, to; /* of a barrier */
  uint64_t value;                /* of a semaphore: signalled by the batch, waited for, or known to the host of `queue` */
} watch_entry;

typedef struct watch_log {
  watch_entry *entries;
  watch_use *uses;
  watch_part *parts;
  uint32_t entry_count, entry_capacity, use_count, use_capacity, part_count, part_capacity;
  uint32_t group_count;
  uint64_t staging; /* bit N is set if resource N, which is below 64, is staging */
} watch_log;

/* The findings; `text` describes the first fault. */
typedef struct watch_report {
  uint32_t commands, barriers, parts, pure; /* pure: barriers without memory */
  uint32_t hazards, idle, needed;           /* needed: their omission is a hazard */
  uint32_t waits, needed_waits;             /* waits for semaphores */
  char text[512];
} watch_report;

void watch_free(watch_log *log);
watch_entry *watch_add(watch_log *log, watch_kind kind, uint32_t queue, const char *name);
void watch_add_use(watch_log *log, watch_use use);    /* adds a use to the last entry */
void watch_add_part(watch_log *log, watch_part part); /* adds a part to the last entry */
/* Appends the commands of a recorded buffer, as submitted to `queue`. */
void watch_append(watch_log *log, const watch_log *commands, uint32_t queue);
/* Checks the log, and, if it has no hazards and `is_exact`, the log without each of its barriers and memory barriers. */
void watch_check(const watch_log *log, bool is_exact, watch_report *out);

/* Watches the commands that a target submits, in the library of fake_vulkan.c.  watcher.c logs the bytes that each command reads
 * and writes, according to the words of its kernel and its descriptors.
 *
 * Watches one target at a time, of one thread.  Buffers and images are numbered from 1 in the order of their creation.  Staging
 * is memory that kernels cannot use.  The host's reads of staging are logged at the end of the batch that writes it. */
typedef struct watcher {
  /* Watches the device that is created next.  A dispatch with `push_size` bytes of push constants, whose last word is not 0, is
   * beside the dispatch before it.  If `push_size` is 0, a dispatch directly after one of the same pipeline is beside that one,
   * because passes only declare parts of one phase to be beside each other. */
  void (*begin)(uint32_t push_size);
  /* Ends watching, and returns the log, which the watcher owns until it begins again. */
  watch_log *(*end)(void);
  uint32_t (*last_resource)(void);
  /* Logs a read by the host, at its next wait, of bytes of memory that is not staging. */
  void (*host_reads)(uint32_t resource, uint64_t first, uint64_t size);
} watcher;

extern const watcher the_watcher;

#endif
