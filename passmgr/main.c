/* vyre-passmgr: reads programs, runs a pipeline of passes over each, writes them.
 *
 * Each input is a module of its own.  One that fails leaves no output, and the others are still done; the exit code is that
 * of the first failure.  With -j several threads work, each on a module that it clears; their messages and outputs wait
 * for the input's turn, so that all is as without -j.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"
#include "options.h"
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vyre/c.h"
#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/vir0.h"

#ifndef VYRE_VERSION
#error "the build says which version this is"
#endif

/* The result of one input. */
typedef struct work {
  vyre_bytes said, output;
  uint64_t making; /* the output, in nanoseconds */
  vyre_input_kind kind;
  vyre_report *report; /* NULL: not asked for */
  vyre_device *device; /* of the thread that works on it; NULL: passes run here */
  vyre_status status;
  bool done;
} work;

typedef struct tool {
  tool_options options;
  vyre_registry *registry;
  vyre_pipeline *pipeline; /* NULL: no passes */
  vyre_report *report;     /* NULL: not asked for */
  outputs outputs;
  work *works;          /* one an input */
  pthread_mutex_t lock; /* of all below, and of what is written */
  pthread_cond_t turn;
  uint32_t begun, finished; /* inputs; they finish in order */
  int code;
  int home;                           /* the folder that relative paths are meant from; -1: it could not be opened */
  vyre_device *devices[MOST_THREADS]; /* one a thread, where passes do not run here */
} tool;

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

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

/* Writes to standard error, or to where messages wait for their input's turn. */
static void
say(vyre_bytes *said, const char *text, size_t length)
{
  if (!said || vyre_status_code(vyre_bytes_append(said, text, length)) != VYRE_CODE_OK)
    fwrite(text, 1, length, stderr);
}

static void
emit(void *user, const vyre_diagnostic *diagnostic)
{
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
  if (!diagnostic->file)
    say(user, "vyre-passmgr: ", 14);
  say(user, text, length);
  if (length == 0 || text[length - 1] != '\n')
    say(user, "\n", 1);
  if (text != small)
    free(text);
}

static void
print(void *user, const char *text, size_t length)
{
  say(user, text, length);
}

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

/* It is the command line that is wrong, not an input. */
static vyre_status
no_pipeline(vyre_status why)
{
  vyre_status status = VYRE_ERROR(
      VYRE_CODE_USAGE, "%s\nFix: -passes=@FILE and -passes-file=FILE name a file with a pipeline's text", vyre_status_text(why));
  vyre_status_free(why);
  return status;
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
  else if (vyre_status_code(status) == VYRE_CODE_INPUT)
    status = no_pipeline(status);
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
add_time(const work *w, const char *what, uint64_t start)
{
  uint64_t end = now();
  if (w->report)
    vyre_report_add_time(w->report, what, end - start);
  return end;
}

/* ---- one input ----------------------------------------------------------------------------------------------------------- */

/* A GLSL text is one program. */
static vyre_status
write_glsl(const vyre_module *module, vyre_bytes *out)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t program = v->first[0];
  if (!program)
    return VYRE_ERROR(VYRE_CODE_INPUT, "GLSL is the text of one program, and there is none");
  if (v->next[program])
    return VYRE_ERROR(VYRE_CODE_INPUT, "GLSL is the text of one program, and there is @%s, @%s\nFix: -emit=vir or -emit=spirv",
                      vyre_row_name(module, (vyre_row){program}), vyre_row_name(module, (vyre_row){v->next[program]}));
  return vyre_glsl_write(module, (vyre_row){program}, out);
}

/* An input as it is on the disk, and how it is read. */
typedef struct source {
  const char *path; /* for messages */
  vyre_bytes bytes;
  vyre_glsl_options glsl;
  vyre_diagnostics diagnostics;
} source;

static vyre_status
make_output(const tool *t, const vyre_module *module, work *w, const source *from)
{
  const vyre_spirv_options spirv_options = {.strip = t->options.strip,
                                            .float_controls = t->options.exact_floats ? VYRE_FLOAT_CONTROLS_ALL : 0};
  const vyre_source input = {from->path, from->bytes.data, from->bytes.size, w->kind, &from->glsl, from->diagnostics};
  switch (outputs_form(&t->options, w->kind)) {
  case OUTPUT_SPIRV:
    return vyre_source_write(module, 0, &spirv_options, &input, &w->output);
  case OUTPUT_VIR0:
    return vyre_vir0_write(module, NULL, 0, &w->output);
  case OUTPUT_GLSL:
    return write_glsl(module, &w->output);
  case OUTPUT_C:
    return vyre_c_write(module, VYRE_NONE, NULL, &w->output);
  default:
    return vyre_text_print(module, NULL, &w->output);
  }
}

/* Verifies a text, which was read without lines: if it breaks a rule it is read again with lines, so that the message has
 * its line. */
static vyre_status
check_input(const vyre_module *module, const source *from, const vyre_pipeline_options *options)
{
  vyre_status status = vyre_module_check(module, options);
  if (status) {
    vyre_module *again = NULL;
    vyre_status read = vyre_module_create(NULL, 0, &again);
    if (!read)
      read = vyre_text_parse_lines(again, from->bytes.data, from->bytes.size, from->path, (vyre_diagnostics){0});
    vyre_status placed = read ? VYRE_OK : vyre_module_check(again, NULL);
    if (placed) {
      vyre_status_free(status);
      status = placed;
    }
    vyre_status_free(read);
    vyre_module_destroy(again);
  }
  return vyre_status_note(status, "as read from '%s'", from->path);
}

/* Read, verify, run, verify, to bytes. */
static vyre_status
process_source(const tool *t, work *w, vyre_module *module, vyre_bytes *said, source *from)
{
  const tool_options *o = &t->options;
  const char *path = o->inputs.names[w - t->works];
  const vyre_pipeline_options run_options = {
      .verify_each = o->verify_each,
      .device = w->device,
      .no_fuse = o->no_fuse,
      .print_before_all = o->print_before_all,
      .print_after_all = o->print_after_all,
      .print_changed = o->print_changed,
      .print = print,
      .print_user = said,
      .diagnostics = {emit, said},
      .report = w->report,
  };
  from->path = strcmp(path, "-") == 0 ? "<stdin>" : path;
  from->glsl = (vyre_glsl_options){.include_dirs = o->include_dirs.names,
                                   .include_dir_count = o->include_dirs.count,
                                   .defines = o->defines.names,
                                   .define_count = o->defines.count,
                                   .debug = o->debug,
                                   .target_env = o->env,
                                   .include_root = o->include_root,
                                   .most_memory = o->most_memory,
                                   .most_seconds = o->most_seconds,
                                   .most_expansion = o->most_expansion};
  from->diagnostics = run_options.diagnostics;
  if (o->inputs.count > 1 && (o->print_before_all || o->print_after_all || o->print_changed)) {
    say(said, "; *** input '", 13);
    say(said, path, strlen(path));
    say(said, "' ***\n", 6);
  }
  uint64_t start = now();
  VYRE_TRY(vyre_file_read(path, &from->bytes));
  vyre_module_set_growth(module, o->growth);
  VYRE_TRY(vyre_input_parse(module, from->path, from->bytes.data ? from->bytes.data : "", from->bytes.size, &from->glsl,
                            from->diagnostics, &w->kind));
  start = add_time(w, "read", start);
  if (w->kind == VYRE_INPUT_VIR) /* others were verified when they were read */
    VYRE_TRY(check_input(module, from, &run_options));
  start = add_time(w, "verify", start);
  vyre_status status = t->pipeline ? vyre_pipeline_run(t->pipeline, module, &run_options) : VYRE_OK;
  if (t->pipeline && t->home >= 0 && fchdir(t->home) != 0) /* a pass may have changed it */
    status = vyre_status_join(status,
                              VYRE_ERROR(VYRE_CODE_USAGE, "cannot go back to the folder it was started in: %s", strerror(errno)));
  VYRE_TRY(status);
  start = now();
  if (t->pipeline && !o->verify_each)
    VYRE_TRY(vyre_status_note(vyre_module_check(module, &run_options), "after the last pass; -verify-each tells which one it was"));
  start = add_time(w, "verify", start);
  VYRE_TRY(make_output(t, module, w, from));
  w->making = now() - start;
  return VYRE_OK;
}

static vyre_status
process_module(const tool *t, work *w, vyre_module *module, vyre_bytes *said)
{
  source from = {0};
  const vyre_status status = process_source(t, w, module, said, &from);
  vyre_bytes_free(&from.bytes);
  return status;
}

/* ---- inputs, in their order ---------------------------------------------------------------------------------------------- */

static vyre_status
write_output(tool *t, uint32_t index)
{
  const work *w = &t->works[index];
  const char *path;
  VYRE_TRY(outputs_choose(&t->outputs, index, outputs_form(&t->options, w->kind), &path));
  const uint64_t start = now();
  VYRE_TRY(vyre_file_write(path, w->output.data, w->output.size));
  add_time(w, "write", start - w->making);
  return VYRE_OK;
}

/* It is its turn. */
static void
finish_input(tool *t, uint32_t index)
{
  work *w = &t->works[index];
  if (w->said.size)
    fwrite(w->said.data, 1, w->said.size, stderr);
  if (!w->status)
    w->status = write_output(t, index);
  if (t->options.inputs.count > 1)
    w->status = vyre_status_note(w->status, "input '%s'", t->options.inputs.names[index]);
  if (w->report)
    vyre_report_add(t->report, w->report);
  vyre_report_destroy(w->report);
  vyre_bytes_free(&w->said);
  vyre_bytes_free(&w->output);
  const int failed = complain(w->status);
  t->code = t->code ? t->code : failed;
}

/* Finishes an input, the lock held: the thread that finishes the one whose turn it is also finishes those that waited for it. */
static void
end_work(tool *t, work *w)
{
  w->done = true;
  while (t->finished < t->options.inputs.count && t->works[t->finished].done)
    finish_input(t, t->finished++);
  pthread_cond_broadcast(&t->turn);
}

typedef struct working {
  tool *tool;
  work *work;
} working;

/* A pass ended its thread. */
static void
end_with_thread(void *user)
{
  const working *at = user;
  const vyre_plugin_code code = vyre_plugin_code_running();
  guard_thread_ended();
  vyre_status_free(at->work->status);
  at->work->status = VYRE_ERROR(VYRE_CODE_USAGE, "pass '%s' (%s) ended its thread\nFix: a pass returns, and fails by host->error",
                                code.pass ? code.pass : "?", code.path ? code.path : "?");
  pthread_mutex_lock(&at->tool->lock);
  end_work(at->tool, at->work);
  pthread_mutex_unlock(&at->tool->lock);
}

typedef struct worker {
  tool *tool;
  vyre_device *device;
  pthread_t thread;
} worker;

/* One thread's work: the next input that no thread has begun, until there is none. */
static void *
work_on(void *user)
{
  const worker *self = user;
  tool *t = self->tool;
  const uint32_t count = t->options.inputs.count, ahead = 8 * t->options.threads;
  vyre_module *module = NULL;
  guard_thread();
  pthread_mutex_lock(&t->lock);
  for (;;) {
    while (t->begun < count && t->begun - t->finished >= ahead) /* what waits takes memory */
      pthread_cond_wait(&t->turn, &t->lock);
    if (t->begun >= count)
      break;
    work *w = &t->works[t->begun++];
    pthread_mutex_unlock(&t->lock);
    w->status = module ? VYRE_OK : vyre_module_create(NULL, 0, &module);
    if (!w->status && t->report)
      w->status = vyre_report_create(NULL, &w->report);
    w->device = self->device;
    working at = {t, w};
    pthread_cleanup_push(end_with_thread, &at);
    if (!w->status)
      w->status = process_module(t, w, module, t->options.threads > 1 ? &w->said : NULL);
    pthread_cleanup_pop(0);
    if (module)
      vyre_module_clear(module);
    pthread_mutex_lock(&t->lock);
    end_work(t, w);
  }
  pthread_mutex_unlock(&t->lock);
  vyre_module_destroy(module);
  return NULL;
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
  t->works = calloc(inputs->count, sizeof(*t->works));
  if (!t->works)
    return VYRE_OUT_OF_MEMORY("for the inputs");
  VYRE_TRY(outputs_prepare(&t->options, &t->outputs));
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

static bool
is_chosen(const tool_options *o)
{
  return o->target && strcmp(o->target, "auto") == 0;
}

/* The target of GPU passes.  NULL: they run as plain C. */
static vyre_status
find_target(const tool_options *o, const vyre_target_ops **out)
{
  const char *name = o->target ? o->target : "cpu";
  const vyre_target_ops *target = vyre_target_find(name);
  *out = target == &vyre_target_cpu && !o->phases && !o->phase_threads ? NULL : target;
  if (target)
    return VYRE_OK;
  vyre_bytes names = {0};
  for (const vyre_target_ops *const *at = vyre_targets; *at; at++)
    VYRE_TRY(vyre_bytes_printf(&names, "%s, ", (*at)->name));
  vyre_status status = VYRE_ERROR(VYRE_CODE_USAGE, "there is no target '%.100s'\nFix: -target is one of %sauto", name, names.data);
  vyre_bytes_free(&names);
  return status;
}

/* So that nothing is begun where there is no device. */
static vyre_status
open_devices(tool *t, uint32_t threads)
{
  const vyre_target_options options = {.device = t->options.device, .threads = t->options.sweepers};
  const vyre_target_ops *target = NULL;
  const bool is_auto = is_chosen(&t->options);
  vyre_status status = is_auto ? VYRE_OK : find_target(&t->options, &target);
  for (uint32_t i = 0; i < threads && is_auto && !status; i++)
    status = vyre_device_open_auto(vyre_targets, &options, NULL, &t->devices[i]);
  for (uint32_t i = 0; i < threads && target && !status; i++)
    status = vyre_device_open(target, &options, NULL, &t->devices[i]);
  return status && target ? vyre_status_note(status, "-target=cpu needs no device") : status;
}

static vyre_status
close_devices(tool *t)
{
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < MOST_THREADS; i++)
    status = vyre_status_join(status, vyre_device_close(t->devices[i]));
  return status;
}

static int
process_all(tool *t)
{
  const uint32_t inputs = t->options.inputs.count, threads = t->options.threads < inputs ? t->options.threads : inputs;
  int code = complain(prepare_inputs(t));
  if (!code)
    code = complain(open_devices(t, threads));
  if (code)
    return code;
  worker workers[MOST_THREADS];
  uint32_t more = 1;
  for (uint32_t i = 0; i < threads; i++)
    workers[i] = (worker){.tool = t, .device = t->devices[i]};
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->turn, NULL);
  while (more < threads && pthread_create(&workers[more].thread, NULL, work_on, &workers[more]) == 0)
    more++;
  work_on(&workers[0]);
  for (uint32_t i = 1; i < more; i++)
    pthread_join(workers[i].thread, NULL);
  pthread_cond_destroy(&t->turn);
  pthread_mutex_destroy(&t->lock);
  const int failed = complain(print_report(t)), closing = complain(close_devices(t));
  return t->code ? t->code : failed ? failed : closing;
}

/* ---- the rest: questions ------------------------------------------------------------------------------------------------- */

static vyre_status
print_schedule(const tool *t, vyre_bytes *out)
{
  const tool_options *o = &t->options;
  const vyre_target_ops *target = NULL;
  if (!is_chosen(o))
    VYRE_TRY(find_target(o, &target));
  const vyre_schedule_options options = {.format = o->print_schedule[0] == 'j'   ? VYRE_SCHEDULE_JSON
                                                   : o->print_schedule[0] == 'd' ? VYRE_SCHEDULE_DOT
                                                                                 : VYRE_SCHEDULE_TEXT,
                                         .on_device = target != NULL || is_chosen(o),
                                         .on_host = target == &vyre_target_cpu,
                                         .no_fuse = o->no_fuse};
  return t->pipeline ? vyre_pipeline_print_schedule(t->pipeline, &options, out) : VYRE_OK;
}

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
  if (o->print_schedule && !o->print_pipeline)
    return complain(answer(print_schedule(t, &text), &text));
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
  static tool t; /* not of this stack: other threads use it still when a pass has ended this one */
  /* Memory that a pass gives back is for the next one: made and zeroed by the kernel again, it costs as much as a pass. */
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  guard_begin("vyre-passmgr");
  t.home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int code = complain(options_parse(argc, argv, &t.options));
  if (!code)
    code = run_tool(&t);
  outputs_free(&t.outputs);
  free(t.works);
  vyre_report_destroy(t.report);
  vyre_pipeline_destroy(t.pipeline);
  vyre_registry_destroy(t.registry);
  options_free(&t.options);
  return guard_end(code);
}
