/* The declarations of vyre-mega: a queue as text, and the options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_MEGA_H
#define VYRE_TOOLS_MEGA_H

#include "../mega/handlers.h"
#include "cli/options/option_rows.h"
#include "vyre/io.h"
#include "vyre/megakernel_host.h"

typedef struct mega_options {
  const char *handlers_path, *target_name, *log_path, *metrics_path, *help;
  option_device on;
  option_number slots, observables, passes;
  name_list inputs;
  option_texts responses;
  bool by_priority, is_live, watches;
  const vyre_target_ops *target; /* the target `target_name` */
  mega_handlers handlers;
} mega_options;

/* An item of the file or the log. */
typedef struct mega_line {
  vyre_mega_item item;
  uint32_t number;  /* line in the file, or number in the log */
  const char *text; /* not terminated */
  size_t length;
  bool is_known; /* the log has the item's end: the next two fields */
  uint32_t state, reason;
} mega_line;

typedef struct mega_queue {
  vyre_bytes text;
  mega_line *lines;
  uint32_t count;
} mega_queue;

/* Reads a queue from a file.  Errors have the number of the line. */
VYRE_MUST_USE vyre_status mega_queue_read(const char *path, mega_queue *out);
/* Reads the items of a log.  *out_dropped is the number of unreadable bytes at the end. */
VYRE_MUST_USE vyre_status mega_queue_replay(const char *path, mega_queue *out, uint64_t *out_dropped);
void mega_queue_free(mega_queue *queue);

/* Runs the queue and prints the end of each item.  *out_faults is the number of items that did not end as DONE, or not as in their
 * log. */
VYRE_MUST_USE vyre_status mega_run(const mega_options *options, const mega_queue *queue, uint32_t *out_faults);

/* ---- new.c ---------------------------------------------------------------------------------------------------------------- */

/* Makes a folder with an example: a handler, its items and a host program. */
VYRE_MUST_USE vyre_status mega_new(const char *name);

/* ---- watch.c: telemetry on standard error --------------------------------------------------------------------------------- */

typedef struct mega_watch mega_watch;

/* Starts a thread that prints a line five times a second. */
VYRE_MUST_USE vyre_status mega_watch_start(vyre_mega_live *live, mega_watch **out);
/* Stops the thread and prints a last line.  NULL is ignored. */
VYRE_MUST_USE vyre_status mega_watch_stop(mega_watch *watch);
/* Writes telemetry in Prometheus' text format. */
VYRE_MUST_USE vyre_status mega_write_metrics(vyre_mega_live *live, const char *path);

#endif
