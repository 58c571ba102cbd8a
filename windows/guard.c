/* Reports an end of the process before its work is done, as tools/run/guard.c does: an exit, abort, or unhandled exception.  Does
 * not detect TerminateProcess and _exit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/run/guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <windows.h>

#include "vyre/io.h"

static atomic_bool done;                      /* guard_end was called, so an end of the process is expected */
static atomic_flag ending = ATOMIC_FLAG_INIT; /* set by the only thread that reports an unexpected end, and then ends the process */
static const char *program = "";

static _Noreturn void
end(const guard_text *text, int code)
{
  const guard_text all = guard_line(program, text);
  write(STDERR_FILENO, all.bytes, (unsigned)all.length);
  vyre_file_abandon();
  for (;;)
    TerminateProcess(GetCurrentProcess(), (UINT)code);
}

static void
end_by_exit(void)
{
  if (done)
    return;
  while (atomic_flag_test_and_set(&ending))
    Sleep(INFINITE);
  guard_text text = {0};
  const guard_where where = guard_where_now();
  const int code = guard_report_exit(&where, "exit", &text);
  end(&text, code);
}

static void
end_by_abort(int number)
{
  if (done || atomic_flag_test_and_set(&ending))
    return;
  guard_text text = {0};
  const guard_where where = guard_where_now();
  const int code = guard_report_signal(&where, number, &text);
  end(&text, code);
}

static const char *
name_of_exception(DWORD number)
{
  return number == EXCEPTION_ACCESS_VIOLATION      ? "crashed (access violation)"
         : number == EXCEPTION_STACK_OVERFLOW      ? "crashed (stack overflow)"
         : number == EXCEPTION_INT_DIVIDE_BY_ZERO  ? "crashed (division by zero)"
         : number == EXCEPTION_ILLEGAL_INSTRUCTION ? "crashed (illegal instruction)"
                                                   : "crashed";
}

static LONG WINAPI
end_by_exception(EXCEPTION_POINTERS *what)
{
  if (done || atomic_flag_test_and_set(&ending))
    return EXCEPTION_CONTINUE_SEARCH;
  guard_text text = {0};
  const guard_where where = guard_where_now();
  const char *how = name_of_exception(what->ExceptionRecord->ExceptionCode);
  const int code = guard_report_crash(&where, how, how, &text);
  end(&text, code);
}

/* Prepares the thread for the report.  Reserves stack space, so that a stack overflow is reported, too. */
void
guard_thread(void)
{
  ULONG bytes = 32768;
  guard_own_thread();
  SetThreadStackGuarantee(&bytes);
}

void
guard_limit(uint32_t seconds)
{
  (void)seconds; /* Windows does not support -pass-timeout */
}

void
guard_thread_ended(void)
{
}

void
guard_begin(const char *name)
{
  program = name;
  guard_thread();
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  SetUnhandledExceptionFilter(end_by_exception);
  signal(SIGABRT, end_by_abort);
  if (atexit(end_by_exit) != 0)
    abort();
}

int
guard_end(int code)
{
  done = true;
  return code;
}
