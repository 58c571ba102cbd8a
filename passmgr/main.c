/* vyre-passmgr: reads programs, runs a pipeline of passes over each, writes them.
 *
 * Each input is a module of its own.  One that fails leaves no output, and the others are done all the same; the exit code is that
 * of the first failure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/vir0.h"

#ifndef VYRE_VERSION
#error "the build says which version this is"
#endif

typedef struct tool {
  tool_options options;
  vyre_registry *registry;
  vyre_pipeline *pipeline; /* NULL: no passes */
  vyre_report *report;     /* NULL: nobody asked */
  char **written;          /* owned names under -outdir, one an input */
} tool;

/* ---- what is said -------------------------------------------------------------------------------------------------------- */

/* Says it on standard error, and gives the exit code. */
static int
complain(vyre_status status)
{
  int code = (int)vyre_status_code(status);
  if (status)
    fprintf(stderr, "vyre-passmgr: error: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return code;
}

static void
emit(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  char small[2048], *text = small;
  size_t needed = vyre_diagnostic_format(diagnostic, small, sizeof(small));
  if (needed >= sizeof(small)) {
    text = malloc(needed + 1);
    if (text)
      vyre_diagnostic_format(diagnostic, text, needed + 1);
    else
      text = small;
  }
  size_t length = strlen(text);
  fprintf(stderr, "%s%s%s", diagnostic->file ? "" : "vyre-passmgr: ", text, length && text[length - 1] == '\n' ? "" : "\n");
  if (text != small)
    free(text);
}

static void
print(void *user, const char *text, size_t length)
{
  (void)user;
  fwrite(text, 1, length, stderr);
}

static const vyre_diagnostics diagnostics = {emit, NULL};

/* Writes a text of our own to standard output, and frees it. */
static vyre_status
answer(vyre_status status, vyre_bytes *text)
{
  if (!status)
    status = vyre_file_write("-", text->data, text->size);
  vyre_bytes_free(text);
  return status;
}

/* ---- passes and pipeline ------------------------------------------------------------------------------------------------- */

static vyre_status
load_plugins(tool *t)
{
  VYRE_TRY(vyre_registry_create(NULL, &t->registry));
  VYRE_TRY(vyre_registry_load_core(t->registry));
  for (uint32_t i = 0; i < t->options.plugin_dir.count; i++)
    VYRE_TRY(vyre_registry_load_folder(t->registry, t->options.plugin_dir.names[i], VYRE_ORIGIN_OUTSIDE));
  for (uint32_t i = 0; i < t->options.load.count; i++)
    VYRE_TRY(vyre_registry_load(t->registry, t->options.load.names[i], VYRE_ORIGIN_OUTSIDE));
  return VYRE_OK;
}

static vyre_status
read_pipeline(tool *t)
{
  const char *passes = t->options.passes, *file = t->options.passes_file;
  if (passes && passes[0] == '@')
    file = passes + 1;
  if (!file)
    return passes ? vyre_pipeline_parse(t->registry, passes, strlen(passes), "-passes", &t->pipeline) : VYRE_OK;
  vyre_bytes text = {0};
  vyre_status status = vyre_file_read(file, &text);
  if (!status)
    status = vyre_pipeline_parse(t->registry, text.data ? text.data : "", text.size, file, &t->pipeline);
  vyre_bytes_free(&text);
  return status;
}

/* ---- times --------------------------------------------------------------------------------------------------------------- */

static uint64_t
now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Since `start`; gives the time now. */
static uint64_t
add_time(const tool *t, const char *what, uint64_t start)
{
  uint64_t end = now();
  if (t->report)
    vyre_report_add_time(t->report, what, end - start);
  return end;
}

/* ---- one input ----------------------------------------------------------------------------------------------------------- */

static bool
ends_with(const char *text, const char *end)
{
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* What is written, and how names of such files end. */
typedef enum output_form { OUTPUT_VIR, OUTPUT_VIR0, OUTPUT_SPIRV, OUTPUT_GLSL, OUTPUT__COUNT } output_form;

static const char *const endings[] = {".vir", ".vir0", ".spv", ".glsl"};
static const char *const form_names[] = {"text", "VIR0", "SPIR-V", "GLSL"};

static output_form
form_of_output(const tool_options *o, vyre_input_kind kind)
{
  static const char *const words[] = {"vir", "vir0", "spirv", "glsl"};
  for (int form = OUTPUT_VIR; o->emit && form < OUTPUT__COUNT; form++)
    if (strcmp(o->emit, words[form]) == 0)
      return (output_form)form;
  for (int form = OUTPUT_VIR; o->output && form < OUTPUT__COUNT; form++)
    if (ends_with(o->output, endings[form]))
      return (output_form)form;
  return kind == VYRE_INPUT_VIR ? OUTPUT_VIR : kind == VYRE_INPUT_VIR0 ? OUTPUT_VIR0 : OUTPUT_SPIRV;
}

/* outdir/name.spv for folder/name.comp.  NULL: no memory. */
static char *
name_in_outdir(const char *outdir, const char *input, output_form form)
{
  const char *slash = strrchr(input, '/');
  const char *base = slash ? slash + 1 : input;
  const char *dot = strrchr(base, '.');
  int stem = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
  size_t size = strlen(outdir) + (size_t)stem + 8;
  char *name = malloc(size);
  if (name)
    snprintf(name, size, "%s/%.*s%s", outdir, stem, base, endings[form]);
  return name;
}

/* The form that an input's output has, by its content where no option says it. */
static output_form
form_by_content(const tool_options *o, const char *path)
{
  vyre_bytes bytes = {0};
  vyre_input_kind kind = VYRE_INPUT_UNKNOWN;
  struct stat file;
  if (!o->emit && stat(path, &file) == 0 && S_ISREG(file.st_mode)) { /* others can be read once only */
    vyre_status status = vyre_file_read(path, &bytes);
    kind = status ? VYRE_INPUT_UNKNOWN : vyre_input_detect(path, bytes.data, bytes.size);
    vyre_status_free(status); /* said when it is read again */
    vyre_bytes_free(&bytes);
  }
  return form_of_output(o, kind);
}

static vyre_status
same_output(const tool *t, uint32_t index, const char *name)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is the output of '%s' already\nFix: inputs of one name need folders of their own", name,
                    t->options.inputs.names[index]);
}

/* Whether outputs of two inputs would be one file, before anything is run.  Names alone tell apart nearly all. */
static vyre_status
check_outputs(tool *t)
{
  const tool_options *o = &t->options;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; o->outdir && i < o->inputs.count && !status; i++) {
    t->written[i] = name_in_outdir(o->outdir, o->inputs.names[i], OUTPUT_VIR);
    if (!t->written[i])
      return VYRE_OUT_OF_MEMORY("for an output's name");
    for (uint32_t k = 0; k < i && !status; k++) {
      output_form form = OUTPUT_VIR;
      if (strcmp(t->written[i], t->written[k]) != 0 ||
          (form = form_by_content(o, o->inputs.names[i])) != form_by_content(o, o->inputs.names[k]))
        continue;
      char *name = name_in_outdir(o->outdir, o->inputs.names[i], form);
      status = name ? same_output(t, k, name) : VYRE_OUT_OF_MEMORY("for an output's name");
      free(name);
    }
  }
  for (uint32_t i = 0; i < o->inputs.count; i++) {
    free(t->written[i]);
    t->written[i] = NULL;
  }
  return status;
}

static vyre_status
choose_output(tool *t, uint32_t index, output_form form, const char **out)
{
  const tool_options *o = &t->options;
  *out = o->output ? o->output : "-";
  if (!o->outdir) {
    if ((form == OUTPUT_VIR0 || form == OUTPUT_SPIRV) && strcmp(*out, "-") == 0 && isatty(STDOUT_FILENO))
      return VYRE_ERROR(VYRE_CODE_USAGE, "%s is not for a terminal\nFix: -o FILE writes it to a file, -emit=vir shows the program",
                        form_names[form]);
    return VYRE_OK;
  }
  char *name = name_in_outdir(o->outdir, o->inputs.names[index], form);
  if (!name)
    return VYRE_OUT_OF_MEMORY("for an output's name");
  t->written[index] = name;
  for (uint32_t i = 0; i < index; i++)
    if (t->written[i] && strcmp(t->written[i], name) == 0)
      return same_output(t, i, name);
  if (mkdir(o->outdir, 0777) != 0 && errno != EEXIST)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot make the folder '%s': %s", o->outdir, strerror(errno));
  *out = name;
  return VYRE_OK;
}

/* A GLSL text is one program. */
static vyre_status
write_glsl(const vyre_module *module, vyre_bytes *out)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t program = v->first[0];
  if (!program || v->next[program])
    return VYRE_ERROR(VYRE_CODE_INPUT, "GLSL is the text of one program, and there %s\nFix: -emit=vir or -emit=spirv",
                      program ? "are several" : "is none");
  return vyre_glsl_write(module, (vyre_row){program}, out);
}

static vyre_status
write_output(tool *t, uint32_t index, const vyre_module *module, vyre_input_kind kind)
{
  const char *path;
  output_form form = form_of_output(&t->options, kind);
  VYRE_TRY(choose_output(t, index, form, &path));
  const vyre_spirv_options spirv_options = {.strip = t->options.strip};
  vyre_bytes bytes = {0};
  vyre_status status = form == OUTPUT_SPIRV  ? vyre_spirv_write(module, 0, &spirv_options, &bytes)
                       : form == OUTPUT_VIR0 ? vyre_vir0_write(module, NULL, 0, &bytes)
                       : form == OUTPUT_GLSL ? write_glsl(module, &bytes)
                                             : vyre_text_print(module, NULL, &bytes);
  if (!status)
    status = vyre_file_write(path, bytes.data, bytes.size);
  vyre_bytes_free(&bytes);
  return status;
}

/* Read, verify, run, verify, write. */
static vyre_status
process_module(tool *t, uint32_t index, vyre_module *module)
{
  const tool_options *o = &t->options;
  const char *path = o->inputs.names[index];
  const vyre_pipeline_options run_options = {
      .verify_each = o->verify_each,
      .print_before_all = o->print_before_all,
      .print_after_all = o->print_after_all,
      .print_changed = o->print_changed,
      .print = print,
      .diagnostics = diagnostics,
      .report = t->report,
  };
  const vyre_glsl_options glsl = {o->include_dirs.names, o->include_dirs.count, o->defines.names, o->defines.count, o->debug};
  if (o->inputs.count > 1 && (o->print_before_all || o->print_after_all || o->print_changed))
    fprintf(stderr, "; *** input '%s' ***\n", path);
  vyre_input_kind kind;
  uint64_t start = now();
  VYRE_TRY(vyre_input_read(module, path, &glsl, diagnostics, &kind));
  start = add_time(t, "read", start);
  VYRE_TRY(vyre_status_note(vyre_module_check(module, &run_options), "as read from '%s'", path));
  start = add_time(t, "verify", start);
  if (t->pipeline)
    VYRE_TRY(vyre_pipeline_run(t->pipeline, module, &run_options));
  start = now();
  if (t->pipeline && !o->verify_each)
    VYRE_TRY(vyre_status_note(vyre_module_check(module, &run_options), "after the last pass; -verify-each tells which one it was"));
  start = add_time(t, "verify", start);
  VYRE_TRY(write_output(t, index, module, kind));
  add_time(t, "write", start);
  return VYRE_OK;
}

static vyre_status
process_input(tool *t, uint32_t index)
{
  vyre_module *module;
  VYRE_TRY(vyre_module_create(NULL, 0, &module));
  vyre_status status = process_module(t, index, module);
  vyre_module_destroy(module);
  return t->options.inputs.count > 1 ? vyre_status_note(status, "input '%s'", t->options.inputs.names[index]) : status;
}

static vyre_status
prepare_inputs(tool *t)
{
  const name_list *inputs = &t->options.inputs;
  if (inputs->count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input\nFix: name a file, or - for standard input; -help lists the options");
  for (uint32_t i = 0; i < inputs->count && t->options.outdir; i++)
    if (strcmp(inputs->names[i], "-") == 0)
      return VYRE_ERROR(VYRE_CODE_USAGE, "standard input has no name that -outdir could use\nFix: -o FILE");
  t->written = calloc(inputs->count, sizeof(*t->written));
  if (!t->written)
    return VYRE_OUT_OF_MEMORY("for the outputs' names");
  VYRE_TRY(check_outputs(t));
  return t->options.time_passes || t->options.stats ? vyre_report_create(NULL, &t->report) : VYRE_OK;
}

static vyre_status
print_report(const tool *t)
{
  vyre_bytes text = {0};
  vyre_status status = VYRE_OK;
  if (t->options.time_passes)
    status = vyre_report_times(t->report, &text);
  if (t->options.stats && !status)
    status = vyre_report_stats(t->report, &text);
  if (!status && text.size)
    print(NULL, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}

static int
process_all(tool *t)
{
  int code = complain(prepare_inputs(t));
  if (code)
    return code;
  for (uint32_t i = 0; i < t->options.inputs.count; i++) {
    int failed = complain(process_input(t, i));
    code = code ? code : failed;
  }
  int failed = complain(print_report(t));
  return code ? code : failed;
}

/* ---- the rest: questions ------------------------------------------------------------------------------------------------- */

static int
run_tool(tool *t)
{
  const tool_options *o = &t->options;
  vyre_bytes text = {0};
  if (o->help)
    return complain(answer(options_help(&text), &text));
  if (o->version)
    return complain(answer(vyre_bytes_printf(&text, "vyre-passmgr %s (plugin API %u.%u, op set %u)\n", VYRE_VERSION,
                                             VYRE_PLUGIN_ABI >> 16, VYRE_PLUGIN_ABI & 0xffffu, VYRE_OPSET_VERSION),
                           &text));
  int code = complain(load_plugins(t));
  if (code)
    return code;
  if (o->list_passes)
    return complain(answer(vyre_registry_list(t->registry, &text), &text));
  if (o->help_pass)
    return complain(answer(vyre_registry_help(t->registry, o->help_pass, &text), &text));
  code = complain(read_pipeline(t));
  if (code)
    return code;
  if (!o->print_pipeline)
    return process_all(t);
  vyre_status status = VYRE_OK;
  if (t->pipeline)
    status = vyre_pipeline_print(t->pipeline, &text);
  if (!status)
    status = vyre_bytes_append(&text, "\n", 1);
  return complain(answer(status, &text));
}

int
main(int argc, char **argv)
{
  tool t = {0};
  signal(SIGPIPE, SIG_IGN); /* a reader that went away is a write that failed */
  int code = complain(options_parse(argc, argv, &t.options));
  if (!code)
    code = run_tool(&t);
  for (uint32_t i = 0; t.written && i < t.options.inputs.count; i++)
    free(t.written[i]);
  free(t.written);
  vyre_report_destroy(t.report);
  vyre_pipeline_destroy(t.pipeline);
  vyre_registry_destroy(t.registry);
  options_free(&t.options);
  return code;
}
