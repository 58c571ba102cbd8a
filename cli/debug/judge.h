/* The command of -bisect, which decides whether an output is right.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_JUDGE_H
#define VYRE_CLI_DEBUG_JUDGE_H

#include "attempt.h"

#include <limits.h>

typedef struct judge {
  const tool_options *options; /* borrowed; their -bisect is the command */
  char folder[PATH_MAX - 64];  /* a temporary folder for the files of the command */
  char path[PATH_MAX];         /* the output, {} in the command */
  char plain[PATH_MAX];        /* the program without passes, {in} in the command, or "" */
  bool is_quiet;               /* discards the output of the command */
} judge;

/* Creates the folder.  judge_end removes it and its files. */
VYRE_MUST_USE vyre_status judge_begin(const tool_options *options, judge *out);
void judge_end(judge *j);
/* Writes the output of a work to a file in the folder, and returns its path.  `name` is the file's name without the extension. */
VYRE_MUST_USE vyre_status judge_write(judge *j, const work *w, const char *name, char path[PATH_MAX]);
/* Runs the command.  Exit code 0 means good, any other code bad. */
VYRE_MUST_USE vyre_status judge_run(const judge *j, bool *out_bad);

#endif
