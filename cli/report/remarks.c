/* Docs at remarks.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "remarks.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lines that are told of one run. */
enum { MOST_LINES = 1000 };

/* ---- objects ------------------------------------------------------------------------------------------------------------- */

/* NULL is null. */
static vyre_status
add_text(vyre_bytes *out, const char *key, const char *text)
{
  VYRE_TRY(vyre_bytes_printf(out, ", \"%s\": ", key));
  return text ? vyre_json_text(text, out) : vyre_bytes_append(out, "null", 4);
}

static vyre_status
begin(vyre_bytes *out, const char *kind, const char *pass, uint64_t run, const char *input)
{
  VYRE_TRY(vyre_bytes_printf(out, "{\"kind\": \"%s\"", kind));
  VYRE_TRY(add_text(out, "pass", pass));
  VYRE_TRY(vyre_bytes_printf(out, ", \"run\": %" PRIu64, run));
  return add_text(out, "input", input);
}

/* Its word; the message is what follows it. */
static const char *
take_kind(const char **message)
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
  static const char *const severities[] = {"note", "remark", "warning", "error"}; /* ORDER: vyre_severity */
  const vyre_plugin_code code = vyre_plugin_code_running();
  const char *message = d->message;
  const size_t length = code.pass ? strlen(code.pass) : 0;
  if (length && strncmp(message, code.pass, length) == 0 && strncmp(message + length, ": ", 2) == 0)
    message += length + 2;
  const char *kind = take_kind(&message);
  VYRE_TRY(begin(out, kind, code.pass, code.pass ? code.run : 0, input));
  VYRE_TRY(add_text(out, "severity", severities[d->severity]));
  VYRE_TRY(add_text(out, "file", d->file));
  VYRE_TRY(vyre_bytes_printf(out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32, d->line, d->column));
  VYRE_TRY(add_text(out, "message", message));
  if (d->fix)
    VYRE_TRY(add_text(out, "fix", d->fix));
  return vyre_bytes_printf(out, "}\n");
}

/* ---- lines of a module --------------------------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

/* Of that line, or the free entry where it would be. */
static remarks_line *
find(const remarks_lines *lines, vyre_string file, uint32_t line)
{
  uint32_t at = (uint32_t)mix(file, line) & (lines->capacity - 1);
  while (lines->items[at].rows && (lines->items[at].file != file || lines->items[at].line != line))
    at = (at + 1) & (lines->capacity - 1);
  return &lines->items[at];
}

static vyre_status
grow(remarks_lines *lines)
{
  remarks_lines larger = {.capacity = lines->capacity ? 2 * lines->capacity : 64, .count = lines->count, .rows = lines->rows};
  larger.items = calloc(larger.capacity, sizeof *larger.items);
  if (!larger.items)
    return VYRE_OUT_OF_MEMORY("for -remarks");
  for (uint32_t i = 0; i < lines->capacity; i++)
    if (lines->items[i].rows)
      *find(&larger, lines->items[i].file, lines->items[i].line) = lines->items[i];
  free(lines->items);
  *lines = larger;
  return VYRE_OK;
}

/* What stands in it, but for the numbers of rows. */
static vyre_status
read_lines(const vyre_module *module, remarks_lines *out)
{
  const vyre_view *view = vyre_module_view(module);
  *out = (remarks_lines){.rows = view->rows - 1};
  for (uint32_t row = 1; row < view->rows; row++) {
    vyre_string file = 0;
    uint32_t line = 0, column;
    if (!vyre_row_line(module, (vyre_row){row}, &file, &line, &column))
      file = line = 0;
    if (2 * out->count >= out->capacity)
      VYRE_TRY(grow(out));
    remarks_line *entry = find(out, file, line);
    out->count += entry->rows == 0;
    *entry = (remarks_line){file, line, entry->rows + 1,
                            mix(mix(entry->hash, (uint64_t)view->op[row] << 32 | view->imm[row]), view->imm_hi[row])};
  }
  return VYRE_OK;
}

static int
by_place(const void *a, const void *b)
{
  const remarks_line *first = a, *second = b;
  if (first->file != second->file)
    return first->file < second->file ? -1 : 1;
  return first->line < second->line ? -1 : first->line > second->line;
}

/* Those of one module of which the other has something else, or (`only_missing`) nothing, in `out`; rows of both are counted. */
static uint32_t
add_different(const remarks_lines *of, const remarks_lines *other, bool only_missing, remarks_line *out, uint32_t count)
{
  for (uint32_t i = 0; i < of->capacity && count < MOST_LINES; i++) {
    const remarks_line *line = &of->items[i];
    const remarks_line *same = other->capacity ? find(other, line->file, line->line) : &(remarks_line){0};
    if (line->rows && line->line && (same->rows == 0 || (!only_missing && same->hash != line->hash)))
      out[count++] = *line;
  }
  return count;
}

static vyre_status
add_lines(const vyre_module *module, const remarks_lines *before, const remarks_lines *after, vyre_bytes *out)
{
  static const remarks_line none = {0};
  remarks_line *lines = calloc(MOST_LINES, sizeof *lines);
  if (!lines)
    return VYRE_OUT_OF_MEMORY("for -remarks");
  vyre_status status = vyre_bytes_printf(out, ", \"lines\": [");
  uint32_t count = add_different(before, after, false, lines, 0);
  count = add_different(after, before, true, lines, count);
  qsort(lines, count, sizeof *lines, by_place);
  for (uint32_t i = 0; i < count && !status; i++) {
    const remarks_line *was = before->capacity ? find(before, lines[i].file, lines[i].line) : &none;
    const remarks_line *is = after->capacity ? find(after, lines[i].file, lines[i].line) : &none;
    status = vyre_bytes_printf(out, "%s{\"file\": ", i ? ", " : "");
    if (!status)
      status = vyre_json_text(vyre_string_text(module, lines[i].file), out);
    if (!status)
      status = vyre_bytes_printf(out, ", \"line\": %" PRIu32 ", \"rows_before\": %" PRIu32 ", \"rows\": %" PRIu32 "}",
                                 lines[i].line, was->rows, is->rows);
  }
  free(lines);
  return status ? status : vyre_bytes_append(out, "]", 1);
}

vyre_status
remarks_look(remarker *r, const vyre_look *at)
{
  remarks_lines after;
  if (at->when == VYRE_LOOK_BEFORE || (at->when == VYRE_LOOK_AFTER && !at->changed))
    return VYRE_OK;
  vyre_status status = read_lines(at->module, &after);
  if (!status && at->when == VYRE_LOOK_AFTER) {
    status = begin(r->out, "passed", at->pass, at->run, r->input);
    if (!status)
      status = vyre_bytes_printf(r->out, ", \"rows_before\": %" PRIu32 ", \"rows\": %" PRIu32, r->before.rows, after.rows);
    if (!status)
      status = add_lines(at->module, &r->before, &after, r->out);
    if (!status)
      status = vyre_bytes_printf(r->out, "}\n");
  }
  free(r->before.items);
  r->before = after;
  return status;
}

void
remarks_end(remarker *r)
{
  free(r->before.items);
}
