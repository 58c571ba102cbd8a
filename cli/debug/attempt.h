/* Processes an input again, in an isolated process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_ATTEMPT_H
#define VYRE_CLI_DEBUG_ATTEMPT_H

#include "debug.h"

/* Changes the isolated process's copy of the tool before it processes the input. */
typedef vyre_status (*tool_change)(tool *t, uint32_t index, const void *user);
/* Processes the input in an isolated process, after a call of `change` there.  *out has the messages and, unless the input failed,
 * the output, which is not written to a file.  *out_run is the last run of a pass that began there. */
VYRE_MUST_USE vyre_status tool_attempt(tool *t, uint32_t index, tool_change change, const void *user, work *out, uint64_t *out_run);
void tool_free_attempt(work *w);
/* Returns the exit code of the work. */
int work_code(const work *w);
/* Keeps standard input in a file if an option may read it again. */
VYRE_MUST_USE vyre_status tool_keep_stdin(const tool *t);

#endif
