/* Prints diagnostics: the message, the source line, a caret below it, the fix.
 *
 * The caret line repeats the tabs of the source line, so that it is aligned for every tab width, and has one column for each UTF-8
 * character. Limits: every character counts as one column wide. Control characters in the source line are printed as spaces. Of a
 * line longer than WINDOW bytes, the part around the caret is printed, with "..." for the omitted parts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/status.h"

#include <stdio.h>
#include <string.h>

/* A bounded output like snprintf's: counts everything, stores the bytes that fit. */
typedef struct sink {
  char *text;
  size_t capacity;
  size_t size;
} sink;

static void
put(sink *out, const char *text, size_t length)
{
  if (out->size < out->capacity) {
    size_t room = out->capacity - out->size;
    memcpy(out->text + out->size, text, length < room ? length : room);
  }
  out->size += length;
}

static void
put_text(sink *out, const char *text)
{
  put(out, text, strlen(text));
}

static void
put_number(sink *out, uint32_t number)
{
  char digits[16];
  int length = snprintf(digits, sizeof(digits), "%u:", number);
  put(out, digits, (size_t)length);
}

static bool
starts_character(char byte)
{
  return ((unsigned char)byte & 0xc0u) != 0x80u;
}

/* The printed part of a source line: bytes from `begin` to `end` of `length`. */
typedef struct window {
  const char *source;
  size_t begin, end, length;
} window;

#define WINDOW 240u

/* Chooses the printed part. `column` counts from 0. Both ends are at the start of a character. */
static window
window_around(const char *source, size_t length, size_t column)
{
  window w = {source, 0, length, length};
  if (length <= WINDOW)
    return w;
  if (column > length)
    column = length;
  w.begin = column > WINDOW / 2 ? column - WINDOW / 2 : 0;
  if (w.begin > length - WINDOW)
    w.begin = length - WINDOW;
  w.end = w.begin + WINDOW;
  while (w.begin > 0 && !starts_character(source[w.begin]))
    w.begin--;
  while (w.end < length && !starts_character(source[w.end]))
    w.end++;
  return w;
}

/* Replaces control characters, which would move the terminal's cursor, by spaces. */
static void
put_source_line(sink *out, const window *w)
{
  put_text(out, w->begin > 0 ? "..." : "");
  for (size_t i = w->begin; i < w->end; i++) {
    bool control = ((unsigned char)w->source[i] < ' ' && w->source[i] != '\t') || w->source[i] == 0x7f;
    put(out, control ? " " : w->source + i, 1);
  }
  put_text(out, w->end < w->length ? "...\n" : "\n");
}

static void
put_caret_line(sink *out, const window *w, size_t column, size_t length)
{
  put_text(out, w->begin > 0 ? "   " : "");
  for (size_t i = w->begin; i < column && i < w->end; i++) {
    if (w->source[i] == '\t')
      put(out, "\t", 1);
    else if (starts_character(w->source[i]))
      put(out, " ", 1);
  }
  put(out, "^", 1);
  for (size_t i = column + 1; i < column + length && i < w->end; i++)
    if (starts_character(w->source[i]))
      put(out, "~", 1);
  put(out, "\n", 1);
}

size_t
vyre_diagnostic_format(const vyre_diagnostic *diagnostic, char *text, size_t capacity)
{
  static const char *const severities[] = {
      [VYRE_NOTE] = "note: ", [VYRE_REMARK] = "remark: ", [VYRE_WARNING] = "warning: ", [VYRE_SEVERE] = "error: "};
  sink out = {text, capacity ? capacity - 1 : 0, 0};
  if (diagnostic->file) {
    put_text(&out, diagnostic->file);
    put(&out, ":", 1);
    if (diagnostic->line) {
      put_number(&out, diagnostic->line);
      if (diagnostic->column)
        put_number(&out, diagnostic->column);
    }
    put(&out, " ", 1);
  }
  put_text(&out, severities[(unsigned)diagnostic->severity < 4 ? diagnostic->severity : VYRE_SEVERE]);
  put_text(&out, diagnostic->message ? diagnostic->message : "");
  put(&out, "\n", 1);
  if (diagnostic->source) {
    const char *end = memchr(diagnostic->source, '\n', diagnostic->source_length);
    size_t length = end ? (size_t)(end - diagnostic->source) : diagnostic->source_length;
    const size_t column = diagnostic->column ? diagnostic->column - 1 : 0;
    const window w = window_around(diagnostic->source, length, column);
    put_source_line(&out, &w);
    if (diagnostic->column)
      put_caret_line(&out, &w, column, diagnostic->length);
  }
  if (diagnostic->fix) {
    put_text(&out, "Fix: ");
    put_text(&out, diagnostic->fix);
    put(&out, "\n", 1);
  }
  if (capacity)
    text[out.size < capacity ? out.size : capacity - 1] = '\0';
  return out.size;
}
