/* An input once more, in a process of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_ATTEMPT_H
#define VYRE_CLI_DEBUG_ATTEMPT_H

#include "debug.h"

/* Changes this process's copy of the tool to what is to run there. */
typedef vyre_status (*tool_change)(tool *t, uint32_t index, const void *user);
/* Processes the input in a process of its own, where `change` is called first.  *out has the messages and, unless the input failed,
 * the output, which is written nowhere; *out_run is the last run of a pass that was begun there. */
VYRE_MUST_USE vyre_status tool_attempt(tool *t, uint32_t index, tool_change change, const void *user, work *out, uint64_t *out_run);
void tool_free_attempt(work *w);
/* Returns its exit code. */
int work_code(const work *w);
/* Makes standard input readable more than once, if that may be needed. */
VYRE_MUST_USE vyre_status tool_keep_stdin(const tool *t);

#endif
