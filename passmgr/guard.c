/* What ends the process before its work is done, and says so.
 *
 * Code of plugins runs in this process and may end it: by exit, whose handlers we have; by _exit, which the dynamic linker finds in
 * this program before it finds libc's; by a signal.  What it does by a system call of its own, and SIGKILL, nobody in the process
 * can see.
 *
 * Everything here may run in a signal handler, in any thread, with any lock held.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vyre/io.h"
#include "vyre/passmgr.h"

static volatile sig_atomic_t ended, thread_ended;
static const char *program = "";
static pid_t owner; /* children that a plugin forks end as they like */

/* ---- what is said -------------------------------------------------------------------------------------------------------- */

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

/* "in pass 'acme.x' (/path/acme.so)"; false: in nobody's code but ours. */
static bool
say_where(void)
{
  const vyre_plugin_code code = vyre_plugin_code_running();
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

static void
end_by(const char *how)
{
  if (ended || getpid() != owner)
    return;
  ended = 1;
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

static void
end_by_quick_exit(void)
{
  end_by("quick_exit");
}

/* The build puts these two among the symbols that shared objects find. */
__attribute__((visibility("default"))) void
_exit(int code)
{
  end_by("_exit");
  end_now(code);
}

__attribute__((visibility("default"))) void
_Exit(int code)
{
  end_by("_Exit");
  end_now(code);
}

/* ---- signals ------------------------------------------------------------------------------------------------------------- */

/* Somebody wants it to end. */
static void
end_by_request(int number)
{
  if (getpid() == owner)
    vyre_file_abandon();
  raise(number); /* its own action again: who waits for the process sees the signal */
}

/* It crashed. */
static void
end_by_fault(int number)
{
  if (getpid() == owner && !ended) {
    ended = 1;
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

/* What is ignored (nohup) or has a handler (a sanitizer's) stays so. */
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
  if (atexit(end_by_exit) != 0 || at_quick_exit(end_by_quick_exit) != 0)
    abort();
}

int
guard_end(int code)
{
  ended = 1;
  return code;
}
