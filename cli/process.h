/* Processes inputs to the bytes of their outputs: one by one, or many as one module.
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

/* Notes about inputs beside messages: the objects of -remarks, and the parts of the page of -html. */
typedef enum note { NOTE_REMARKS, NOTE_PAGE, NOTE__COUNT } note;

/* An input and its results. */
typedef struct work {
  const char *path;                            /* borrowed */
  const vyre_bytes *given;                     /* the input's bytes, borrowed; NULL to read the file at `path` */
  vyre_report *report;                         /* owned, NULL without reports */
  vyre_bytes said, output, notes[NOTE__COUNT]; /* said: messages */
  uint32_t variant;                            /* index of the input's variant, 0 without -variants */
  vyre_input_kind kind;
  vyre_status status;
  uint32_t errors, warnings; /* messages about the input */
  int reported_code;         /* the exit code of a failure whose message is in `said` */
  bool has_output, done;
  bool is_left_out; /* not processed in this run */
} work;

/* The state of a worker thread.  Everything is borrowed. */
typedef struct process {
  const tool_options *options;
  const vyre_pipeline *pipeline;     /* NULL without passes */
  vyre_device *device;               /* NULL if passes run on the processor */
  const page_driver *driver;         /* for -device-stats, NULL without it */
  const vyre_cost_model *cost_model; /* NULL for the built-in model */
  struct output_cache *cache;        /* NULL without a cache */
  vyre_module *module, *taken;       /* empty before and after use */
  vyre_batch *batch;                 /* empty before and after use; `batch` and `taken` serve several inputs */
  bool is_apart;                     /* an isolated process, whose parent names the input in messages */
  bool is_of_queue;                  /* the inputs are jobs, whose messages do not depend on each other */
  int home;                          /* the folder of relative paths, -1 if it could not be opened */
} process;

/* The bytes of files in one batch. */
#define BATCH_BYTES ((uint64_t)32 << 20)

/* Appends a message to `said`, or writes it to standard error if `said` is NULL. */
void process_print(vyre_bytes *said, const char *text, size_t length);
/* Processes `count` inputs.  The status, messages and output of an input do not depend on the other inputs.  If `at_once` is set
 * and there is one input, its messages are printed immediately. */
void process_inputs(const process *p, work *works, uint32_t count, bool at_once);

#endif
