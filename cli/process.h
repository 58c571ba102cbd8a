/* From an input to the bytes of its output: one by one, or many as one module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_PROCESS_H
#define VYRE_CLI_PROCESS_H

#include "base/clock.h"
#include "cli/html/page.h"
#include "cli/tool_options.h"

#include "vyre/batch.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"

/* What is noted of inputs, beside what is said: the objects of -remarks, and the parts of the page of -html. */
typedef enum note { NOTE_REMARKS, NOTE_PAGE, NOTE__COUNT } note;

/* One input, and what comes of it. */
typedef struct work {
  const char *path;    /* borrowed */
  vyre_report *report; /* owned; NULL: not asked for */
  vyre_bytes said, output, notes[NOTE__COUNT];
  vyre_input_kind kind;
  vyre_status status;
  int told; /* the exit code of a failure that was told in `said` */
  bool has_output, done;
  bool is_left_out; /* nothing is to come of it in this run */
} work;

/* What a thread works with.  Everything is borrowed. */
typedef struct process {
  const tool_options *options;
  const vyre_pipeline *pipeline;     /* NULL: no passes */
  vyre_device *device;               /* NULL: passes run here */
  const page_driver *driver;         /* of -device-stats; NULL if there is none */
  const vyre_cost_model *cost_model; /* NULL: vyre's own */
  const struct output_cache *cache;  /* NULL: none */
  vyre_module *module, *taken;       /* without rows, and again afterwards */
  vyre_batch *batch;                 /* the same; it and `taken` are for more inputs than one */
  bool is_apart;                     /* a process of its own, of which another one tells the input */
  int home;                          /* the folder that relative paths are meant from; -1: it could not be opened */
} process;

/* Files of so many bytes are a batch. */
#define BATCH_BYTES ((uint64_t)32 << 20)

/* Writes to standard error, or to where messages wait for their input's turn. */
void process_say(vyre_bytes *said, const char *text, size_t length);
/* Processes `count` inputs; each has its own status, messages and output, which are the same whatever the others are.  Of one input
 * alone `at_once` lets messages go to standard error as they come. */
void process_inputs(const process *p, work *works, uint32_t count, bool at_once);

#endif
