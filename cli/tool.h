/* vyre-passmgr's state, and its parts: inputs.c, apart.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_TOOL_H
#define VYRE_CLI_TOOL_H

#include <pthread.h>

#include "tools/run/isolate.h"
#include "cli/tool_options.h"
#include "cli/outputs/output_cache.h"
#include "cli/outputs/outputs.h"
#include "process.h"

/* What a process that has one input of its own gives back, beside the bytes of the output and what it said. */
typedef struct isolated_work {
  bool is_done; /* there is an output */
  vyre_input_kind kind;
  vyre_report *report; /* its memory is here */
  size_t used;
  char memory[1 << 20];
} isolated_work;

/* Of who waits for it. */
typedef struct isolation {
  isolated process;
  vyre_plugin_code late;                /* which pass took too long; else NULLs */
  int said, output, notes[NOTE__COUNT]; /* files without a name */
  bool is_running;
} isolation;

typedef struct tool {
  tool_options options;
  vyre_registry *registry;
  vyre_pipeline *pipeline;       /* NULL: no passes */
  vyre_cost_model *cost_model;   /* NULL: vyre's own */
  vyre_report *report;           /* NULL: not asked for */
  vyre_bytes notes[NOTE__COUNT]; /* of all inputs that are finished */
  outputs outputs;
  output_cache cache;   /* without a folder: there is none */
  work *works;          /* one an input */
  vyre_bytes *packed;   /* of -o FILE.foz: one an entry of the archive; NULL: it is another output */
  const bool *left_out; /* likewise: nothing is to come of it now; NULL: of none */
  pthread_mutex_t lock; /* of all below, and of what is written */
  pthread_cond_t turn;
  uint32_t end;             /* of the inputs: their count, or, in a process that has one of its own, that one's index + 1 */
  uint32_t begun, finished; /* inputs; they finish in order */
  uint32_t alive;           /* threads that work on them */
  bool is_main_gone;        /* a pass ended the thread that waits for the others */
  int code;
  int home;                /* the folder that relative paths are meant from; -1: it could not be opened */
  isolation *isolations;   /* one an input; NULL: they are not in processes of their own */
  isolated_work *isolated; /* this is such a process; NULL: it is not */
  int isolated_output;
  const int *isolated_notes;
  vyre_device *devices[MOST_THREADS]; /* one a thread, where passes do not run here */
  driver drivers[MOST_THREADS];       /* likewise, for -device-stats */
} tool;

/* ---- inputs.c ------------------------------------------------------------------------------------------------------------ */

/* Says it on standard error, and gives the exit code. */
int tool_complain(vyre_status status);
/* The same of what may come again and again: not what was said last.  `said` keeps that, NULL at first, and is to be freed. */
void tool_complain_anew(vyre_status status, char **said);
/* The target of GPU passes.  NULL: they run as plain C. */
VYRE_MUST_USE vyre_status tool_find_target(const tool_options *options, const vyre_target_ops **out);
/* -target=auto. */
bool tool_chooses_target(const tool_options *options);
/* All inputs up to the end that none has begun, by so many threads; gives the exit code. */
int tool_process_here(tool *t, uint32_t threads);
/* The input's turn: it is written, and what there is to say of it is said. */
void tool_finish_input(tool *t, uint32_t index);
void tool_free_packed(tool *t);
/* Those of which something is to come. */
uint32_t tool_count_due(const tool *t);
/* All inputs; gives the exit code. */
int tool_process_all(tool *t);

/* ---- main.c -------------------------------------------------------------------------------------------------------------- */

/* The pipeline of the options, and the passes that they skip. */
VYRE_MUST_USE vyre_status tool_read_pipeline(tool *t);

/* ---- apart.c ------------------------------------------------------------------------------------------------------------- */

/* All inputs, each in a process of its own, so many at once; gives the exit code. */
int tool_process_apart(tool *t, uint32_t most);
/* In such a process: what it leaves for who waits for it. */
VYRE_MUST_USE vyre_status tool_hand_over(const tool *t, work *w);
VYRE_MUST_USE vyre_status tool_hand_over_notes(const tool *t, const work *w);
VYRE_MUST_USE vyre_status tool_create_report(const tool *t, vyre_report **out);

/* Makes of this process's copy of the tool what is to run there. */
typedef vyre_status (*tool_change)(tool *t, uint32_t index, const void *user);
/* The input once more, in a process of its own, where `change` is called first.  *out has what was said and, unless it failed, the
 * output, which is written nowhere; *out_run is the last run of a pass that was begun there. */
VYRE_MUST_USE vyre_status tool_attempt(tool *t, uint32_t index, tool_change change, const void *user, work *out, uint64_t *out_run);
void tool_free_attempt(work *w);
/* Its exit code. */
int work_code(const work *w);
/* Standard input can be read more than once from here on, if that may be needed. */
VYRE_MUST_USE vyre_status tool_keep_stdin(const tool *t);

/* ---- watch.c ------------------------------------------------------------------------------------------------------------- */

/* -watch.  True in a process that has one run to do, with the options and the inputs that are left out in *t; false in the one that
 * waited, when it is to end, with *out_code. */
bool tool_watch(int argc, char **argv, tool *t, int *out_code);

/* ---- bisect.c ------------------------------------------------------------------------------------------------------------ */

/* -bisect of the one input; gives the exit code. */
int tool_bisect(tool *t);

/* ---- tool_reduce.c ------------------------------------------------------------------------------------------------------- */

/* -reduce of the one input; gives the exit code. */
int tool_reduce(tool *t);

#endif
