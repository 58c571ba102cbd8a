/* SPDX-License-Identifier: Apache-2.0 */
#include "figures.h"

#include "base/diff.h"
#include "base/json.h"
#include "cli/options/console.h"
#include "vyre/cross.h"
#include "vyre/io.h"
#include "vyre/ir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const unsigned char page_html[] = {
#include "page_html.inc"
};

/* The place of the data in the page. */
static const char place[] = "@DATA@";

/* Begins an object of the page's JSON list "items", with a kind such as "remark" or "run". */
static vyre_status
begin_item(vyre_bytes *out, const char *kind)
{
  const bool is_first = out->size && out->data[out->size - 1] == '[';
  return vyre_bytes_printf(out, "%s\n{\"kind\": \"%s\"", is_first ? "" : ",", kind);
}

vyre_status
page_begin(vyre_bytes *out, const char *input)
{
  VYRE_TRY(vyre_json_member("{", "input", input, out));
  return vyre_bytes_printf(out, ", \"items\": [");
}

vyre_status
page_add_message(vyre_bytes *out, const vyre_diagnostic *d)
{
  VYRE_TRY(begin_item(out, "remark"));
  VYRE_TRY(vyre_json_member(", ", "severity", console_severity(d->severity), out));
  VYRE_TRY(vyre_json_member(", ", "file", d->file, out));
  VYRE_TRY(vyre_json_member(", ", "message", d->message, out));
  return vyre_bytes_printf(out, ", \"line\": %" PRIu32 "}", d->line);
}

vyre_status
page_end(vyre_bytes *out, const char *error)
{
  VYRE_TRY(vyre_bytes_printf(out, "]"));
  VYRE_TRY(vyre_json_member(", ", "error", error, out));
  return vyre_bytes_printf(out, "},\n");
}

/* ---- figures of the driver ----------------------------------------------------------------------------------------------- */

/* Ends the figures of this input after an error, and reports it.  The report is an item, so do not call this within an item. */
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
  snprintf(message, sizeof message, "no figures from the driver: %.*s", (int)strcspn(text, "\n"), text);
  const vyre_diagnostic diagnostic = {.severity = VYRE_REMARK, .file = p->path, .message = message};
  if (p->messages.emit)
    p->messages.emit(p->messages.user, &diagnostic);
  vyre_status_free(status);
  p->driver = NULL;
  return VYRE_OK;
}

/* Appends the figures of the module. */
static vyre_status
print_figures(pager *p, const vyre_module *module, vyre_bytes *out)
{
  subjects *s = NULL;
  vyre_bytes list = {0};
  if (!p->driver)
    return VYRE_OK;
  vyre_status status = subjects_make(p->driver, module, p->path, NULL, &s);
  if (!status)
    status = subjects_measure(p->driver, s, &list);
  if (!status)
    status = vyre_bytes_printf(out, ", \"figures\": %s", list.data);
  subjects_free(s);
  vyre_bytes_free(&list);
  return refuse(p, status);
}

/* Appends the names of device and driver. */
static vyre_status
print_driver(const pager *p, vyre_bytes *out)
{
  vyre_device_info info;
  p->driver->ops->describe(p->driver->target, &info);
  VYRE_TRY(vyre_json_member(", ", "device", info.name, out));
  return vyre_json_member(", ", "driver", info.driver, out);
}

/* Appends the figures of the input and of the output. */
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

/* ---- GLSL ---------------------------------------------------------------------------------------------------------------- */

/* Appends the module as GLSL, or the reason for which SPIRV-Cross does not write it. */
static vyre_status
write_glsl(const pager *p, const vyre_module *module, vyre_bytes *out)
{
  vyre_bytes words = {0};
  vyre_status status = vyre_spirv_write(module, 0, NULL, &words);
  if (!status)
    status = vyre_cross_write(words.data, words.size, p->path, NULL, out);
  vyre_bytes_free(&words);
  if (!status || vyre_status_is_out_of_memory(status))
    return status;
  out->size = 0;
  vyre_status printed =
      vyre_bytes_printf(out, "// no GLSL: %.*s\n", (int)strcspn(vyre_status_text(status), "\n"), vyre_status_text(status));
  vyre_status_free(status);
  return printed;
}

/* Adds the GLSL of the module: the lines that changed since the last GLSL if `is_diff`, otherwise all of them. */
static vyre_status
add_glsl(pager *p, const vyre_module *module, bool is_diff)
{
  vyre_bytes text = {0}, lines = {0};
  if (!p->shows_glsl)
    return VYRE_OK;
  vyre_status status = write_glsl(p, module, &text);
  if (!status && is_diff)
    status = diff_lines(p->glsl.data, text.data, DIFF_GLSL, &lines);
  if (!status)
    status = vyre_json_member(", ", "glsl", !is_diff ? text.data : lines.size ? lines.data : "", p->out);
  vyre_bytes_free(&lines);
  vyre_bytes_free(&p->glsl);
  p->glsl = text;
  return status;
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

/* Appends the figures, if any, and ends the item. */
static vyre_status
end_item(vyre_bytes *out, const vyre_bytes *figures)
{
  if (figures->size)
    VYRE_TRY(vyre_bytes_append(out, figures->data, figures->size));
  return vyre_bytes_append(out, "}", 1);
}

static vyre_status
add_run(pager *p, const vyre_observation *at, const char *lines, uint64_t ns)
{
  vyre_bytes figures = {0};
  vyre_status status = at->changed ? print_figures(p, at->module, &figures) : VYRE_OK;
  if (!status)
    status = begin_item(p->out, "run");
  if (!status)
    status = vyre_json_member(", ", "pass", at->text, p->out);
  if (!status)
    status = vyre_bytes_printf(p->out, ", \"run\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"rows\": %" PRIu32 ", \"changed\": %s",
                               at->run, ns, vyre_module_view(at->module)->rows - 1, at->changed ? "true" : "false");
  if (!status && at->changed)
    status = vyre_json_member(", ", "diff", lines, p->out);
  if (!status && at->changed)
    status = add_glsl(p, at->module, true);
  if (!status)
    status = end_item(p->out, &figures);
  vyre_bytes_free(&figures);
  return status;
}

static vyre_status
add_start(pager *p, const vyre_observation *at, const char *text)
{
  vyre_bytes figures = {0};
  vyre_status status = p->driver ? refuse(p, subjects_make(p->driver, at->module, p->path, p->words, &p->given)) : VYRE_OK;
  if (!status)
    status = print_figures(p, at->module, &figures);
  if (!status && p->driver)
    status = print_driver(p, &figures);
  if (!status)
    status = begin_item(p->out, "start");
  if (!status)
    status = vyre_json_member(", ", "text", text, p->out);
  if (!status)
    status = vyre_bytes_printf(p->out, ", \"rows\": %" PRIu32, vyre_module_view(at->module)->rows - 1);
  if (!status)
    status = add_glsl(p, at->module, false);
  if (!status)
    status = end_item(p->out, &figures);
  vyre_bytes_free(&figures);
  return status;
}

vyre_status
pager_observe(pager *p, const vyre_observation *at, const char *text, uint64_t ns)
{
  return at->when == VYRE_OBSERVE_START   ? add_start(p, at, text)
         : at->when == VYRE_OBSERVE_AFTER ? add_run(p, at, text, ns)
                                          : VYRE_OK;
}

vyre_status
pager_end(pager *p, const vyre_module *module, const char *text)
{
  vyre_bytes figures = {0};
  vyre_status status = module ? print_comparison(p, module, &figures) : VYRE_OK;
  if (!status && text)
    status = begin_item(p->out, "end");
  if (!status && text)
    status = vyre_json_member(", ", "text", text, p->out);
  if (!status && text && module)
    status = add_glsl(p, module, false);
  if (!status && text)
    status = end_item(p->out, &figures);
  vyre_bytes_free(&p->glsl);
  subjects_free(p->given);
  p->given = NULL;
  vyre_bytes_free(&figures);
  return status;
}

/* Appends data for a script element.  Escapes '<', so that the data cannot end the element. */
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
  const unsigned char *at = memmem(page_html, sizeof page_html, place, strlen(place));
  const size_t before = (size_t)(at - page_html), after = before + strlen(place);
  const size_t size = parts->size > 2 ? parts->size - 2 : 0; /* without the last comma */
  vyre_bytes text = {0};
  VYRE_TRY(vyre_bytes_append(out, page_html, before));
  vyre_status status = vyre_json_text(pipeline, &text);
  VYRE_TRY(vyre_bytes_append(out, "{\"version\": 1, \"pipeline\": ", 26));
  if (!status)
    status = append_data(out, text.data, text.size);
  vyre_bytes_free(&text);
  VYRE_TRY(status);
  VYRE_TRY(vyre_bytes_append(out, ", \"inputs\": [\n", 14));
  VYRE_TRY(append_data(out, parts->data, size));
  VYRE_TRY(vyre_bytes_append(out, "\n]}", 3));
  return vyre_bytes_append(out, page_html + after, sizeof page_html - after);
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
