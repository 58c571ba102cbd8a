/* The messages about a process that ended before its work was done.  All functions may run in a signal handler.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <signal.h>
#include <string.h>

static _Thread_local bool own_thread;
static _Thread_local const char *own_input;

void
guard_own_thread(void)
{
  own_thread = true;
}

void
guard_input(const char *path)
{
  own_input = path;
}

guard_where
guard_where_now(void)
{
  const vyre_driver_call call = vyre_driver_call_running(!own_thread);
  return (guard_where){
      .call = call, .code = vyre_plugin_code_running(), .input = own_input, .is_strange = !own_thread && !call.doing};
}

guard_text
guard_line(const char *program, const guard_text *text)
{
  guard_text all = {0};
  guard_append(&all, program);
  guard_append(&all, ": error: ");
  guard_append(&all, text->bytes);
  guard_append(&all, "\n");
  return all;
}

void
guard_append(guard_text *text, const char *more)
{
  while (*more && text->length + 1 < sizeof(text->bytes))
    text->bytes[text->length++] = *more++;
  text->bytes[text->length] = '\0';
}

void
guard_append_number(guard_text *text, uint64_t number)
{
  char digits[24], *at = digits + sizeof(digits) - 1;
  *at = '\0';
  do
    *--at = (char)('0' + number % 10);
  while (number /= 10);
  guard_append(text, at);
}

void
guard_append_code(guard_text *text, const vyre_plugin_code *code)
{
  if (code->pass) {
    guard_append(text, " in pass '");
    guard_append(text, code->pass);
    guard_append(text, "' (");
    guard_append(text, code->path);
    guard_append(text, "), run ");
    guard_append_number(text, code->run);
    guard_append(text, " of the pipeline");
  } else {
    guard_append(text, " while plugin '");
    guard_append(text, code->path);
    guard_append(text, "' was loaded");
  }
}

static void
append_input(guard_text *text, const guard_where *where)
{
  if (!where->input)
    return;
  guard_append(text, "\n  input '");
  guard_append(text, where->input);
  guard_append(text, "'");
}

/* Appends the message if a driver runs, no matter which code called it. */
static bool
append_driver(guard_text *text, const guard_where *where, const char *how)
{
  if (!where->call.doing)
    return false;
  vyre_driver_call_format(&where->call, how, text->bytes + text->length, sizeof(text->bytes) - text->length);
  text->length += strlen(text->bytes + text->length);
  append_input(text, where);
  guard_append(text, "\nFix: update the driver, choose another -device, or use -target=cpu, which has no driver");
  return true;
}

/* Appends the message about SIGKILL, which the system or the user sent.  Returns the exit code. */
static int
report_kill(const guard_where *where, guard_text *text)
{
  if (where->call.doing) {
    vyre_driver_call_format(&where->call, "was killed (SIGKILL)", text->bytes, sizeof(text->bytes));
    text->length = strlen(text->bytes);
  } else {
    guard_append(text, "the process was killed (SIGKILL)");
    if (where->code.path)
      guard_append_code(text, &where->code);
  }
  append_input(text, where);
  guard_append(text, "\nFix: if the system killed it because memory was low (see dmesg), free some memory");
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
guard_report_crash(const guard_where *where, const char *how, const char *what, guard_text *text)
{
  if (append_driver(text, where, how))
    return code_of(where);
  guard_append(text, what);
  if (where->is_strange)
    guard_append(text, " in a thread that vyre did not start");
  else if (where->code.path)
    guard_append_code(text, &where->code);
  else
    guard_append(text, " in vyre itself");
  append_input(text, where);
  return code_of(where);
}

int
guard_report_signal(const guard_where *where, int number, guard_text *text)
{
  guard_text how = {0}, what = {0};
  if (number == SIGKILL)
    return report_kill(where, text);
  guard_append(&how, "crashed (");
  guard_append(&how, number == SIGSEGV   ? "SIGSEGV"
                     : number == SIGABRT ? "SIGABRT"
                     : number == SIGFPE  ? "SIGFPE"
                     : number == SIGILL  ? "SIGILL"
                                         : "SIGBUS");
  guard_append(&how, ")");
  guard_append(&what, "signal ");
  guard_append_number(&what, (uint64_t)number);
  if (name_of_signal(number)[0]) {
    guard_append(&what, " (");
    guard_append(&what, name_of_signal(number));
    guard_append(&what, ")");
  }
  return guard_report_crash(where, how.bytes, what.bytes, text);
}

int
guard_report_exit(const guard_where *where, const char *how, guard_text *text)
{
  guard_text by = {0};
  guard_append(&by, "ended the process by ");
  guard_append(&by, how);
  if (append_driver(text, where, by.bytes))
    return code_of(where);
  guard_append(text, "the process was ended by ");
  guard_append(text, how);
  if (where->is_strange)
    guard_append(text, " in a thread that vyre did not start");
  else if (where->code.path)
    guard_append_code(text, &where->code);
  guard_append(text, ", before its work was done");
  append_input(text, where);
  guard_append(text, "\nFix: return from the pass, and report failures with host->error");
  return code_of(where);
}
