/* Processes an input: reads, verifies, runs the pipeline, verifies, writes to memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "process_steps.h"

#include "compiled.h"
#include "cli/report/dot.h"
#include "cli/report/observer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/inputs/specialize.h"
#include "cli/options/console.h"
#include "tools/run/guard.h"
#include "cli/outputs/outputs.h"
#include "cli/report/progress.h"
#include "run_parts.h"
#include "vyre/c.h"
#include "vyre/cross.h"
#include "vyre/glsl.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/vir0.h"

/* ---- messages and times -------------------------------------------------------------------------------------------------- */

void
process_print(vyre_bytes *said, const char *text, size_t length)
{
  if (said && vyre_status_code(vyre_bytes_append(said, text, length)) == VYRE_CODE_OK)
    return;
  progress_clear();
  fwrite(text, 1, length, stderr);
}

static void
append_message(void *user, const char *text, size_t length)
{
  process_print(user, text, length);
}

/* Prints "FILE:LINE: error: TEXT" for a message. */
static void
print_short(const source *from, const vyre_diagnostic *diagnostic, bool is_error)
{
  const char *text = diagnostic->message + strspn(diagnostic->message, " ");
  size_t length = strcspn(text, "\n");
  vyre_bytes line = {0};
  while (length && text[length - 1] == ' ')
    length--;
  vyre_status status = vyre_bytes_printf(&line, "%s:", diagnostic->file ? diagnostic->file : from->path);
  if (!status && diagnostic->line)
    status = vyre_bytes_printf(&line, "%u:", diagnostic->line);
  if (!status)
    status = vyre_bytes_printf(&line, " %s: %.*s\n", is_error ? "error" : "warning", (int)length, text);
  const char *fix = strstr(text, "\nFix: "); /* only vyre's own messages have it */
  if (!status && fix)
    status = vyre_bytes_printf(&line, "%s\n", fix + 1);
  if (!status)
    process_print(from->said, line.data, line.size);
  vyre_status_free(status);
  vyre_bytes_free(&line);
}

static void
emit(void *user, const vyre_diagnostic *diagnostic)
{
  source *from = user;
  if (from->remarks) /* out of memory loses the remark */
    vyre_status_free(remarks_add(from->remarks, from->path, diagnostic));
  if (from->page)
    vyre_status_free(page_add_message(from->page, diagnostic));
  const bool is_error = diagnostic->severity == VYRE_SEVERE || (from->options->short_messages && from->options->forbids_warnings);
  if (diagnostic->severity == VYRE_SEVERE || (diagnostic->severity == VYRE_WARNING && options_show(from->options, VYRE_WARNING)))
    *(is_error ? &from->errors : &from->warnings) += 1;
  if (diagnostic->severity != VYRE_NOTE)
    from->is_shown = options_show(from->options, diagnostic->severity);
  if (!from->is_shown)
    return;
  if (from->options->short_messages) {
    print_short(from, diagnostic, is_error);
    return;
  }
  if (!diagnostic->file)
    process_print(from->said, "vyre-passmgr: ", 14);
  console_format(diagnostic, append_message, from->said);
}

static void
print(void *user, const char *text, size_t length)
{
  process_print(user, text, length);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

void
process_find_source(const process *p, work *w, vyre_bytes *said, source *out)
{
  const tool_options *o = p->options;
  out->options = o;
  out->path = strcmp(w->path, "-") == 0 ? "<stdin>" : w->path;
  out->glsl = o->compile;
  out->said = said;
  out->remarks = o->remarks ? &w->notes[NOTE_REMARKS] : NULL;
  out->page = o->html ? &w->notes[NOTE_PAGE] : NULL;
  out->diagnostics = (vyre_diagnostics){emit, out};
}

/* Replaces the module by the result of SPIRV-Tools, for the options -spirv-tools... */
static vyre_status
apply_spirv_tools(const name_list *flags, const char *what, const source *from, vyre_bytes *module)
{
  vyre_bytes out = {0};
  if (flags->count == 0)
    return VYRE_OK;
  if (!vyre_spirv_is(module->data, module->size))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "the %s '%s' is not a binary SPIR-V module, which SPIRV-Tools needs\nFix: compile or assemble it first", what,
                      from->path);
  VYRE_TRY(vyre_spirv_tools_run(module->data, module->size, from->path, flags->names, flags->count, &from->glsl, from->diagnostics,
                                &out));
  vyre_bytes_free(module);
  *module = out;
  return VYRE_OK;
}

static vyre_status
read_file(const process *p, const work *w, source *from)
{
  if (!from->is_read && w->given)
    VYRE_TRY(vyre_bytes_append(&from->bytes, w->given->data, w->given->size));
  else if (!from->is_read)
    VYRE_TRY(archives_read(&p->options->archives, w->path, &from->bytes));
  from->is_read = true;
  if (!from->is_accepted)
    VYRE_TRY(apply_spirv_tools(&p->options->spirv_tools, "input", from, &from->bytes));
  from->is_accepted = true;
  return VYRE_OK;
}

vyre_status
process_read_input(const process *p, vyre_module *module, work *w, source *from)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .print = print, .print_user = from->said};
  vyre_stopwatch watch;
  uint64_t glslang = 0;
  vyre_stopwatch_start(&watch, NULL, "(read)");
  from->glsl.nanoseconds = &glslang;
  from->glsl.words = &from->words;
  from->words.size = 0;
  vyre_module_set_growth(module, (uint32_t)p->options->max_growth.value);
  vyre_module_set_keeps_vectors(module, p->options->keep_vectors);
  vyre_status status = read_file(p, w, from);
  if (!status)
    status = vyre_input_parse(module, from->path, from->bytes.data ? from->bytes.data : "", from->bytes.size, &from->glsl,
                              from->diagnostics, &w->kind);
  from->glsl.nanoseconds = NULL;
  from->glsl.words = NULL;
  VYRE_TRY(status);
  watch.inner_wall = glslang;
  vyre_report_stop(w->report, &watch);
  if (glslang && w->report) /* the time of reading starts with glslang */
    vyre_report_add_time(w->report, "glslang", watch.wall, glslang);
  if (!p->options->variants.count)
    VYRE_TRY(specialize(p->options, 0, module, from->path));
  const vyre_source input = {.path = from->path, .data = from->bytes.data, .size = from->bytes.size, .kind = w->kind};
  vyre_stopwatch_start(&watch, NULL, "(verify)");
  if (w->kind == VYRE_INPUT_VIR) /* other kinds are verified when they are read */
    VYRE_TRY(vyre_source_check(&input, module, &options));
  vyre_report_stop(w->report, &watch);
  return VYRE_OK;
}

/* ---- running, writing ---------------------------------------------------------------------------------------------------- */

vyre_status
process_run_passes(const process *p, vyre_module *module, vyre_report *report, vyre_diagnostics diagnostics, const char *path,
                   vyre_bytes *printed, const source *from)
{
  const tool_options *o = p->options;
  run_choice runs = o->runs;
  observer looking = {.options = o,
                      .path = path,
                      .said = printed,
                      .validator = {.inputs = o->tv.value, .said = printed},
                      .remarker = {.input = path, .out = from ? from->remarks : NULL},
                      .pager = {.out = from ? from->page : NULL,
                                .driver = p->driver,
                                .path = path,
                                .words = from ? &from->words : NULL,
                                .messages = diagnostics,
                                .shows_glsl = o->html_glsl}};
  const vyre_pipeline_options options = {
      .struct_size = sizeof options,
      .wants_run = o->runs.range_count || o->runs.skip_count || o->runs.is_bounded ? runs_select : NULL,
      .wants_user = &runs,
      .print_runs = o->list_runs || o->debug_manager,
      .print_work = o->debug_manager,
      .verify_each = o->verify_each,
      .run_twice = o->run_twice,
      .device = p->device,
      .no_fuse = o->no_fuse,
      .cost_model = p->cost_model,
      .denies_files = o->denies_files,
      .observe = observer_is_needed(o) ? observer_observe : NULL,
      .observe_user = &looking,
      .print = print,
      .print_user = printed,
      .diagnostics = diagnostics,
      .report = report,
  };
  if (!p->pipeline)
    return VYRE_OK;
  vyre_status status = vyre_pipeline_run(p->pipeline, module, &options);
  status = vyre_status_join(status, observer_end(&looking, status ? NULL : module));
  if (p->home >= 0 && fchdir(p->home) != 0) /* a pass may have changed it */
    status = vyre_status_join(
        status, VYRE_ERROR(VYRE_CODE_USAGE,
                           "cannot return to the working folder: %s\nFix: keep the folder in place, and do not change it in a pass",
                           strerror(errno)));
  VYRE_TRY(status);
  vyre_stopwatch watch;
  vyre_stopwatch_start(&watch, NULL, "(verify)");
  if (!o->verify_each)
    VYRE_TRY(vyre_status_note(vyre_module_check(module, &options), "after the last pass; -verify-each finds the pass"));
  vyre_report_stop(report, &watch);
  return VYRE_OK;
}

/* Returns whether the SPIR-V of a shader is written as it is: without a pipeline, and without an option that changes it. */
static bool
is_copied(const process *p, vyre_input_kind kind)
{
  const tool_options *o = p->options;
  return !p->pipeline && !o->strip && !o->exact_floats && !is_specialized(o) && kind != VYRE_INPUT_VIR && kind != VYRE_INPUT_VIR0;
}

static vyre_status
write_spirv(const process *p, const vyre_module *module, const vyre_source *input, vyre_bytes *out)
{
  const tool_options *o = p->options;
  const vyre_spirv_options options = {
      .struct_size = sizeof options, .strip = o->strip, .float_controls = o->exact_floats ? VYRE_FLOAT_CONTROLS_ALL : 0};
  return is_copied(p, input->kind) ? vyre_source_copy(input, out) : vyre_source_write(module, 0, &options, input, out);
}

/* Writes SPIR-V, and from it a text by SPIRV-Cross. */
static vyre_status
write_text(const process *p, const vyre_module *module, const vyre_source *input, vyre_cross_language language, vyre_bytes *out)
{
  vyre_bytes words = {0};
  vyre_status status = write_spirv(p, module, input, &words);
  if (!status)
    status = vyre_cross_write(words.data, words.size, input->path, &p->options->cross[language], out);
  vyre_bytes_free(&words);
  return status;
}

static vyre_status export(const process *p, const vyre_module *module, work *w, const source *from)
{
  const tool_options *o = p->options;
  const vyre_ptx_options ptx_options = {.struct_size = sizeof ptx_options, .sm = (uint32_t)o->ptx_sm.value};
  const vyre_source input = {.path = from->path,
                             .data = from->bytes.data,
                             .size = from->bytes.size,
                             .kind = w->kind,
                             .glsl = &from->glsl,
                             .words = w->kind == VYRE_INPUT_SPIRV ? NULL : &from->words,
                             .diagnostics = from->diagnostics};
  switch (outputs_form(o, w->kind)) {
  case OUTPUT_SPIRV:
  case OUTPUT_ASSEMBLY:
    return write_spirv(p, module, &input, &w->output);
  case OUTPUT_VIR0:
    return vyre_vir0_write(module, NULL, 0, &w->output);
  case OUTPUT_GLSL:
    return write_text(p, module, &input, VYRE_CROSS_GLSL, &w->output);
  case OUTPUT_HLSL:
    return write_text(p, module, &input, VYRE_CROSS_HLSL, &w->output);
  case OUTPUT_MSL:
    return write_text(p, module, &input, VYRE_CROSS_MSL, &w->output);
  case OUTPUT_REFLECTION:
    return write_text(p, module, &input, VYRE_CROSS_REFLECTION, &w->output);
  case OUTPUT_C:
    return vyre_c_write(module, VYRE_NONE, NULL, &w->output);
  case OUTPUT_DOT:
    return dot_write(module, &w->output);
  case OUTPUT_PTX:
    return vyre_ptx_write(module, VYRE_NONE, &ptx_options, &w->output);
  default:
    return vyre_text_print(module, NULL, &w->output);
  }
}

/* Fails for an input with warnings, if -Werror is given. */
static vyre_status
check_warnings(const source *from)
{
  if (from->options->short_messages && from->errors) /* with -Werror, the errors include warnings */
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the shader has errors\nFix: correct the shader as the messages say", from->path);
  if (!from->options->forbids_warnings || !from->warnings)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: -Werror makes %u warning%s an error\nFix: mend the shader, or leave out -Werror",
                    from->path, from->warnings, from->warnings == 1 ? "" : "s");
}

/* Fails for -fail-if-unoptimized if the module, or an entry point, is not optimized. */
static vyre_status
check_optimized(const process *p, vyre_module *module, const source *from)
{
  const vyre_input *input = vyre_module_input_count(module) == 1 ? vyre_module_input(module, 0) : NULL;
  if (!p->options->fail_if_unoptimized || !p->pipeline || !input || (!input->remark && !input->stages))
    return VYRE_OK;
  const size_t length = strlen(from->path);
  const char *why = vyre_string_text(module, input->remark ? input->remark : input->stages);
  if (strncmp(why, from->path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
    why += length + 2;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: -fail-if-unoptimized: %s%.*s\nFix: leave out the option for this input", from->path,
                    input->remark ? "" : "these entry points are not optimized: ", (int)strcspn(why, "\n"), why);
}

/* Returns whether vyre kept the input's SPIR-V as it was, because it cannot convert the module. */
static bool
is_kept(vyre_module *module)
{
  return vyre_module_input_count(module) == 1 && vyre_module_input(module, 0)->remark;
}

vyre_status
process_make_output(const process *p, vyre_module *module, work *w, const source *from)
{
  vyre_stopwatch watch;
  vyre_stopwatch_start(&watch, NULL, "(export)");
  const vyre_source input = {.path = from->path, .kind = w->kind, .diagnostics = from->diagnostics};
  VYRE_TRY(check_optimized(p, module, from));
  VYRE_TRY(export(p, module, w, from));
  const bool is_copy = p->options->spirv_tools_copied.count && is_kept(module);
  VYRE_TRY(
      apply_spirv_tools(is_copy ? &p->options->spirv_tools_copied : &p->options->spirv_tools_after, "output of", from, &w->output));
  VYRE_TRY(compiled_finish(p->options, &input, &w->output));
  vyre_report_stop(w->report, &watch);
  return check_warnings(from);
}

bool
process_find_cached(const process *p, work *w, source *from)
{
  vyre_stopwatch watch;
  if (!p->cache)
    return false;
  vyre_stopwatch_start(&watch, NULL, "(cache)");
  vyre_status status = read_file(p, w, from);
  if (!status)
    from->key = output_cache_key(p->cache, p->options, w->path, w->variant, &from->bytes);
  const bool is_there = !status && output_cache_find(p->cache, &from->key, w);
  vyre_status_free(status); /* reading reports it again */
  if (is_there)
    vyre_report_stop(w->report, &watch);
  return is_there;
}

void
process_keep_cached(const process *p, const work *w, const source *from)
{
  if (!p->cache || w->status)
    return;
  const output_key now = output_cache_key(p->cache, p->options, w->path, w->variant, &from->bytes);
  if (memcmp(now.hash, from->key.hash, sizeof now.hash) == 0)
    output_cache_keep(p->cache, &now, w);
}

/* Makes an output that needs no IR table.  Sets *out_done if the output is of this kind. */
static vyre_status
write_compiled(const process *p, work *w, source *from, bool *out_done)
{
  VYRE_TRY(read_file(p, w, from));
  const int mark = vyre_text_mark((const char *)from->bytes.data, from->bytes.size), skipped = mark > 0 ? mark : 0;
  const char *text = from->bytes.data ? (const char *)from->bytes.data + skipped : "";
  const size_t size = from->bytes.size - (size_t)skipped;
  const vyre_source input = {.path = from->path,
                             .data = text,
                             .size = size,
                             .kind = vyre_input_detect_as(from->path, text, size, from->glsl.language),
                             .glsl = &from->glsl,
                             .diagnostics = from->diagnostics};
  *out_done = compiled_is_enough(p, &input);
  if (!*out_done)
    return VYRE_OK;
  w->kind = input.kind;
  VYRE_TRY(compiled_write(p, &input, &w->output));
  VYRE_TRY(compiled_finish(p->options, &input, &w->output));
  return check_warnings(from);
}

/* ---- one input ----------------------------------------------------------------------------------------------------------- */

void
process_print_heading(const process *p, const char *what, const char *path, vyre_bytes *said)
{
  const tool_options *o = p->options;
  if (o->inputs.count < 2 || p->is_of_queue || !(observer_prints(o) || o->list_runs || o->debug_manager))
    return;
  process_print(said, what, strlen(what));
  process_print(said, path, strlen(path));
  process_print(said, "' ***\n", 6);
}

vyre_status
process_run_input(const process *p, vyre_module *module, work *w, source *from)
{
  if (p->driver && !from->words.size)
    VYRE_TRY(run_words_read(w->kind, &from->bytes, from->path, &from->glsl, (vyre_diagnostics){0}, &from->words));
  VYRE_TRY(process_run_passes(p, module, w->report, from->diagnostics, w->path, from->said, from));
  return process_make_output(p, module, w, from);
}

void
process_alone(const process *p, vyre_module *module, work *w, source *from)
{
  guard_input(p->is_apart || p->options->inputs.count < 2 ? NULL : w->path);
  process_print_heading(p, "; *** input '", w->path, from->said);
  vyre_stopwatch watch;
  vyre_stopwatch_start(&watch, NULL, "(input)");
  if (from->page)
    w->status = page_begin(from->page, from->path);
  if (!w->status && !process_find_cached(p, w, from)) {
    bool is_done;
    w->status = write_compiled(p, w, from, &is_done);
    if (!w->status && !is_done)
      w->status = process_read_input(p, module, w, from);
    if (!w->status && !is_done)
      w->status = process_run_input(p, module, w, from);
    process_keep_cached(p, w, from);
  }
  w->errors = from->errors;
  w->warnings = from->warnings;
  if (p->options->short_messages && from->errors && w->status) { /* the short messages replace the text of the status */
    w->reported_code = (int)vyre_status_code(w->status);
    vyre_status_free(w->status);
    w->status = VYRE_OK;
  }
  vyre_report_add_input(w->report, w->path, &watch);
  vyre_module_clear(module);
  guard_input(NULL);
}
