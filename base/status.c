/* A status is an error and its notes as one owned text.
 *
 * The text is kept ready to print: the message, then a line for each note, then the lines from "Fix:" on.  A note is therefore
 * inserted before the fix.  Memory comes from malloc, because a status outlives modules and their allocators.  If memory runs out,
 * a static status is used, and notes are dropped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vyre_status_data {
  vyre_code code;
  bool is_out_of_memory, is_rejected;
  char *text;
  size_t length;
};

#define NO_MEMORY     "out of memory"
#define NO_MEMORY_FIX "\nFix: close other programs, or raise the limit of memory (ulimit -v)"

static char no_memory_text[] = NO_MEMORY NO_MEMORY_FIX;
static struct vyre_status_data no_memory = {VYRE_CODE_INPUT, true, false, no_memory_text, sizeof(no_memory_text) - 1};

/* Returns the formatted text, allocated by malloc, or NULL if memory runs out or the format is invalid. */
static char *
format_text(const char *format, va_list arguments, size_t *out_length)
{
  va_list again;
  va_copy(again, arguments);
  int needed = vsnprintf(NULL, 0, format, arguments);
  char *text = needed < 0 ? NULL : malloc((size_t)needed + 1);
  if (text) {
    vsnprintf(text, (size_t)needed + 1, format, again);
    *out_length = (size_t)needed;
  }
  va_end(again);
  return text;
}

/* Returns the offset of the newline before "Fix:", or the length of the text if the text has no fix. */
static size_t
fix_offset(const struct vyre_status_data *status)
{
  const char *at = strstr(status->text, "\nFix:");
  return at ? (size_t)(at - status->text) : status->length;
}

/* Inserts a note before the fix, and indents all lines of the note. */
static void
insert_note(struct vyre_status_data *status, const char *note)
{
  size_t lines = 1;
  for (const char *c = note; *c; c++)
    lines += *c == '\n';
  size_t added = strlen(note) + 3 * lines - (lines - 1);
  size_t offset = fix_offset(status);
  char *text = realloc(status->text, status->length + added + 1);
  if (!text)
    return;
  memmove(text + offset + added, text + offset, status->length - offset + 1);
  char *to = text + offset;
  memcpy(to, "\n  ", 3);
  to += 3;
  for (const char *c = note; *c; c++) {
    *to++ = *c;
    if (*c == '\n') {
      memcpy(to, "  ", 2);
      to += 2;
    }
  }
  status->text = text;
  status->length += added;
}

/* Returns the fix of an error whose message has none: of a bug, or if memory ran out. */
static const char *
default_fix(vyre_code code, const char *text, bool is_out_of_memory)
{
  if (strstr(text, "\nFix:"))
    return "";
  return code == VYRE_CODE_INTERNAL ? "\nFix: report this as a bug of vyre, with the command and its input"
         : is_out_of_memory         ? NO_MEMORY_FIX
                                    : "";
}

vyre_status
vyre_status_make(vyre_code code, const char *file, int line, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  size_t length = 0;
  char *text = format_text(format, arguments, &length);
  va_end(arguments);
  struct vyre_status_data *status = text ? malloc(sizeof(*status)) : NULL;
  /* recognized by the text that VYRE_OUT_OF_MEMORY begins with, because plugins pass on only texts */
  const bool is_out_of_memory = text && strncmp(text, NO_MEMORY, sizeof(NO_MEMORY) - 1) == 0;
  const char *fix = text ? default_fix(code, text, is_out_of_memory) : "";
  char *whole = status ? realloc(text, length + strlen(fix) + 1) : NULL;
  if (!whole) {
    free(text);
    free(status);
    return &no_memory;
  }
  strcpy(whole + length, fix);
  *status = (struct vyre_status_data){code, is_out_of_memory, false, whole, length + strlen(fix)};
  if (code == VYRE_CODE_INTERNAL) /* only a report of a bug needs the source line */
    return vyre_status_note(status, "at %s:%d", file, line);
  return status;
}

vyre_status
vyre_status_note(vyre_status status, const char *format, ...)
{
  if (!status || status == &no_memory)
    return status;
  va_list arguments;
  va_start(arguments, format);
  size_t length;
  char *note = format_text(format, arguments, &length);
  va_end(arguments);
  if (note)
    insert_note(status, note);
  free(note);
  return status;
}

vyre_status
vyre_status_add_fix(vyre_status status, vyre_code code, const char *fix)
{
  if (!status || status->is_out_of_memory)
    return status;
  vyre_status made =
      VYRE_ERROR(code, "%.*s\nFix: %s%s", (int)fix_offset(status), status->text, fix, status->text + fix_offset(status));
  if (status->is_rejected)
    made = vyre_status_mark_rejected(made);
  vyre_status_free(status);
  return made;
}

vyre_status
vyre_status_join(vyre_status first, vyre_status second)
{
  if (!first)
    return second;
  if (second) {
    if (first != &no_memory)
      insert_note(first, second->text);
    vyre_status_free(second);
  }
  return first;
}

vyre_code
vyre_status_code(vyre_status status)
{
  return status ? status->code : VYRE_CODE_OK;
}

const char *
vyre_status_text(vyre_status status)
{
  return status ? status->text : "";
}

bool
vyre_status_is_out_of_memory(vyre_status status)
{
  return status && status->is_out_of_memory;
}

vyre_status
vyre_status_mark_out_of_memory(vyre_status status)
{
  if (status && !status->is_out_of_memory) /* the static status, which threads share, is never written */
    status->is_out_of_memory = true;
  return status;
}

vyre_failure
vyre_status_failure(vyre_status status)
{
  const vyre_code code = vyre_status_code(status);
  return !status                                                  ? VYRE_FAILURE_NONE
         : status->is_out_of_memory                               ? VYRE_FAILURE_OUT_OF_MEMORY
         : code == VYRE_CODE_DEVICE || code == VYRE_CODE_INTERNAL ? VYRE_FAILURE_BACKEND
         : status->is_rejected                                    ? VYRE_FAILURE_REJECTED
                                                                  : VYRE_FAILURE_BAD_INPUT;
}

vyre_status
vyre_status_mark_rejected(vyre_status status)
{
  if (status && status->code == VYRE_CODE_INPUT && !status->is_out_of_memory)
    status->is_rejected = true;
  return status;
}

void
vyre_status_free(vyre_status status)
{
  if (!status || status == &no_memory)
    return;
  free(status->text);
  free(status);
}
