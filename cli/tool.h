/* vyre-passmgr's state.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_TOOL_H
#define VYRE_CLI_TOOL_H

#include <pthread.h>

#include "cli/tool_options.h"
#include "cli/outputs/output_cache.h"
#include "cli/outputs/outputs.h"
#include "process.h"

typedef struct tool {
  tool_options options;
  vyre_registry *registry;
  vyre_pipeline *pipeline;       /* NULL: no passes */
  vyre_cost_model *cost_model;   /* NULL: vyre's own */
  vyre_report *report;           /* NULL: not asked for */
  vyre_bytes notes[NOTE__COUNT]; /* of all inputs that are finished */
  outputs outputs;
  output_cache cache;     /* without a folder: there is none */
  work *works;            /* one an input */
  archive_output archive; /* of -o FILE.foz */
  const bool *left_out;   /* likewise: nothing is to come of it now; NULL: of none */
  pthread_mutex_t lock;   /* of all below, and of what is written */
  pthread_cond_t turn;
  uint32_t end;             /* of the inputs: their count, or, in a process that has one of its own, that one's index + 1 */
  uint32_t begun, finished; /* inputs; they finish in order */
  uint32_t alive;           /* threads that work on them */
  bool is_main_gone;        /* a pass ended the thread that waits for the others */
  int code;
  int home;                       /* the folder that relative paths are meant from; -1: it could not be opened */
  struct isolation *isolations;   /* one an input; NULL: they are not in processes of their own */
  struct isolated_work *isolated; /* this is such a process; NULL: it is not */
  int isolated_output;
  const int *isolated_notes;
  vyre_device *devices[MOST_THREADS]; /* one a thread, where passes do not run here */
  page_driver *drivers[MOST_THREADS]; /* likewise, for -device-stats */
} tool;

/* ---- inputs.c ------------------------------------------------------------------------------------------------------------ */

/* Says it on standard error, and gives the exit code. */
int tool_complain(vyre_status status);
/* The target of GPU passes.  NULL: they run as plain C. */
VYRE_MUST_USE vyre_status tool_find_target(const tool_options *options, const vyre_target_ops **out);
/* -target=auto. */
bool tool_chooses_target(const tool_options *options);
/* All inputs up to the end that none has begun, by so many threads; gives the exit code. */
int tool_process_here(tool *t, uint32_t threads);
/* The input's turn: it is written, and what there is to say of it is said. */
void tool_finish_input(tool *t, uint32_t index);
/* Those of which something is to come. */
uint32_t tool_count_due(const tool *t);
/* All inputs; gives the exit code. */
int tool_process_all(tool *t);

/* ---- main.c -------------------------------------------------------------------------------------------------------------- */

/* The pipeline of the options, and the passes that they skip. */
VYRE_MUST_USE vyre_status tool_read_pipeline(tool *t);

#endif
