/* vyre-mega's own declarations: a queue as text, and the options.
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
  option_number slots, observables;
  name_list inputs;
  option_texts responses;
  bool by_priority, is_live, watches;
  const vyre_target_ops *target; /* of that name */
  mega_handlers handlers;
} mega_options;

/* A line of the file. */
typedef struct mega_line {
  vyre_mega_item item;
  uint32_t number; /* in the file */
  const char *text;
  size_t length;
  bool is_known; /* of a log, how it ended then: */
  uint32_t state, reason;
} mega_line;

typedef struct mega_queue {
  vyre_bytes text;
  mega_line *lines;
  uint32_t count;
} mega_queue;

/* An error has the line. */
VYRE_MUST_USE vyre_status mega_queue_read(const char *path, mega_queue *out);
/* The items of a log; `out_dropped` counts bytes that are damaged. */
VYRE_MUST_USE vyre_status mega_queue_replay(const char *path, mega_queue *out, uint64_t *out_dropped);
void mega_queue_free(mega_queue *queue);

/* Runs it and prints what came of each line; `out_faults` counts those that ended FAULT, or did not end; of a log those that ended
 * otherwise than then. */
VYRE_MUST_USE vyre_status mega_run(const mega_options *options, const mega_queue *queue, uint32_t *out_faults);

/* ---- watch.c: a line of telemetry on the error stream, again and again ---------------------------------------------------- */

typedef struct mega_watch mega_watch;

VYRE_MUST_USE vyre_status mega_watch_start(vyre_mega_live *live, mega_watch **out);
/* With a last line.  NULL is ignored. */
VYRE_MUST_USE vyre_status mega_watch_stop(mega_watch *watch);
/* Prometheus' text. */
VYRE_MUST_USE vyre_status mega_write_metrics(vyre_mega_live *live, const char *path);

#endif
