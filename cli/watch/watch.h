/* -watch: runs again whenever files change.
 *
 * This is all that the rest of the command line knows of it.  Builds for Windows have windows/absent.c instead.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_WATCH_WATCH_H
#define VYRE_CLI_WATCH_WATCH_H

#include "cli/tool.h"

/* Returns true in a process that has one run to do, with the options and the inputs that are left out in *t.  Returns false in the
 * process that waited, when it is to end, with *out_code. */
bool tool_watch(int argc, char **argv, tool *t, int *out_code);

#endif
