/* SPDX-License-Identifier: Apache-2.0 */
#include "console.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
console_severity(vyre_severity severity)
{
  static const char *const words[] = {
      [VYRE_NOTE] = "note", [VYRE_REMARK] = "remark", [VYRE_WARNING] = "warning", [VYRE_SEVERE] = "error"};
  return words[severity];
}

void
console_format(const vyre_diagnostic *diagnostic, void (*print)(void *user, const char *text, size_t length), void *user)
{
  char small[2048], *text = small;
  const size_t needed = vyre_diagnostic_format(diagnostic, small, sizeof small);
  if (needed >= sizeof small) {
    text = malloc(needed + 1);
    if (text)
      vyre_diagnostic_format(diagnostic, text, needed + 1);
    else
      text = small;
  }
  const size_t length = strlen(text);
  print(user, text, length);
  if (length == 0 || text[length - 1] != '\n')
    print(user, "\n", 1);
  if (text != small)
    free(text);
}

static void
print_error(void *user, const char *text, size_t length)
{
  (void)user;
  fwrite(text, 1, length, stderr);
}

static void
emit(void *user, const vyre_diagnostic *diagnostic)
{
  console_format(diagnostic, print_error, user);
}

const vyre_diagnostics console_diagnostics = {emit, NULL};

vyre_status
console_help(const option_table *table, const char *format, const char *version)
{
  vyre_bytes text = {0};
  vyre_status status = option_table_help(table, format, version, &text);
  if (!status)
    fwrite(text.data, 1, text.size, stdout);
  vyre_bytes_free(&text);
  return status;
}

int
console_complain(const char *program, vyre_status status)
{
  const int code = (int)vyre_status_code(status);
  if (status)
    fprintf(stderr, "%s: error: %s\n", program, vyre_status_text(status));
  vyre_status_free(status);
  return code;
}

int
console_end(const char *program, vyre_status status, int code)
{
  errno = 0;
  if ((fflush(stdout) || ferror(stdout)) && !status)
    status = VYRE_ERROR(
        VYRE_CODE_INPUT,
        "standard output could not be written: %s\nFix: free space where it is written, or keep the reader of the pipe open",
        errno ? strerror(errno) : "an earlier write failed");
  const int failed = console_complain(program, status);
  if (failed || code)
    return failed ? failed : code;
  return ferror(stderr)
             ? console_complain(program, VYRE_ERROR(VYRE_CODE_INPUT,
                                                    "standard error could not be written\n"
                                                    "Fix: free space where it is written, or keep the reader of the pipe open"))
             : 0;
}
