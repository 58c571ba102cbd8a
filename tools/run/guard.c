/* Reports that the process ended before its work was done.
 *
 * Code of plugins may end this process in three ways.  It calls exit or _exit, which the dynamic linker finds in this program
 * before libc.  Or libc itself calls exit (err, the end of the last thread), which runs the handler here.  Or there is a signal.  A
 * direct system call and SIGKILL cannot be noticed in the process.
 *
 * These functions may run in a signal handler, in any thread, in several threads at once, and with any lock held.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vyre/io.h"
#include "vyre/passmgr.h"

static atomic_bool done;                      /* guard_end was called, with own_code */
static atomic_flag ending = ATOMIC_FLAG_INIT; /* a thread reports an early end and ends the process */
static volatile sig_atomic_t own_code, thread_ended;
static const char *program = "";
static pid_t owner;          /* the guarded process; children that a plugin forks are not guarded */
static guard_record *record; /* of an isolated process, otherwise NULL */

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

/* Writes the message to the record, or to standard error if there is none. */
static void
report_end(const guard_text *text, int code)
{
  if (record) {
    record->text = *text;
    record->code = code;
    return;
  }
  const guard_text all = guard_line(program, text);
  const char *at = all.bytes;
  for (size_t left = all.length; left > 0;) {
    const ssize_t wrote = write(STDERR_FILENO, at, left);
    if (wrote <= 0)
      return;
    at += wrote;
    left -= (size_t)wrote;
  }
}

/* ---- exit, quick_exit, _exit --------------------------------------------------------------------------------------------- */

static _Noreturn void
end_now(int code)
{
  for (;;)
    syscall(SYS_exit_group, code);
}

/* Reports a call of exit or the like and ends the process.  Returns in a child, and after guard_end. */
static void
end_by(const char *how)
{
  if (done || getpid() != owner)
    return;
  while (atomic_flag_test_and_set(&ending))
    pause(); /* another thread ends the process */
  guard_text text = {0};
  const guard_where where = guard_where_now();
  int code = guard_report_exit(&where, how, &text);
  if (thread_ended && code == VYRE_CODE_INTERNAL)
    code = VYRE_CODE_USAGE;
  report_end(&text, code);
  vyre_file_abandon();
  end_now(code);
}

static void
end_by_exit(void)
{
  end_by("exit");
}

/* The build exports the next four functions to shared objects.  exit is defined in addition to its handler, because a handler runs
 * only once: a second thread in libc's exit would end the process. */

/* Returns the exit code, which after guard_end is that of guard_end, even if a plugin's destructor exits. */
static int
final_code(int wanted)
{
  return done && getpid() == owner ? own_code : wanted;
}

static _Noreturn void
end_by_next(const char *name, int code)
{
  void (*next)(int code);
  *(void **)&next = dlsym(RTLD_NEXT, name); /* POSIX's way from an object's address to a function's */
  if (next)
    next(final_code(code));
  end_now(final_code(code));
}

__attribute__((visibility("default"))) void
exit(int code)
{
  end_by("exit");
  end_by_next("exit", code);
}

__attribute__((visibility("default"))) void
quick_exit(int code)
{
  end_by("quick_exit");
  end_by_next("quick_exit", code);
}

__attribute__((visibility("default"))) void
_exit(int code)
{
  end_by("_exit");
  end_now(final_code(code));
}

__attribute__((visibility("default"))) void
_Exit(int code)
{
  end_by("_Exit");
  end_now(final_code(code));
}

/* ---- signals ------------------------------------------------------------------------------------------------------------- */

/* Ends the process after a signal that requests the end, such as SIGTERM. */
static void
end_by_request(int number)
{
  if (getpid() == owner)
    vyre_file_abandon();
  raise(number); /* the default action is restored, so that the parent process sees the signal */
}

/* Reports a crash and ends the process. */
static void
end_by_fault(int number)
{
  if (getpid() == owner && !done && !atomic_flag_test_and_set(&ending)) {
    guard_text text = {0};
    const guard_where where = guard_where_now();
    const int code = guard_report_signal(&where, number, &text);
    report_end(&text, code);
    vyre_file_abandon();
  }
  raise(number);
}

static volatile sig_atomic_t loading_limit;

/* Ends the process if a plugin takes too long to load.  Waits while the program's own code runs. */
static void
end_late_loading(int number)
{
  const guard_where where = guard_where_now();
  if (!where.code.path || getpid() != owner || atomic_flag_test_and_set(&ending)) {
    alarm(1);
    return;
  }
  guard_text text = {0};
  guard_append(&text, "not done after ");
  guard_append_number(&text, (uint64_t)loading_limit);
  guard_append(&text, " s");
  guard_append_code(&text, &where.code);
  guard_append(&text, "\nFix: raise -pass-timeout, or report the pass");
  report_end(&text, VYRE_CODE_USAGE);
  vyre_file_abandon();
  (void)number;
  end_now(VYRE_CODE_USAGE);
}

void
guard_limit(uint32_t seconds)
{
  static struct sigaction before;
  const struct sigaction action = {.sa_handler = end_late_loading, .sa_flags = SA_ONSTACK};
  alarm(0);
  if (!seconds && loading_limit)
    sigaction(SIGALRM, &before, NULL);
  else if (seconds)
    sigaction(SIGALRM, &action, &before);
  loading_limit = (sig_atomic_t)seconds;
  alarm(seconds);
}

/* Installs a handler, unless the signal is ignored (nohup) or has a handler (a sanitizer's). */
static void
handle_signal(int number, void (*handler)(int number))
{
  struct sigaction before, action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
    sigaction(number, &action, NULL);
}

void
guard_thread(void)
{
  static _Thread_local char stack[32768];
  stack_t before;
  guard_own_thread();
  if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
}

void
guard_thread_ended(void)
{
  thread_ended = 1;
}

void
guard_begin(const char *name)
{
  static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF};
  static const int faults[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS};
  program = name;
  owner = getpid();
  guard_thread();
  signal(SIGPIPE, SIG_IGN); /* a write to a closed pipe fails */
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit for files fails */
  for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
    handle_signal(requests[i], end_by_request);
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
    handle_signal(faults[i], end_by_fault);
  if (atexit(end_by_exit) != 0)
    abort();
}

void
guard_isolated(guard_record *shared)
{
  owner = getpid();
  record = shared;
  vyre_driver_calls_copy(&shared->where.call);
  vyre_plugin_code_copy(&shared->where.code);
}

int
guard_end(int code)
{
  own_code = code;
  done = true;
  return code;
}
