/* What a device was given, and what was missing or idle in it: a model of memory on a device that is as plain as can be.
 *
 * A log has commands with what they read and write, barriers, batches of a queue with the semaphore that they wait for and the one
 * that they signal, and what the host came to know.  It is run from its start: of each byte, what used it last and is not hidden by
 * a later write is kept, with the stages that are ordered after it and the accesses to which it was made visible (Vulkan 1.2
 * specification, 7.1, 7.4.2, 7.6).  A command that meets a use which is not ordered before it is a hazard.  A barrier, or one
 * memory barrier of it, is idle if the log without it has no hazard.
 *
 * The model is strict where the specification allows more, so that it asks for what the target promises:
 *  - a stage mask means its stages alone, not those that come before or after them in a pipeline;
 *  - what a signal made available within its own queue is not counted, nor what comes back by way of the other queue, nor
 *    that the other queue wrote over something: a queue orders what it did itself;
 *  - what the host waited for needs no execution dependency, but a device's write is visible to what is submitted later by a
 *    barrier or a semaphore alone, also where it is written over.
 * It is not strict in these, which can be idle:
 *  - layouts of images are made anew whoever used them before; what their barriers order besides is counted;
 *  - semaphores' waits, which also tell a queue what the host knows to be done on the other one, and cost nothing then;
 *  - what the host has taken from staging is forgotten: the wait for it is all that orders the next use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_WATCH_LOG_H
#define VYRE_UNITTESTS_WATCH_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

enum { WATCH_QUEUES = 2, WATCH_ANY = 0 /* the resource: any there are */ };

typedef enum watch_kind { WATCH_COMMAND, WATCH_BARRIER, WATCH_WAIT, WATCH_SIGNAL, WATCH_KNOWN } watch_kind;

/* Bytes of a resource, which is a number; an image is its first byte. */
typedef struct watch_use {
  uint32_t resource;
  uint64_t first, end;
  VkPipelineStageFlags stage; /* one */
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
  uint32_t group;                /* of commands that were declared to be beside each other; 0: of none */
  VkPipelineStageFlags from, to; /* of a barrier */
  uint64_t value;                /* that the batch signals; that is waited for; that the host knows, of `queue` */
} watch_entry;

typedef struct watch_log {
  watch_entry *entries;
  watch_use *uses;
  watch_part *parts;
  uint32_t entry_count, entry_capacity, use_count, use_capacity, part_count, part_capacity;
  uint32_t group_count;
  uint64_t staging; /* bits of resources, which are below 64, that are staging */
} watch_log;

/* What was found; `text` says the first thing that is wrong. */
typedef struct watch_report {
  uint32_t commands, barriers, parts, pure; /* pure: barriers without memory */
  uint32_t hazards, idle, needed;           /* needed: without it there is a hazard */
  uint32_t waits, needed_waits;             /* of semaphores */
  char text[512];
} watch_report;

void watch_free(watch_log *log);
watch_entry *watch_add(watch_log *log, watch_kind kind, uint32_t queue, const char *name);
void watch_add_use(watch_log *log, watch_use use);    /* of the last entry */
void watch_add_part(watch_log *log, watch_part part); /* of the last entry */
/* The commands of a buffer that was recorded, as given to a queue. */
void watch_append(watch_log *log, const watch_log *commands, uint32_t queue);
/* Runs the log as it is, then, if it has no hazards and `is_exact` asks for it, without each of its barriers and memory barriers.
 */
void watch_check(const watch_log *log, bool is_exact, watch_report *out);

/* What the library of fake_vulkan.c does to watch what a target gives to a device: watcher.c writes into a log what each command
 * reads and writes, by the words of its kernel and by its descriptors.
 *
 * One target at a time, of one thread.  Buffers and images are numbered as they are made, from 1 on.  Of staging, which kernels
 * cannot use, the host reads what was copied there as soon as it has waited. */
typedef struct watcher {
  /* Watches the device that is made next.  A dispatch with `push_size` bytes of push constants whose last word is not 0 is beside
   * the dispatch before it; or, where `push_size` is 0, a dispatch of the same pipeline as the one before it, without a barrier
   * between: passes declare parts of one phase alone as beside each other. */
  void (*begin)(uint32_t push_size);
  /* Returns the log since then, which is the watcher's until it begins again. */
  watch_log *(*end)(void);
  uint32_t (*last_resource)(void);
  /* The host reads these bytes of memory that is no staging when it has waited next. */
  void (*host_reads)(uint32_t resource, uint64_t first, uint64_t size);
} watcher;

extern const watcher the_watcher;

#endif
