/* Runs work in a forked process, so that a crash does not end the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_ISOLATE_H
#define VYRE_TOOLS_RUN_ISOLATE_H

#include <sys/types.h>

#include "guard.h"

typedef struct isolated {
  pid_t pid;            /* 0 in the forked process */
  guard_record *record; /* owned, with `more` */
  void *more;           /* memory that both processes share, zero at first */
  size_t size;          /* bytes of `record` and `more` */
} isolated;

/* Forks.  Call it before the program has threads or devices.  The new process is guarded, ends if its parent does, and must end by
 * isolate_leave. */
VYRE_MUST_USE vyre_status isolate_begin(size_t more, isolated *out);
_Noreturn void isolate_leave(int code);
/* Interprets the status of waitpid.  Returns VYRE_OK if the process ended by isolate_leave; *out_code is its code.  Otherwise
 * returns an error with the cause and the exit code for this program. */
VYRE_MUST_USE vyre_status isolate_end(const isolated *process, int status, int *out_code);
void isolate_free(isolated *process);

#endif
