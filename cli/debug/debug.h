/* Finds out why an input fails: a process for each input (-isolate), -bisect, -reduce and reproducers.
 *
 * This is all that the rest of the command line knows of it.  Builds for Windows have windows/absent.c instead.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_DEBUG_H
#define VYRE_CLI_DEBUG_DEBUG_H

#include "cli/tool.h"
#include "tools/run/isolate.h"

/* Memory of a process that has one input of its own, which the process that waits has, too. */
typedef struct isolated_work {
  bool is_done; /* there is an output */
  vyre_input_kind kind;
  vyre_report *report; /* its memory is here */
  size_t used;
  char memory[1 << 20];
} isolated_work;

/* The same process, for the one that waits. */
typedef struct isolation {
  isolated process;
  vyre_plugin_code late;                /* which pass took too long; else NULLs */
  int said, output, notes[NOTE__COUNT]; /* files without a name */
  bool is_running;
} isolation;

/* Processes all inputs, each in a process of its own and `most` at once.  Returns the exit code. */
int tool_process_apart(tool *t, uint32_t most);
/* In such a process: hand the output and the notes over to the process that waits. */
VYRE_MUST_USE vyre_status tool_hand_over(const tool *t, work *w);
VYRE_MUST_USE vyre_status tool_hand_over_notes(const tool *t, const work *w);
/* Creates the report of an input, where the process that waits can read it. */
VYRE_MUST_USE vyre_status tool_create_report(const tool *t, vyre_report **out);

/* -bisect and -reduce of the one input.  They return the exit code. */
int tool_bisect(tool *t);
int tool_reduce(tool *t);

/* A command line that was made. */
typedef struct arguments {
  vyre_bytes text; /* owned: the file */
  char **all;      /* owned array; of borrowed strings, or in `text` */
  uint32_t count, capacity;
} arguments;

/* Joins the options of that command line and of the file that its -run-reproducer names, which becomes the input.  Replaces
 * *options, which borrow from *out. */
VYRE_MUST_USE vyre_status reproducer_options(int argc, char **argv, tool_options *options, arguments *out);
void arguments_free(arguments *a);

#endif
