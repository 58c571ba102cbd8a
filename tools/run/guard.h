/* Exit code 0 is the program's alone to give.
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

/* What a process was in. */
typedef struct guard_where {
  vyre_driver_call call;
  vyre_plugin_code code;
  const char *input; /* that the thread works on, of several; else NULL */
  bool is_strange;   /* a thread that vyre did not start */
} guard_where;

/* What it leaves to one that waits for it, in memory that both have. */
typedef struct guard_record {
  guard_where where; /* as it goes along */
  guard_text text;   /* why it ended before its work was done; empty: it could not tell */
  int code;          /* the exit code for that */
} guard_record;

/* guard_tell.c: what is said of a process that a signal ended, or a call of exit or the like, there.  Appends, and gives the exit
 * code for it. */
int guard_tell_signal(const guard_where *where, int number, guard_text *text);
int guard_tell_exit(const guard_where *where, const char *how, guard_text *text);
/* The same of any crash: a driver "crashed (SIGSEGV)", else it was "signal 11 (segmentation fault)". */
int guard_tell_crash(const guard_where *where, const char *how, const char *what, guard_text *text);
void guard_append(guard_text *text, const char *more);
void guard_append_number(guard_text *text, uint64_t number);
/* "in pass 'acme.x' (/path/acme.so), run 3 of the pipeline". */
void guard_append_code(guard_text *text, const vyre_plugin_code *code);
/* Returns the state of the calling thread. */
guard_where guard_where_now(void);
/* Marks the calling thread as one of the program's. */
void guard_own_thread(void);
/* Returns the text as one line of the program's errors. */
guard_text guard_line(const char *program, const guard_text *text);
/* In a process that was just forked: it is guarded itself, and says there what it would say on standard error. */
void guard_isolated(guard_record *shared);

/* From here on the process ends by guard_end, or with a message that names the pass whose code ended it, without temporary files,
 * and with another code than 0: exit, quick_exit, _exit and signals.  `program` is its name in messages. */
void guard_begin(const char *program);
/* The program's own end.  Returns the code. */
int guard_end(int code);
/* This thread is the program's, and signals of a stack that overflows are handled in it, too; guard_begin calls it. */
void guard_thread(void);
/* What this thread works on from here on, for messages.  NULL: nothing that has to be told from others. */
void guard_input(const char *path);
/* Code of a plugin that is loaded from here on takes so many seconds at most: then the process ends with a message.  0: any. */
void guard_limit(uint32_t seconds);
/* A plugin ended a thread; when the last thread ends, the process exits, and then the plugin is no longer known. */
void guard_thread_ended(void);

#endif
