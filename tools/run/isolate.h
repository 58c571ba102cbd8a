/* Work in a process of its own, so that what ends it ends nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_ISOLATE_H
#define VYRE_TOOLS_RUN_ISOLATE_H

#include <sys/types.h>

#include "guard.h"

typedef struct isolated {
  pid_t pid;            /* 0: this is it */
  guard_record *record; /* owned, with `more` */
  void *more;           /* memory that both processes have, zero at first */
  size_t size;          /* of all of it */
} isolated;

/* Forks, before there are threads and devices: the new process has the program's guard, and dies with this one.  It ends by
 * isolate_leave. */
VYRE_MUST_USE vyre_status isolate_begin(size_t more, isolated *out);
_Noreturn void isolate_leave(int code);
/* What waitpid said of it.  OK: it ended by isolate_leave, with *out_code; else why it did not, and with which code of this
 * program. */
VYRE_MUST_USE vyre_status isolate_end(const isolated *process, int status, int *out_code);
void isolate_free(isolated *process);

#endif
