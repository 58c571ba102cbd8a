/* SPDX-License-Identifier: Apache-2.0 */
#include "console.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Colors of terminals, for the word of each severity. */
static const char *const colors[] = {
    [VYRE_NOTE] = "\033[1;36m", [VYRE_REMARK] = "\033[1;36m", [VYRE_WARNING] = "\033[1;35m", [VYRE_SEVERE] = "\033[1;31m"};
static const char fix_color[] = "\033[1;32m", no_color[] = "\033[0m";

typedef void (*printer)(void *user, const char *text, size_t length);

const char *
console_severity(vyre_severity severity)
{
  static const char *const words[] = {
      [VYRE_NOTE] = "note", [VYRE_REMARK] = "remark", [VYRE_WARNING] = "warning", [VYRE_SEVERE] = "error"};
  return words[severity];
}

/* Returns whether messages have colors: standard error is a terminal, and NO_COLOR (no-color.org) is not set. */
static bool
has_colors(void)
{
  const char *terminal = getenv("TERM"), *no = getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Returns the length of a line's part that is in a color, from its start on: "Fix:", or a caret line. */
static size_t
marked_length(const char *line, size_t length)
{
  const size_t blanks = strspn(line, " ");
  if (length >= 4 && memcmp(line, "Fix:", 4) == 0)
    return 4;
  return blanks < length && line[blanks] == '^' && blanks + strspn(line + blanks, "^~") == length ? length : 0;
}

static void
print_in_color(const char *color, const char *text, size_t length, printer print, void *user)
{
  print(user, color, strlen(color));
  print(user, text, length);
  print(user, no_color, strlen(no_color));
}

/* Prints lines, with their marked parts in a color if messages have colors. */
static void
print_lines(const char *text, size_t length, bool in_color, printer print, void *user)
{
  const char *end = text + length, *stop;
  if (!in_color)
    print(user, text, length);
  for (const char *at = text; in_color && at < end; at = stop) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    const size_t marked = marked_length(at, (size_t)((next ? next : end) - at));
    stop = next ? next + 1 : end;
    if (marked)
      print_in_color(fix_color, at, marked, print, user);
    print(user, at + marked, (size_t)(stop - at) - marked);
  }
}

/* Prints a message, with the word of its severity in a color if messages have colors. */
static void
print_message(const char *text, size_t length, vyre_severity severity, printer print, void *user)
{
  const bool in_color = has_colors();
  char word[16];
  snprintf(word, sizeof word, "%s: ", console_severity(severity));
  const char *found = in_color ? strstr(text, word) : NULL;
  while (found && found > text && found[-1] != ' ') /* a part of a path */
    found = strstr(found + 1, word);
  if (found) {
    print(user, text, (size_t)(found - text));
    print_in_color(colors[severity], found, strlen(word) - 1, print, user);
    length -= (size_t)(found - text) + strlen(word) - 1;
    text = found + strlen(word) - 1;
  }
  print_lines(text, length, in_color, print, user);
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
  print_message(text, length, diagnostic->severity, print, user);
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
  if (status) {
    const char *text = vyre_status_text(status);
    fprintf(stderr, "%s: ", program);
    print_message("error: ", 7, VYRE_SEVERE, print_error, NULL);
    print_lines(text, strlen(text), has_colors(), print_error, NULL);
    fputc('\n', stderr);
  }
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
