/* How far a long run is, in one line of a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_PROGRESS_H
#define VYRE_CLI_REPORT_PROGRESS_H

#include <stdint.h>

/* So many inputs are to be done.  There is a line from here on, if they are more than one and standard error is a terminal. */
void progress_begin(uint32_t total);
/* One more is done, or failed.  By one thread at a time. */
void progress_step(int failed);
/* The line is that text, where standard error is a terminal. */
void progress_tell(const char *text);
/* The line goes, before something else is written to standard error, and comes again with a later step.  By any thread. */
void progress_clear(void);

#endif
