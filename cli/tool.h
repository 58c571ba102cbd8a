/* The state of vyre-passmgr.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_TOOL_H
#define VYRE_CLI_TOOL_H

#include <pthread.h>

#include "cli/tool_options.h"
#include "cli/outputs/output_cache.h"
#include "cli/outputs/outputs.h"
#include "cli/personality/personality.h"
#include "process.h"

typedef struct tool {
  personality_line line;
  tool_options options;
  vyre_registry *registry;
  bool only_named;               /* the registry has only the core passes that the pipeline names */
  vyre_pipeline *pipeline;       /* NULL without passes */
  vyre_cost_model *cost_model;   /* NULL for the built-in model */
  vyre_report *report;           /* NULL without reports */
  vyre_bytes notes[NOTE__COUNT]; /* of the finished inputs */
  outputs outputs;
  output_cache cache;     /* without levels if there is no -output-cache */
  work *works;            /* by input */
  archive_output archive; /* the output of -o FILE.foz */
  const bool *left_out;   /* by input, whether it is skipped now; NULL if none is */
  pthread_mutex_t lock;   /* protects the fields below, and writing */
  pthread_cond_t turn;
  uint32_t end;              /* the number of inputs; in an isolated process, the index of its input + 1 */
  uint32_t begun, finished;  /* numbers of inputs, which finish in order */
  uint32_t alive;            /* running worker threads */
  bool is_main_gone;         /* a pass ended the main thread, which waits for the others */
  uint32_t errors, warnings; /* messages about the inputs */
  int code;
  int home;                       /* the folder of relative paths, -1 if it could not be opened */
  struct isolation *isolations;   /* by input; NULL without -isolate */
  struct isolated_work *isolated; /* the work of an isolated process, NULL in the main process */
  int isolated_output;
  const int *isolated_notes;
  vyre_device *devices[MOST_THREADS]; /* by thread, if passes run on a device */
  page_driver *drivers[MOST_THREADS]; /* by thread, for -device-stats */
  /* Receives each finished input instead of standard error and files; NULL without -queue. */
  void (*deliver)(struct tool *t, uint32_t index);
  void *deliver_user;
} tool;

/* ---- inputs.c ------------------------------------------------------------------------------------------------------------ */

/* Prints the error to standard error, frees it and returns the exit code. */
int tool_complain(vyre_status status);
/* Finds the target of GPU passes.  *out is NULL if they run as plain C. */
VYRE_MUST_USE vyre_status tool_find_target(const tool_options *options, const vyre_target_ops **out);
/* Returns whether -target=auto is given. */
bool tool_chooses_target(const tool_options *options);
/* Opens and closes the devices of `threads` threads. */
VYRE_MUST_USE vyre_status tool_open_devices(tool *t, uint32_t threads);
VYRE_MUST_USE vyre_status tool_close_devices(tool *t);
/* Processes all inputs that are not begun, with `threads` threads that have their devices. */
void tool_process_opened(tool *t, uint32_t threads);
/* Opens devices, processes all inputs whose processing has not begun, and closes the devices.  Returns the exit code. */
int tool_process_here(tool *t, uint32_t threads);
/* Writes the output and the messages of an input, when the inputs before it are finished. */
void tool_finish_input(tool *t, uint32_t index);
/* Returns the number of inputs that are not skipped. */
uint32_t tool_count_due(const tool *t);
/* Processes all inputs.  Returns the exit code. */
int tool_process_all(tool *t);

/* ---- main.c -------------------------------------------------------------------------------------------------------------- */

/* Loads the passes, plugins, pipeline and cost model of the options. */
VYRE_MUST_USE vyre_status tool_load(tool *t);
/* Frees what tool_load and the inputs use, except the options. */
void tool_free(tool *t);
/* Parses the pipeline of the options, and finds the passes that other options name. */
VYRE_MUST_USE vyre_status tool_read_pipeline(tool *t);

#endif
