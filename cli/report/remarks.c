/* SPDX-License-Identifier: Apache-2.0 */
#include "remarks.h"

#include "base/json.h"
#include "cli/options/console.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A source line.  Rows without a line have line 0. */
typedef struct remarks_place {
  vyre_string file;
  uint32_t line;
} remarks_place;

struct remarks_line {
  UT_hash_handle hh;
  remarks_place place;
  uint32_t rows;
  uint64_t hash; /* over its rows */
};

/* The most lines of one run. */
enum { MOST_LINES = 1000 };

/* ---- objects ------------------------------------------------------------------------------------------------------------- */

static vyre_status
begin(vyre_bytes *out, const char *kind, const char *pass, uint64_t run, const char *input)
{
  VYRE_TRY(vyre_bytes_printf(out, "{\"kind\": \"%s\"", kind));
  VYRE_TRY(vyre_json_member(", ", "pass", pass, out));
  VYRE_TRY(vyre_bytes_printf(out, ", \"run\": %" PRIu64, run));
  return vyre_json_member(", ", "input", input, out);
}

/* Returns the kind of a message and removes it from the message. */
static const char *
split_kind(const char **message)
{
  static const char *const kinds[] = {"passed", "missed", "analysis"};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const size_t length = strlen(kinds[i]);
    if (strncmp(*message, kinds[i], length) == 0 && strncmp(*message + length, ": ", 2) == 0) {
      *message += length + 2;
      return kinds[i];
    }
  }
  return "analysis";
}

vyre_status
remarks_add(vyre_bytes *out, const char *input, const vyre_diagnostic *d)
{
  const vyre_plugin_code code = vyre_plugin_code_running();
  const char *message = d->message;
  const size_t length = code.pass ? strlen(code.pass) : 0;
  if (length && strncmp(message, code.pass, length) == 0 && strncmp(message + length, ": ", 2) == 0)
    message += length + 2;
  const char *kind = split_kind(&message);
  VYRE_TRY(begin(out, kind, code.pass, code.pass ? code.run : 0, input));
  VYRE_TRY(vyre_json_member(", ", "severity", console_severity(d->severity), out));
  VYRE_TRY(vyre_json_member(", ", "file", d->file, out));
  VYRE_TRY(vyre_bytes_printf(out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32, d->line, d->column));
  VYRE_TRY(vyre_json_member(", ", "message", message, out));
  if (d->fix)
    VYRE_TRY(vyre_json_member(", ", "fix", d->fix, out));
  return vyre_bytes_printf(out, "}\n");
}

/* ---- lines of a module --------------------------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

/* Returns the line with that place, NULL if there is none. */
static remarks_line *
find(const remarks_lines *lines, remarks_place place)
{
  remarks_line *line;
  HASH_FIND(hh, lines->all, &place, sizeof place, line);
  return line;
}

static void
free_lines(remarks_lines *lines)
{
  remarks_line *line, *next;
  HASH_ITER(hh, lines->all, line, next)
  {
    HASH_DEL(lines->all, line);
    free(line);
  }
}

/* Adds a line without rows.  Returns NULL if memory runs out. */
static remarks_line *
add_line(remarks_lines *to, remarks_place place)
{
  remarks_line *line = calloc(1, sizeof *line);
  if (!line)
    return NULL;
  line->place = place;
  HASH_ADD(hh, to->all, place, sizeof place, line);
  if (line->hh.tbl)
    return line;
  free(line);
  return NULL;
}

/* Collects the source lines of a module: for each, the number of its rows and a hash of them without row numbers. */
static vyre_status
read_lines(const vyre_module *module, remarks_lines *out)
{
  const vyre_view *view = vyre_module_view(module);
  *out = (remarks_lines){.rows = view->rows - 1};
  for (uint32_t row = 1; row < view->rows; row++) {
    remarks_place place;
    uint32_t column;
    if (!vyre_row_line(module, (vyre_row){row}, &place.file, &place.line, &column))
      place = (remarks_place){0};
    remarks_line *line = find(out, place);
    if (!line)
      line = add_line(out, place);
    if (!line)
      return VYRE_OUT_OF_MEMORY("for -remarks");
    line->rows++;
    line->hash = mix(mix(line->hash, (uint64_t)view->op[row] << 32 | view->imm[row]), view->imm_hi[row]);
  }
  return VYRE_OK;
}

static int
by_place(const void *a, const void *b)
{
  const remarks_place *first = a, *second = b;
  if (first->file != second->file)
    return first->file < second->file ? -1 : 1;
  return first->line < second->line ? -1 : first->line > second->line;
}

/* Adds the places at which the rows of the other module differ, or (`only_missing`) at which it has none. */
static uint32_t
add_different(const remarks_lines *of, const remarks_lines *other, bool only_missing, remarks_place *out, uint32_t count)
{
  for (const remarks_line *line = of->all; line && count < MOST_LINES; line = line->hh.next) {
    const remarks_line *same = find(other, line->place);
    if (line->place.line && (!same || (!only_missing && same->hash != line->hash)))
      out[count++] = line->place;
  }
  return count;
}

static vyre_status
add_lines(const vyre_module *module, const remarks_lines *before, const remarks_lines *after, vyre_bytes *out)
{
  remarks_place places[MOST_LINES];
  vyre_status status = vyre_bytes_printf(out, ", \"lines\": [");
  uint32_t count = add_different(before, after, false, places, 0);
  count = add_different(after, before, true, places, count);
  qsort(places, count, sizeof *places, by_place);
  for (uint32_t i = 0; i < count && !status; i++) {
    const remarks_line *was = find(before, places[i]), *is = find(after, places[i]);
    status = vyre_bytes_printf(out, "%s{\"file\": ", i ? ", " : "");
    if (!status)
      status = vyre_json_text(vyre_string_text(module, places[i].file), out);
    if (!status)
      status = vyre_bytes_printf(out, ", \"line\": %" PRIu32 ", \"rows_before\": %" PRIu32 ", \"rows\": %" PRIu32 "}",
                                 places[i].line, was ? was->rows : 0, is ? is->rows : 0);
  }
  return status ? status : vyre_bytes_append(out, "]", 1);
}

vyre_status
remarker_observe(remarker *r, const vyre_observation *at)
{
  remarks_lines after;
  if (at->when == VYRE_OBSERVE_BEFORE || (at->when == VYRE_OBSERVE_AFTER && !at->changed))
    return VYRE_OK;
  vyre_status status = read_lines(at->module, &after);
  if (!status && at->when == VYRE_OBSERVE_AFTER) {
    status = begin(r->out, "passed", at->pass, at->run, r->input);
    if (!status)
      status = vyre_bytes_printf(r->out, ", \"rows_before\": %" PRIu32 ", \"rows\": %" PRIu32, r->before.rows, after.rows);
    if (!status)
      status = add_lines(at->module, &r->before, &after, r->out);
    if (!status)
      status = vyre_bytes_printf(r->out, "}\n");
  }
  free_lines(&r->before);
  r->before = after;
  return status;
}

void
remarks_end(remarker *r)
{
  free_lines(&r->before);
}
