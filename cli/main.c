/* vyre-passmgr: reads programs, runs a pipeline of passes over each, and writes them.  Also lists passes and describes pipelines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/console.h"
#include "tools/run/guard.h"
#include "cli/debug/debug.h"
#include "cli/queue/worker.h"
#include "cli/watch/watch.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VYRE_VERSION
#error "the build says which version this is"
#endif

/* Writes the text to standard output and frees it. */
static vyre_status
print_text(vyre_status status, vyre_bytes *text)
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
  for (uint32_t i = 0; i < t->options.plugin_dir.count; i++)
    VYRE_TRY(vyre_registry_load_folder(t->registry, t->options.plugin_dir.names[i], VYRE_ORIGIN_OUTSIDE));
  for (uint32_t i = 0; i < t->options.load.count; i++)
    VYRE_TRY(vyre_registry_load(t->registry, t->options.load.names[i], VYRE_ORIGIN_OUTSIDE));
  return VYRE_OK;
}

/* Returns whether the run needs no passes other than those in -passes. */
static bool
needs_only_named(const tool_options *o)
{
  return !(o->passes && o->passes[0] == '@') && !o->passes_file && !o->load.count && !o->plugin_dir.count && !o->skip_pass.count &&
         !o->print_before.count && !o->print_after.count && !o->list_passes && !o->help_pass && !o->target && !o->run_reproducer;
}

static vyre_status
load_all(tool *t, bool only_named)
{
  VYRE_TRY(vyre_registry_create(NULL, &t->registry));
  t->only_named = only_named;
  const char *passes = t->options.passes ? t->options.passes : "";
  VYRE_TRY(only_named ? vyre_registry_load_core_named(t->registry, passes, strlen(passes)) : vyre_registry_load_core(t->registry));
  guard_limit((uint32_t)t->options.pass_timeout.value);
  vyre_status status = load_plugins(t);
  guard_limit(0);
  return status;
}

/* Turns a read error of a pipeline file into an error of the command line. */
static vyre_status
fail_pipeline_file(vyre_status why)
{
  return vyre_status_add_fix(why, VYRE_CODE_USAGE, "name a file with the text of a pipeline in -passes=@FILE or -passes-file=FILE");
}

/* Replaces each pass name by the canonical name.  Numbers of runs stay unchanged. */
static vyre_status
find_names(const tool *t, const char *option, name_list *names)
{
  for (uint32_t i = 0; i < names->count; i++)
    if (names->names[i][strspn(names->names[i], "0123456789")])
      VYRE_TRY(vyre_status_note(vyre_registry_name(t->registry, names->names[i], &names->names[i]), "for -%s", option));
  return VYRE_OK;
}

static vyre_status
find_passes(tool *t)
{
  name_list *names = &t->options.skip_pass;
  VYRE_TRY(find_names(t, "skip-pass", names));
  VYRE_TRY(find_names(t, "print-before", &t->options.print_before));
  VYRE_TRY(find_names(t, "print-after", &t->options.print_after));
  t->options.runs.skips = names->names;
  t->options.runs.skip_count = names->count;
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
  vyre_status status = vyre_file_read_as(file, VYRE_FILE_TEXT, &text);
  if (!status)
    status = vyre_pipeline_parse(t->registry, text.data ? text.data : "", text.size, file, &t->pipeline);
  else if (vyre_status_code(status) == VYRE_CODE_INPUT)
    status = fail_pipeline_file(status);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
tool_read_pipeline(tool *t)
{
  vyre_status status = read_pipeline(t);
  if (status && t->only_named) { /* other passes are needed, or should be suggested */
    vyre_status_free(status);
    vyre_registry_destroy(t->registry);
    t->registry = NULL;
    VYRE_TRY(load_all(t, false));
    status = read_pipeline(t);
  }
  return status ? status : find_passes(t);
}

static vyre_status
read_pipeline_and_costs(tool *t)
{
  VYRE_TRY(tool_read_pipeline(t));
  return vyre_cost_model_read(t->options.cost_model, &t->cost_model);
}

vyre_status
tool_load(tool *t)
{
  VYRE_TRY(load_all(t, needs_only_named(&t->options)));
  return read_pipeline_and_costs(t);
}

/* ---- printing ------------------------------------------------------------------------------------------------------------ */

static vyre_status
print_schedule(const tool *t, vyre_bytes *out)
{
  const tool_options *o = &t->options;
  const vyre_target_ops *target = NULL;
  if (!tool_chooses_target(o))
    VYRE_TRY(tool_find_target(o, &target));
  const vyre_schedule_options options = {.struct_size = sizeof options,
                                         .format = o->print_schedule[0] == 'j'   ? VYRE_SCHEDULE_JSON
                                                   : o->print_schedule[0] == 'd' ? VYRE_SCHEDULE_DOT
                                                                                 : VYRE_SCHEDULE_TEXT,
                                         .on_device = target != NULL || tool_chooses_target(o),
                                         .on_host = target == &vyre_target_cpu,
                                         .no_fuse = o->no_fuse};
  return t->pipeline ? vyre_pipeline_print_schedule(t->pipeline, &options, out) : VYRE_OK;
}

static vyre_status
list_inputs(const tool_options *o, vyre_bytes *out)
{
  if (options_show(o, VYRE_WARNING))
    archives_warn(&o->archives, console_diagnostics);
  for (uint32_t i = 0; i < o->inputs.count; i++)
    VYRE_TRY(vyre_bytes_printf(out, "%s\n", o->inputs.names[i]));
  for (uint32_t i = 0; i < o->inputs.count; i++) /* reports an archive that could not be expanded */
    if (archives_is_name(o->inputs.names[i])) {
      vyre_bytes none = {0};
      VYRE_TRY(archives_read(&o->archives, o->inputs.names[i], &none));
      vyre_bytes_free(&none);
    }
  return VYRE_OK;
}

static int
run_tool(tool *t)
{
  const tool_options *o = &t->options;
  vyre_bytes text = {0};
  if (t->line.printed.size)
    return tool_complain(vyre_file_write("-", t->line.printed.data, t->line.printed.size));
  if (o->help)
    return tool_complain(print_text(options_help(o, &text), &text));
  if (o->version)
    return tool_complain(print_text(vyre_bytes_printf(&text, "vyre-passmgr %s (plugin API %u.%u, op set %u)\n", VYRE_VERSION,
                                                      VYRE_PLUGIN_ABI >> 16, VYRE_PLUGIN_ABI & 0xffffu, VYRE_OPSET_VERSION),
                                    &text));
  if (o->list_inputs)
    return tool_complain(print_text(list_inputs(o, &text), &text));
  int code = tool_complain(load_all(t, needs_only_named(&t->options)));
  if (code)
    return code;
  if (o->list_passes)
    return tool_complain(print_text(
        o->list_passes[0] == 'j' ? vyre_registry_list_json(t->registry, &text) : vyre_registry_list(t->registry, &text), &text));
  if (o->help_pass)
    return tool_complain(print_text(vyre_registry_help(t->registry, o->help_pass, &text), &text));
  code = tool_complain(read_pipeline_and_costs(t));
  if (code)
    return code;
  if (o->print_schedule && !o->print_pipeline)
    return tool_complain(print_text(print_schedule(t, &text), &text));
  if (!o->print_pipeline)
    return tool_process_all(t);
  vyre_status status = VYRE_OK;
  if (t->pipeline)
    status = vyre_pipeline_print(t->pipeline, &text);
  if (!status)
    status = vyre_bytes_append(&text, "\n", 1);
  return tool_complain(print_text(status, &text));
}

/* Returns whether the tool only prints a text. */
static bool
only_prints(const tool_options *o)
{
  return o->help || o->version || o->list_passes || o->help_pass || o->print_pipeline || o->print_schedule || o->list_inputs;
}

/* Lets the personality translate the command line for run `index`, and parses the result. */
static int
parse_arguments(int *argc, char ***argv, uint32_t run, personality_line *line, tool_options *out)
{
  vyre_status status = personality_translate(*argc, *argv, run, line);
  if (status || line->printed.size)
    return tool_complain(status);
  if (line->arguments.count) {
    *argc = (int)line->arguments.count;
    *argv = (char **)(uintptr_t)line->arguments.names;
  }
  return tool_complain(options_parse(*argc, *argv, line->origins.names, out));
}

void
tool_free(tool *t)
{
  outputs_free(&t->outputs);
  free(t->works);
  archive_output_free(&t->archive);
  free(t->isolations);
  vyre_report_destroy(t->report);
  for (note i = 0; i < NOTE__COUNT; i++)
    vyre_bytes_free(&t->notes[i]);
  output_cache_end(&t->cache);
  vyre_pipeline_destroy(t->pipeline);
  vyre_cost_model_destroy(t->cost_model);
  vyre_registry_destroy(t->registry);
}

/* The sums of all runs of a command line. */
typedef struct summary {
  uint32_t runs, errors, warnings;
  bool is_printed;
} summary;

static void
print_summary(const summary *s)
{
  if (!s->is_printed || s->errors + s->warnings == 0)
    return;
  if (s->warnings)
    fprintf(stderr, "%u warning%s%s", s->warnings, s->warnings == 1 ? "" : "s", s->errors ? " and " : "");
  if (s->errors)
    fprintf(stderr, "%u error%s", s->errors, s->errors == 1 ? "" : "s");
  fputs(" generated.\n", stderr);
}

/* Executes a command line, or run `index` of a command line with several runs.  Returns the exit code, and adds to *sums. */
static int
run_command(int argc, char **argv, uint32_t run, summary *sums)
{
  arguments of_reproducer = {0};
  static tool t; /* static, because other threads still use it after a pass has ended the main thread */
  memset(&t, 0, sizeof t);
  int code = parse_arguments(&argc, &argv, run, &t.line, &t.options);
  if (run == 0)
    sums->runs = code ? 1 : personality_runs(&t.line);
  if (!code && t.options.watch && !only_prints(&t.options) && !tool_watch(argc, argv, &t, &code)) {
    options_free(&t.options);
    personality_free(&t.line);
    return code;
  }
  if (!code && t.options.trust_reproducer && !t.options.run_reproducer)
    code = tool_complain(VYRE_ERROR(VYRE_CODE_USAGE, "-trust-reproducer needs -run-reproducer\nFix: add -run-reproducer=FILE"));
  if (run == 0)
    guard_begin("vyre-passmgr");
  t.home = vyre_file_open(VYRE_FILE_HERE, ".", VYRE_FILE_FOLDER);
  if (!code && t.options.run_reproducer)
    code = tool_complain(reproducer_options(argc, argv, &t.options, &of_reproducer));
  if (!code)
    code = t.options.queue && !only_prints(&t.options) ? queue_work(argc, argv, &t) : run_tool(&t);
  sums->errors += t.errors;
  sums->warnings += t.warnings;
  sums->is_printed |= t.options.short_messages;
  tool_free(&t);
  options_free(&t.options);
  if (t.home >= 0)
    close(t.home);
  arguments_free(&of_reproducer);
  code = personality_exit_code(&t.line, console_end("vyre-passmgr", VYRE_OK, code));
  personality_free(&t.line);
  return code;
}

int
main(int argc, char **argv)
{
  int code = 0;
  summary sums = {.runs = 1};
  /* Keeps memory that a pass frees for the next pass.  Page faults of fresh memory cost as much time as a pass. */
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  for (uint32_t run = 0; run < sums.runs; run++) {
    const int failed = run_command(argc, argv, run, &sums);
    code = code ? code : failed;
  }
  print_summary(&sums);
  return guard_end(code);
}
