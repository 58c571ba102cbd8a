/* Docs at page.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include "diff.h"
#include "base/json.h"
#include "cli/process.h"
#include "vyre/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where the data go. */
static const char place[] = "@DATA@";

/* An element of a list. */
static vyre_status
begin_item(vyre_bytes *out, const char *kind)
{
  const bool is_first = out->size && out->data[out->size - 1] == '[';
  return vyre_bytes_printf(out, "%s\n{\"kind\": \"%s\"", is_first ? "" : ",", kind);
}

static vyre_status
add_text(vyre_bytes *out, const char *key, const char *text)
{
  VYRE_TRY(vyre_bytes_printf(out, ", \"%s\": ", key));
  return text ? vyre_json_text(text, out) : vyre_bytes_append(out, "null", 4);
}

vyre_status
page_begin(vyre_bytes *out, const char *input)
{
  VYRE_TRY(vyre_bytes_append(out, "{\"input\": ", 10));
  VYRE_TRY(vyre_json_text(input, out));
  return vyre_bytes_printf(out, ", \"items\": [");
}

vyre_status
page_add_message(vyre_bytes *out, const vyre_diagnostic *d)
{
  static const char *const severities[] = {"note", "remark", "warning", "error"}; /* ORDER: vyre_severity */
  VYRE_TRY(begin_item(out, "remark"));
  VYRE_TRY(add_text(out, "severity", severities[d->severity]));
  VYRE_TRY(add_text(out, "file", d->file));
  VYRE_TRY(add_text(out, "message", d->message));
  return vyre_bytes_printf(out, ", \"line\": %" PRIu32 "}", d->line);
}

vyre_status
page_end(vyre_bytes *out, const char *error)
{
  VYRE_TRY(vyre_bytes_printf(out, "]"));
  VYRE_TRY(add_text(out, "error", error));
  return vyre_bytes_printf(out, "},\n");
}

/* ---- what a driver tells ------------------------------------------------------------------------------------------------- */

/* No figures of this input any more, and why.  That is an item by itself: never within one. */
static vyre_status
refuse(pager *p, vyre_status status)
{
  if (!status || vyre_status_is_out_of_memory(status))
    return status;
  char message[600];
  const char *text = vyre_status_text(status);
  const size_t length = strlen(p->path);
  if (strncmp(text, p->path, length) == 0 && strncmp(text + length, ": ", 2) == 0) /* the diagnostic names the file */
    text += length + 2;
  snprintf(message, sizeof message, "no figures of a driver: %.*s", (int)strcspn(text, "\n"), text);
  const vyre_diagnostic diagnostic = {.severity = VYRE_REMARK, .file = p->path, .message = message};
  if (p->messages.emit)
    p->messages.emit(p->messages.user, &diagnostic);
  vyre_status_free(status);
  p->driver = NULL;
  return VYRE_OK;
}

/* Appends those of the module as it is. */
static vyre_status
print_figures(pager *p, const vyre_module *module, vyre_bytes *out)
{
  subjects *s = NULL;
  vyre_bytes list = {0};
  if (!p->driver)
    return VYRE_OK;
  vyre_status status = subjects_make(p->driver, module, p->path, NULL, &s);
  if (!status)
    status = subjects_ask(p->driver, s, &list);
  if (!status)
    status = vyre_bytes_printf(out, ", \"figures\": %s", list.data);
  subjects_free(s);
  vyre_bytes_free(&list);
  return refuse(p, status);
}

/* Appends whose figures there are, whatever becomes of the input. */
static vyre_status
print_driver(const pager *p, vyre_bytes *out)
{
  vyre_device_info info;
  p->driver->ops->describe(p->driver->target, &info);
  VYRE_TRY(add_text(out, "device", info.name));
  return add_text(out, "driver", info.driver);
}

/* Appends those of the output beside the input's. */
static vyre_status
print_comparison(pager *p, const vyre_module *module, vyre_bytes *out)
{
  subjects *s = NULL;
  vyre_bytes given = {0}, made = {0};
  if (!p->driver)
    return VYRE_OK;
  vyre_status status = subjects_make(p->driver, module, p->path, NULL, &s);
  if (!status)
    status = subjects_compare(p->driver, p->given, s, &given, &made);
  if (!status)
    status = vyre_bytes_printf(out, ", \"given\": %s, \"figures\": %s", given.data, made.data);
  subjects_free(s);
  vyre_bytes_free(&given);
  vyre_bytes_free(&made);
  return refuse(p, status);
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
keep(pager *p, const vyre_bytes *text)
{
  p->shown.size = 0;
  VYRE_TRY(vyre_bytes_append(&p->shown, text->data, text->size));
  return vyre_bytes_append(&p->shown, "", 1);
}

static vyre_status
add_change(pager *p, const vyre_look *at)
{
  vyre_bytes text = {0}, lines = {0};
  vyre_status status = vyre_text_print(at->module, NULL, &text);
  if (!status)
    status = vyre_bytes_append(&text, "", 1);
  if (!status)
    status = diff_lines(p->shown.data, text.data, &lines);
  if (!status)
    status = vyre_bytes_append(&lines, "", 1);
  if (!status)
    status = add_text(p->out, "diff", lines.data);
  text.size -= text.size > 0;
  if (!status)
    status = keep(p, &text);
  vyre_bytes_free(&text);
  vyre_bytes_free(&lines);
  return status;
}

/* With figures, if there are some. */
static vyre_status
end_item(vyre_bytes *out, const vyre_bytes *figures)
{
  if (figures->size)
    VYRE_TRY(vyre_bytes_append(out, figures->data, figures->size));
  return vyre_bytes_append(out, "}", 1);
}

static vyre_status
add_run(pager *p, const vyre_look *at)
{
  const uint64_t took = process_now() - p->start;
  vyre_bytes figures = {0};
  vyre_status status = at->changed ? print_figures(p, at->module, &figures) : VYRE_OK;
  if (!status)
    status = begin_item(p->out, "run");
  if (!status)
    status = add_text(p->out, "pass", at->text);
  if (!status)
    status = vyre_bytes_printf(p->out, ", \"run\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"rows\": %" PRIu32 ", \"changed\": %s",
                               at->run, took, vyre_module_view(at->module)->rows - 1, at->changed ? "true" : "false");
  if (!status && at->changed)
    status = add_change(p, at);
  if (!status)
    status = end_item(p->out, &figures);
  vyre_bytes_free(&figures);
  return status;
}

static vyre_status
add_start(pager *p, const vyre_look *at)
{
  vyre_bytes text = {0}, figures = {0};
  vyre_status status = vyre_text_print(at->module, NULL, &text);
  if (!status)
    status = keep(p, &text);
  if (!status && p->driver)
    status = refuse(p, subjects_make(p->driver, at->module, p->path, p->words, &p->given));
  if (!status)
    status = print_figures(p, at->module, &figures);
  if (!status && p->driver)
    status = print_driver(p, &figures);
  if (!status)
    status = begin_item(p->out, "start");
  if (!status)
    status = add_text(p->out, "text", p->shown.data);
  if (!status)
    status = vyre_bytes_printf(p->out, ", \"rows\": %" PRIu32, vyre_module_view(at->module)->rows - 1);
  if (!status)
    status = end_item(p->out, &figures);
  vyre_bytes_free(&figures);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
pager_look(pager *p, const vyre_look *at)
{
  vyre_status status = at->when == VYRE_LOOK_START ? add_start(p, at) : at->when == VYRE_LOOK_AFTER ? add_run(p, at) : VYRE_OK;
  p->start = process_now(); /* of what comes next: looking takes time of its own */
  return status;
}

vyre_status
pager_end(pager *p, const vyre_module *module)
{
  vyre_bytes figures = {0};
  vyre_status status = module ? print_comparison(p, module, &figures) : VYRE_OK;
  if (!status && p->shown.size)
    status = begin_item(p->out, "end");
  if (!status && p->shown.size)
    status = add_text(p->out, "text", p->shown.data);
  if (!status && p->shown.size)
    status = end_item(p->out, &figures);
  subjects_free(p->given);
  p->given = NULL;
  vyre_bytes_free(&figures);
  vyre_bytes_free(&p->shown);
  return status;
}

/* Nothing in it ends the element that it stands in. */
static vyre_status
append_data(vyre_bytes *out, const char *text, size_t size)
{
  for (size_t at = 0; at < size;) {
    const char *less = memchr(text + at, '<', size - at);
    const size_t plain = less ? (size_t)(less - text) - at : size - at;
    VYRE_TRY(vyre_bytes_append(out, text + at, plain));
    if (less)
      VYRE_TRY(vyre_bytes_append(out, "\\u003c", 6));
    at += plain + (less != NULL);
  }
  return VYRE_OK;
}

static vyre_status
fill(const char *pipeline, const vyre_bytes *parts, vyre_bytes *out)
{
  const char *html = (const char *)page_html, *at = memmem(html, page_html_size, place, strlen(place));
  const size_t before = (size_t)(at - html), after = before + strlen(place);
  const size_t size = parts->size > 2 ? parts->size - 2 : 0; /* without the last comma */
  vyre_bytes text = {0};
  VYRE_TRY(vyre_bytes_append(out, html, before));
  vyre_status status = vyre_json_text(pipeline, &text);
  VYRE_TRY(vyre_bytes_append(out, "{\"version\": 1, \"pipeline\": ", 26));
  if (!status)
    status = append_data(out, text.data, text.size);
  vyre_bytes_free(&text);
  VYRE_TRY(status);
  VYRE_TRY(vyre_bytes_append(out, ", \"inputs\": [\n", 14));
  VYRE_TRY(append_data(out, parts->data, size));
  VYRE_TRY(vyre_bytes_append(out, "\n]}", 3));
  return vyre_bytes_append(out, html + after, page_html_size - after);
}

vyre_status
page_write(const char *path, const char *pipeline, const vyre_bytes *parts)
{
  vyre_bytes page = {0};
  vyre_status status = fill(pipeline, parts, &page);
  if (!status)
    status = vyre_file_write(path, page.data, page.size);
  vyre_bytes_free(&page);
  return status;
}
