/* Exit code 0 is the program's alone to give.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_GUARD_H
#define VYRE_PASSMGR_GUARD_H

/* From here on the process ends by guard_end, or with a message that names the pass whose code ended it, without temporary files,
 * and with another code than 0: exit, quick_exit, _exit and signals.  `program` is its name in messages. */
void guard_begin(const char *program);
/* The program's own end.  Returns the code. */
int guard_end(int code);
/* This thread is the program's, and signals of a stack that overflows are handled in it, too; guard_begin calls it. */
void guard_thread(void);
/* A plugin ended a thread; when the last thread ends, the process exits, and then the plugin is no longer known. */
void guard_thread_ended(void);

#endif
