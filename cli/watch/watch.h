/* -watch: runs the pipeline again when files change.
 *
 * Only this header is visible to the rest of the command line.  Builds for Windows have windows/absent.c instead.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_WATCH_WATCH_H
#define VYRE_CLI_WATCH_WATCH_H

#include "cli/tool.h"

/* Returns true in each process that executes a run, with its options and skipped inputs in *t.  Returns false in the waiting
 * process at its end, with the exit code in *out_code. */
bool tool_watch(int argc, char **argv, tool *t, int *out_code);

#endif
