/* SPDX-License-Identifier: Apache-2.0 */
#include "observer.h"

#include "base/clock.h"
#include "base/diff.h"
#include "base/files/paths.h"
#include "base/files/same_file.h"
#include "cli/process.h"

#include "vyre/ir.h"
#include "vyre/text.h"
#include "vyre/vir0.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool
observer_prints(const tool_options *o)
{
  return o->print_before_all || o->print_after_all || o->print_changed || o->print_before.count || o->print_after.count ||
         o->dump_dir || o->roundtrip || o->tv.text;
}

bool
observer_is_needed(const tool_options *o)
{
  return observer_prints(o) || o->remarks || o->html;
}

/* Returns whether a name of the list is the pass's name or the run's number. */
static bool
is_named(const name_list *names, const vyre_observation *at)
{
  char number[24];
  snprintf(number, sizeof number, "%" PRIu64, at->run);
  for (uint32_t i = 0; i < names->count; i++)
    if (strcmp(names->names[i], at->pass) == 0 || strcmp(names->names[i], number) == 0)
      return true;
  return false;
}

/* Prints "; *** after acme.unroll<factor=4> (run 3) ***". */
static vyre_status
print_banner(const observer *l, const vyre_observation *at)
{
  char text[1200];
  if (at->when == VYRE_OBSERVE_START)
    snprintf(text, sizeof text, "; *** at the start ***\n");
  else
    snprintf(text, sizeof text, "; *** %s %.1000s (run %" PRIu64 ")%s ***\n", at->when == VYRE_OBSERVE_BEFORE ? "before" : "after",
             at->text, at->run, at->when == VYRE_OBSERVE_AFTER && l->options->print_changed && !at->changed ? ": no change" : "");
  process_print(l->said, text, strlen(text));
  return VYRE_OK;
}

/* Prints a diff with the colours of a terminal: red for removed, green for added lines. */
static void
print_in_colours(const observer *l, const vyre_bytes *lines)
{
  for (size_t at = 0; at < lines->size;) {
    const char *line = lines->data + at, *end = memchr(line, '\n', lines->size - at);
    const size_t length = end ? (size_t)(end - line) : lines->size - at;
    const char *colour = *line == '-' ? "\033[31m" : *line == '+' ? "\033[32m" : *line == '@' ? "\033[36m" : "";
    process_print(l->said, colour, strlen(colour));
    process_print(l->said, line, length);
    process_print(l->said, *colour ? "\033[0m\n" : "\n", *colour ? 5 : 1);
    at += length + 1;
  }
}

/* Returns whether -print-changed prints differences. */
static bool
prints_diff(const tool_options *o)
{
  return o->print_changed && strcmp(o->print_changed, "text") != 0;
}

/* Prints the module, or the lines that differ from the last text.  `lines` is NULL if no text was shown before. */
static void
print_dump(const observer *l, const vyre_bytes *text, const vyre_bytes *lines)
{
  const tool_options *o = l->options;
  if (!prints_diff(o) || !lines)
    process_print(l->said, text->data, text->size);
  else if (lines->size && strcmp(o->print_changed, "cdiff") == 0)
    print_in_colours(l, lines);
  else if (lines->size)
    process_print(l->said, lines->data, lines->size);
}

/* Keeps the text for the next difference. */
static vyre_status
keep_shown(observer *l, const vyre_bytes *text)
{
  l->shown.size = 0;
  VYRE_TRY(vyre_bytes_append(&l->shown, text->data, text->size));
  return vyre_bytes_append(&l->shown, "", 1);
}

/* Writes DIR/INPUT.0003-canon.vir, with _ for / in the input's path. */
static vyre_status
dump(const observer *l, const vyre_observation *at, const vyre_bytes *text)
{
  char path[PATH_MAX], name[256];
  const char *folder = l->options->dump_dir;
  snprintf(name, sizeof name, "%s", strcmp(l->path, "-") == 0 ? "stdin" : l->path);
  for (char *c = name; *c; c++)
    *c = path_is_mark(*c) ? '_' : *c;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name a folder that can be written in -dump-dir",
                      folder, strerror(errno));
  if ((size_t)snprintf(path, sizeof path, "%s/%s.%04" PRIu64 "-%s.vir", folder, name, at->run, at->pass ? at->pass : "start") >=
      sizeof path)
    return VYRE_ERROR(VYRE_CODE_INPUT, "-dump-dir: the path of a file is too long\nFix: name a folder with a shorter path");
  for (uint32_t i = 0; i < l->options->inputs.count; i++) { /* inputs may be files of an earlier -dump-dir */
    const char *input = l->options->inputs.names[i];
    if (same_written(input, path))
      return VYRE_ERROR(VYRE_CODE_INPUT, "-dump-dir would overwrite '%s', which is an input\nFix: name another folder", path);
  }
  return vyre_file_write(path, text->data, text->size);
}

/* ---- -roundtrip-each ----------------------------------------------------------------------------------------------------- */

static vyre_status
check_equal(const char *what, const vyre_bytes *was, const vyre_bytes *is)
{
  if (was->size == is->size && memcmp(was->data, is->data, was->size) == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INTERNAL,
                    "the module's %s changes when it is read and written again\nFix: report the bug, with the "
                    "files of -dump-dir",
                    what);
}

static vyre_status
roundtrip_text(const vyre_bytes *text)
{
  vyre_module *again = NULL;
  vyre_bytes second = {0};
  VYRE_TRY(vyre_module_create(NULL, 0, &again));
  vyre_status status = vyre_text_parse(again, text->data, text->size, "the text", (vyre_diagnostics){0});
  if (!status)
    status = vyre_text_print(again, NULL, &second);
  if (!status)
    status = check_equal("text", text, &second);
  vyre_bytes_free(&second);
  vyre_module_destroy(again);
  return status;
}

/* Checks the round trip through VIR0, or through a copy if `is_clone` is set. */
static vyre_status
roundtrip_bytes(const vyre_module *module, bool is_clone)
{
  vyre_module *again = NULL;
  vyre_bytes first = {0}, second = {0};
  vyre_status status = vyre_vir0_write(module, NULL, 0, &first);
  if (!status)
    status = is_clone ? vyre_module_clone(module, &again) : vyre_module_create(NULL, 0, &again);
  if (!status && !is_clone)
    status = vyre_vir0_read(again, first.data, first.size, "VIR0", NULL, 0);
  if (!status)
    status = vyre_vir0_write(again, NULL, 0, &second);
  if (!status)
    status = check_equal(is_clone ? "copy" : "VIR0", &first, &second);
  vyre_bytes_free(&first);
  vyre_bytes_free(&second);
  vyre_module_destroy(again);
  return status;
}

static vyre_status
roundtrip(const char *by, const vyre_observation *at, const vyre_bytes *text)
{
  const bool is_all = strcmp(by, "all") == 0;
  vyre_status status = VYRE_OK;
  if (is_all || strcmp(by, "text") == 0)
    status = roundtrip_text(text);
  if (!status && (is_all || strcmp(by, "vir0") == 0))
    status = roundtrip_bytes(at->module, false);
  if (!status && (is_all || strcmp(by, "clone") == 0))
    status = roundtrip_bytes(at->module, true);
  return vyre_status_note(status, "for -roundtrip-each=%s", by);
}

/* -------------------------------------------------------------------------------------------------------------------------- */

/* Returns whether a heading is printed.  *out_whole is whether the module is printed, too.  -print-changed prints the heading of a
 * run without changes only with -v. */
static bool
is_printed(const tool_options *o, const vyre_observation *at, bool *out_whole)
{
  *out_whole = true;
  if (at->when == VYRE_OBSERVE_START)
    return o->print_changed != NULL;
  if (at->when == VYRE_OBSERVE_BEFORE)
    return o->print_before_all || is_named(&o->print_before, at);
  if (o->print_after_all || is_named(&o->print_after, at))
    return true;
  *out_whole = at->changed;
  return o->print_changed != NULL && (at->changed || o->is_verbose);
}

/* Serves all options that print, keep or compare the module's text. */
static vyre_status
observe_text(observer *l, const vyre_observation *at, uint64_t ns)
{
  const tool_options *o = l->options;
  vyre_bytes text = {0}, lines = {0};
  bool is_whole;
  const bool prints = is_printed(o, at, &is_whole), says = prints && is_whole,
             is_new = at->when == VYRE_OBSERVE_START || (at->when == VYRE_OBSERVE_AFTER && at->changed);
  const bool shows = (says && prints_diff(o)) || (l->pager.out && is_new), has_shown = l->shown.size > 0;
  vyre_status status = VYRE_OK;
  if (says || shows || ((o->dump_dir || o->roundtrip) && is_new))
    status = vyre_text_print(at->module, NULL, &text);
  if (!status)
    status = vyre_bytes_append(&text, "", 0); /* never NULL */
  if (!status && shows && has_shown)
    status = diff_lines(l->shown.data, text.data, DIFF_IR, &lines);
  if (!status && prints)
    status = print_banner(l, at);
  if (!status && says)
    print_dump(l, &text, has_shown ? &lines : NULL);
  if (!status && shows)
    status = keep_shown(l, &text);
  if (!status && o->dump_dir && is_new)
    status = dump(l, at, &text);
  if (!status && o->roundtrip && is_new)
    status = roundtrip(o->roundtrip, at, &text);
  if (!status && l->remarker.out)
    status = remarker_observe(&l->remarker, at);
  if (!status && l->pager.out)
    status = pager_observe(&l->pager, at, has_shown && lines.data ? lines.data : has_shown ? "" : text.data, ns);
  vyre_bytes_free(&lines);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
observer_observe(void *user, const vyre_observation *at)
{
  observer *l = user;
  vyre_status status = observe_text(l, at, clock_now() - l->began);
  if (!status && l->options->tv.text) /* last, so that the module is printed before an error */
    status = validator_observe(&l->validator, at);
  l->began = clock_now();
  return status;
}

vyre_status
observer_end(observer *l, const vyre_module *module)
{
  vyre_status status = l->pager.out ? pager_end(&l->pager, module, l->shown.size ? l->shown.data : NULL) : VYRE_OK;
  vyre_bytes_free(&l->shown);
  validator_end(&l->validator);
  remarks_end(&l->remarker);
  return status;
}
