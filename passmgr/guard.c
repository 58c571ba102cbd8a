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
static _Thread_local __attribute__((tls_model("initial-exec"))) const char *own_input;
static const char *program = "";
static pid_t owner;          /* children that a plugin forks end as they like */
static guard_record *record; /* NULL: nobody waits for it to tell why this process ended */

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

static void
append(guard_text *text, const char *more)
{
  while (*more && text->length + 1 < sizeof(text->bytes))
    text->bytes[text->length++] = *more++;
  text->bytes[text->length] = '\0';
}

static void
append_number(guard_text *text, uint64_t number)
{
  char digits[24], *at = digits + sizeof(digits) - 1;
  *at = '\0';
  do
    *--at = (char)('0' + number % 10);
  while (number /= 10);
  append(text, at);
}

/* "in pass 'acme.x' (/path/acme.so), run 3 of the pipeline". */
static void
append_code(guard_text *text, const vyre_plugin_code *code)
{
  if (code->pass) {
    append(text, " in pass '");
    append(text, code->pass);
    append(text, "' (");
    append(text, code->path);
    append(text, "), run ");
    append_number(text, code->run);
    append(text, " of the pipeline");
  } else {
    append(text, " while plugin '");
    append(text, code->path);
    append(text, "' was loaded");
  }
}

static void
append_input(guard_text *text, const guard_where *where)
{
  if (!where->input)
    return;
  append(text, "\n  input '");
  append(text, where->input);
  append(text, "'");
}

/* In a driver, whatever called it. */
static bool
append_driver(guard_text *text, const guard_where *where, const char *how)
{
  if (!where->call.doing)
    return false;
  vyre_driver_call_tell(&where->call, how, text->bytes + text->length, sizeof(text->bytes) - text->length);
  text->length += strlen(text->bytes + text->length);
  append_input(text, where);
  append(text, "\nFix: update the driver, choose another -device, or -target=cpu, which has none");
  return true;
}

/* Nothing that runs here does that to itself. */
static int
tell_kill(const guard_where *where, guard_text *text)
{
  if (where->call.doing) {
    vyre_driver_call_tell(&where->call, "was killed (SIGKILL)", text->bytes, sizeof(text->bytes));
    text->length = strlen(text->bytes);
  } else {
    append(text, "the process was killed (SIGKILL)");
    if (where->code.path)
      append_code(text, &where->code);
  }
  append_input(text, where);
  append(text, "\nFix: leave it more memory, if the system killed it for want of that (dmesg tells)");
  return VYRE_CODE_INPUT;
}

static int
code_of(const guard_where *where)
{
  return where->call.doing ? VYRE_CODE_DEVICE : where->code.path || where->is_strange ? VYRE_CODE_USAGE : VYRE_CODE_INTERNAL;
}

static const char *
name_of_signal(int number)
{
  return number == SIGSEGV   ? "segmentation fault"
         : number == SIGABRT ? "abort"
         : number == SIGFPE  ? "division by zero"
         : number == SIGILL  ? "illegal instruction"
         : number == SIGBUS  ? "bus error"
                             : "";
}

int
guard_tell_signal(const guard_where *where, int number, guard_text *text)
{
  guard_text how = {0};
  if (number == SIGKILL)
    return tell_kill(where, text);
  append(&how, "crashed (");
  append(&how, number == SIGSEGV   ? "SIGSEGV"
               : number == SIGABRT ? "SIGABRT"
               : number == SIGFPE  ? "SIGFPE"
               : number == SIGILL  ? "SIGILL"
                                   : "SIGBUS");
  append(&how, ")");
  if (append_driver(text, where, how.bytes))
    return code_of(where);
  append(text, "signal ");
  append_number(text, (uint64_t)number);
  if (name_of_signal(number)[0]) {
    append(text, " (");
    append(text, name_of_signal(number));
    append(text, ")");
  }
  if (where->is_strange)
    append(text, " in a thread that vyre did not start");
  else if (where->code.path)
    append_code(text, &where->code);
  else
    append(text, " in vyre itself");
  append_input(text, where);
  return code_of(where);
}

int
guard_tell_exit(const guard_where *where, const char *how, guard_text *text)
{
  guard_text by = {0};
  append(&by, "ended the process by ");
  append(&by, how);
  if (append_driver(text, where, by.bytes))
    return code_of(where);
  append(text, "the process was ended by ");
  append(text, how);
  if (where->is_strange)
    append(text, " in a thread that vyre did not start");
  else if (where->code.path)
    append_code(text, &where->code);
  append(text, ", before its work was done");
  append_input(text, where);
  append(text, "\nFix: a pass returns, and fails by host->error");
  return code_of(where);
}

static guard_where
where_now(void)
{
  const vyre_driver_call call = vyre_driver_call_running(!own_thread);
  return (guard_where){
      .call = call, .code = vyre_plugin_code_running(), .input = own_input, .is_strange = !own_thread && !call.doing};
}

/* To who waits for this process, or to standard error. */
static void
give(const guard_text *text, int code)
{
  if (record) {
    record->text = *text;
    record->code = code;
    return;
  }
  guard_text all = {0};
  append(&all, program);
  append(&all, ": error: ");
  append(&all, text->bytes);
  append(&all, "\n");
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
  const guard_where where = where_now();
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
    const guard_where where = where_now();
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
  const guard_where where = where_now();
  if (!where.code.path || getpid() != owner || atomic_flag_test_and_set(&ending)) {
    alarm(1);
    return;
  }
  guard_text text = {0};
  append(&text, "after ");
  append_number(&text, (uint64_t)loading_limit);
  append(&text, " s it was not done");
  append_code(&text, &where.code);
  append(&text, "\nFix: give it more by -pass-timeout, or tell its author");
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
  own_thread = true;
  if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
}

void
guard_input(const char *path)
{
  own_input = path;
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
