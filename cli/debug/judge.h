/* A command that says of an output whether it is right.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_JUDGE_H
#define VYRE_CLI_DEBUG_JUDGE_H

#include "attempt.h"

#include <limits.h>

typedef struct judge {
  const tool_options *options; /* borrowed; their -bisect is the command */
  char folder[PATH_MAX - 64];  /* of what the command gets, */
  char path[PATH_MAX];         /* ... the output, {}, */
  char plain[PATH_MAX];        /* ... and the same program without passes, {in}; "": there is none */
  bool is_quiet;               /* what the command says goes nowhere */
} judge;

/* Makes the folder.  judge_end removes it, and all in it. */
VYRE_MUST_USE vyre_status judge_begin(const tool_options *options, judge *out);
void judge_end(judge *j);
/* Writes a file of that work's output there, whose name begins so; gives its path. */
VYRE_MUST_USE vyre_status judge_write(judge *j, const work *w, const char *name, char path[PATH_MAX]);
/* Runs the command: exit code 0 is good. */
VYRE_MUST_USE vyre_status judge_ask(const judge *j, bool *out_bad);

#endif
