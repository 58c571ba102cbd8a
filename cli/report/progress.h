/* A progress line on a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_PROGRESS_H
#define VYRE_CLI_REPORT_PROGRESS_H

#include <stdint.h>

/* Begins a line for `total` inputs, if there is more than one and standard error is a terminal. */
void progress_begin(uint32_t total);
/* Counts a finished input.  Call it from one thread at a time. */
void progress_step(int failed);
/* Shows the text as the line, if standard error is a terminal. */
void progress_print(const char *text);
/* Removes the line before other output to standard error.  A later step draws it again.  Any thread may call it. */
void progress_clear(void);

#endif
