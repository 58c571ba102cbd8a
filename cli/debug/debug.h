/* Debugging of failing inputs: isolated processes (-isolate), -bisect, -reduce and reproducers.
 *
 * Only this header is visible to the rest of the command line.  Builds for Windows have windows/absent.c instead.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_DEBUG_H
#define VYRE_CLI_DEBUG_DEBUG_H

#include "cli/tool.h"
#include "tools/run/isolate.h"

/* Memory shared by an isolated process and its parent. */
typedef struct isolated_work {
  bool is_done; /* the output is complete */
  vyre_input_kind kind;
  vyre_report *report; /* allocated in `memory` */
  size_t used;
  char memory[1 << 20];
} isolated_work;

/* The parent's view of an isolated process. */
typedef struct isolation {
  isolated process;
  vyre_plugin_code late;                /* the pass that exceeded -pass-timeout, or NULLs */
  int said, output, notes[NOTE__COUNT]; /* anonymous files */
  uint64_t begun;                       /* time of clock_now */
  bool is_running, is_late;             /* is_late: exceeded -isolate-seconds */
} isolation;

/* Processes all inputs in isolated processes, at most `most` at once.  Returns the exit code. */
int tool_process_apart(tool *t, uint32_t most);
/* In an isolated process, pass the output and the notes to the parent. */
VYRE_MUST_USE vyre_status tool_hand_over(const tool *t, work *w);
VYRE_MUST_USE vyre_status tool_hand_over_notes(const tool *t, const work *w);
/* Creates the report of an input in memory that the parent can read. */
VYRE_MUST_USE vyre_status tool_create_report(const tool *t, vyre_report **out);

/* Execute -bisect and -reduce for the one input.  Return the exit code. */
int tool_bisect(tool *t);
int tool_reduce(tool *t);

/* A command line built from a reproducer. */
typedef struct arguments {
  vyre_bytes text; /* the file, owned */
  char **all;      /* owned array of strings, borrowed or in `text` */
  uint32_t count, capacity;
} arguments;

/* Joins the options of the command line and of the file that -run-reproducer names.  That file becomes the input.  Replaces
 * *options, which borrow from *out. */
VYRE_MUST_USE vyre_status reproducer_options(int argc, char **argv, tool_options *options, arguments *out);
void arguments_free(arguments *a);
/* Returns whether the command line has the option "-name=value" of a file, and replaces it.  -load, -plugin-dir and -skip-pass add
 * to those of the file. */
bool arguments_replace(const char *option, int argc, char **argv);

#endif
