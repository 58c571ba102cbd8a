/* Reports that the process ended before its work was done.
 *
 * Code of plugins runs in this process and may end it: by exit and _exit, which the dynamic linker finds in this program before it
 * finds libc's; by the cases in which libc itself calls exit (err, the end of the last thread), which runs our handler; by a
 * signal.  A system call of its own, and SIGKILL, cannot be seen in the process.
 *
 * Everything here may run in a signal handler, in any thread, in several at once, with any lock held.
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

static atomic_bool done;                      /* the program's own end has begun, with own_code */
static atomic_flag ending = ATOMIC_FLAG_INIT; /* a thread says why the process ends before that, and ends it */
static volatile sig_atomic_t own_code, thread_ended;
static const char *program = "";
static pid_t owner;          /* children that a plugin forks end as they like */
static guard_record *record; /* NULL: nobody waits for it to tell why this process ended */

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

/* To who waits for this process, or to standard error. */
static void
give(const guard_text *text, int code)
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

/* Returns in a child, and when the program's own end has begun. */
static void
end_by(const char *how)
{
  if (done || getpid() != owner)
    return;
  while (atomic_flag_test_and_set(&ending))
    pause(); /* the thread that was first ends the process */
  guard_text text = {0};
  const guard_where where = guard_where_now();
  int code = guard_tell_exit(&where, how, &text);
  if (thread_ended && code == VYRE_CODE_INTERNAL)
    code = VYRE_CODE_USAGE;
  give(&text, code);
  vyre_file_abandon();
  end_now(code);
}

static void
end_by_exit(void)
{
  end_by("exit");
}

/* The build puts these four among the symbols that shared objects find.  exit is here as well as its handler, as a handler runs
 * once: of two threads in libc's exit the second would go on to the end. */

/* The exit code of a plugin's destructor does not replace the program's. */
static int
code_to_give(int wanted)
{
  return done && getpid() == owner ? own_code : wanted;
}

static _Noreturn void
end_by_next(const char *name, int code)
{
  void (*next)(int code);
  *(void **)&next = dlsym(RTLD_NEXT, name); /* POSIX's way from an object's address to a function's */
  if (next)
    next(code_to_give(code));
  end_now(code_to_give(code));
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
  end_now(code_to_give(code));
}

__attribute__((visibility("default"))) void
_Exit(int code)
{
  end_by("_Exit");
  end_now(code_to_give(code));
}

/* ---- signals ------------------------------------------------------------------------------------------------------------- */

/* Somebody wants it to end. */
static void
end_by_request(int number)
{
  if (getpid() == owner)
    vyre_file_abandon();
  raise(number); /* its default action again, so that the parent process sees the signal */
}

/* It crashed. */
static void
end_by_fault(int number)
{
  if (getpid() == owner && !done && !atomic_flag_test_and_set(&ending)) {
    guard_text text = {0};
    const guard_where where = guard_where_now();
    const int code = guard_tell_signal(&where, number, &text);
    give(&text, code);
    vyre_file_abandon();
  }
  raise(number);
}

static volatile sig_atomic_t loading_limit;

/* Loading a plugin takes too long.  The program's own code is waited for. */
static void
end_late_loading(int number)
{
  const guard_where where = guard_where_now();
  if (!where.code.path || getpid() != owner || atomic_flag_test_and_set(&ending)) {
    alarm(1);
    return;
  }
  guard_text text = {0};
  guard_append(&text, "after ");
  guard_append_number(&text, (uint64_t)loading_limit);
  guard_append(&text, " s it was not done");
  guard_append_code(&text, &where.code);
  guard_append(&text, "\nFix: raise -pass-timeout, or report the pass");
  give(&text, VYRE_CODE_USAGE);
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

/* A signal that is ignored (nohup) or has a handler (a sanitizer's) stays so. */
static void
handle(int number, void (*handler)(int number))
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
  signal(SIGPIPE, SIG_IGN); /* a reader that went away is a write that failed */
  signal(SIGXFSZ, SIG_IGN); /* so is a file that may not be that large */
  for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
    handle(requests[i], end_by_request);
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
    handle(faults[i], end_by_fault);
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
