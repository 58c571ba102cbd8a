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
static _Thread_local bool own_thread;
static const char *program = "";
static pid_t owner; /* children that a plugin forks end as they like */

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

static void
say(const char *text)
{
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t wrote = write(STDERR_FILENO, text, left);
    if (wrote <= 0)
      return;
    text += wrote;
    left -= (size_t)wrote;
  }
}

static void
say_number(unsigned number)
{
  char text[12], *at = text + sizeof(text) - 1;
  *at = '\0';
  do
    *--at = (char)('0' + number % 10);
  while (number /= 10);
  say(at);
}

/* "in pass 'acme.x' (/path/acme.so)"; false: in no plugin's code. */
static bool
say_where(void)
{
  const vyre_plugin_code code = vyre_plugin_code_running();
  if (!own_thread) {
    say(" in a thread that vyre did not start");
    return true;
  }
  if (!code.path)
    return false;
  if (code.pass) {
    say(" in pass '");
    say(code.pass);
    say("' (");
    say(code.path);
    say(")");
  } else {
    say(" while plugin '");
    say(code.path);
    say("' was loaded");
  }
  return true;
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
  say(program);
  say(": error: the process was ended by ");
  say(how);
  const bool by_plugin = say_where() || thread_ended;
  say(", before its work was done\nFix: a pass returns, and fails by host->error\n");
  vyre_file_abandon();
  end_now(by_plugin ? VYRE_CODE_USAGE : VYRE_CODE_INTERNAL);
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
    say(program);
    say(": error: signal ");
    say_number((unsigned)number);
    say(number == SIGSEGV   ? " (segmentation fault)"
        : number == SIGABRT ? " (abort)"
        : number == SIGFPE  ? " (division by zero)"
        : number == SIGILL  ? " (illegal instruction)"
                            : " (bus error)");
    if (!say_where())
      say(" in vyre itself");
    say("\n");
    vyre_file_abandon();
  }
  raise(number);
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
  static _Thread_local char stack[16384];
  stack_t before;
  own_thread = true;
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

int
guard_end(int code)
{
  own_code = code;
  done = true;
  return code;
}
