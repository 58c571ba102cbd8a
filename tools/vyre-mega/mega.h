/* vyre-mega's own declarations: a queue as text, and the options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_MEGA_H
#define VYRE_TOOLS_MEGA_H

#include "../mega/handlers.h"
#include "option_rows.h"
#include "vyre/io.h"
#include "vyre/megakernel.h"

typedef struct mega_options {
  const char *handlers_path, *target_name, *help;
  option_device on;
  option_number slots, observables;
  name_list inputs;
  option_texts responses;
  bool by_priority, is_live;
  const vyre_target_ops *target; /* of that name */
  mega_handlers handlers;
} mega_options;

/* A line of the file. */
typedef struct mega_line {
  vyre_mega_item item;
  uint32_t number; /* in the file */
  const char *text;
  size_t length;
} mega_line;

typedef struct mega_queue {
  vyre_bytes text;
  mega_line *lines;
  uint32_t count;
} mega_queue;

/* An error has the line. */
VYRE_MUST_USE vyre_status mega_queue_read(const char *path, mega_queue *out);
void mega_queue_free(mega_queue *queue);

/* Runs it and prints what came of each line; `out_faults` counts those that ended FAULT, or did not end. */
VYRE_MUST_USE vyre_status mega_run(const mega_options *options, const mega_queue *queue, uint32_t *out_faults);

#endif
