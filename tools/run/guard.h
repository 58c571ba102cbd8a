/* Reports crashes and exits in code of plugins and drivers.  Only guard_end can end the process with exit code 0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_GUARD_H
#define VYRE_TOOLS_RUN_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "vyre/passmgr.h"
#include "vyre/target.h"

typedef struct guard_text {
  char bytes[1500];
  size_t length;
} guard_text;

/* The code that a thread runs. */
typedef struct guard_where {
  vyre_driver_call call;
  vyre_plugin_code code;
  const char *input; /* the thread's input, if there are several, or NULL */
  bool is_strange;   /* a thread that vyre did not start */
} guard_where;

/* The end of an isolated process, in memory that it shares with its parent. */
typedef struct guard_record {
  guard_where where; /* updated while the process runs; `input` is not set */
  guard_text text;   /* message about an early end; empty if the process could not write it */
  int code;          /* exit code for the message */
} guard_record;

/* guard_report.c: append the message about a process that ended by a signal, or by a call of exit or the like.  Return the exit
 * code. */
int guard_report_signal(const guard_where *where, int number, guard_text *text);
int guard_report_exit(const guard_where *where, const char *how, guard_text *text);
/* Appends the message about any crash.  `how` is for a driver, "crashed (SIGSEGV)", `what` otherwise, "signal 11 (segmentation
 * fault)". */
int guard_report_crash(const guard_where *where, const char *how, const char *what, guard_text *text);
void guard_append(guard_text *text, const char *more);
void guard_append_number(guard_text *text, uint64_t number);
/* Appends the running code, such as "in pass 'acme.x' (/path/acme.so), run 3 of the pipeline". */
void guard_append_code(guard_text *text, const vyre_plugin_code *code);
/* Returns the state of the calling thread. */
guard_where guard_where_now(void);
/* Marks the calling thread as one of the program's. */
void guard_own_thread(void);
/* Returns the text as one line of the program's errors. */
guard_text guard_line(const char *program, const guard_text *text);
/* Guards a process that was just forked.  Its message goes to the record instead of standard error. */
void guard_isolated(guard_record *shared);

/* Begins to guard the process.  If exit, quick_exit, _exit or a signal ends it before guard_end, a message names the pass,
 * temporary files are removed, and the exit code is not 0.  `program` is its name in messages. */
void guard_begin(const char *program);
/* Ends the guard before the program's own end.  Returns the code. */
int guard_end(int code);
/* Marks the calling thread as one of the program's, with a stack for signals after an overflow.  guard_begin calls it. */
void guard_thread(void);
/* Sets the calling thread's input for messages.  NULL if there is only one. */
void guard_input(const char *path);
/* Limits the time in which plugins are loaded from now on.  The process ends with a message after it.  0 removes the limit. */
void guard_limit(uint32_t seconds);
/* Notes that a plugin ended a thread.  When the last thread ends, the process exits, and the plugin is no longer known. */
void guard_thread_ended(void);

#endif
