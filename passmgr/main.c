/* vyre-passmgr: reads programs, runs a pipeline of passes over each, writes them.
 *
 * Each input is a module of its own, or with -batch many are one.  One that fails leaves no output, and the others are still done;
 * the exit code is that of the first failure.  With -j several threads work, each on a module that it clears; their messages and
 * outputs wait for the input's turn, so that all is as without -j, and as without -batch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"
#include "options.h"
#include "outputs.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vyre/io.h"
#include "vyre/passmgr.h"

#ifndef VYRE_VERSION
#error "the build says which version this is"
#endif

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
  uint32_t alive;           /* threads that work on them */
  bool is_main_gone;        /* a pass ended the thread that waits for the others */
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

/* ---- inputs, in their order ---------------------------------------------------------------------------------------------- */

static vyre_status
write_output(tool *t, uint32_t index)
{
  const work *w = &t->works[index];
  const char *path;
  VYRE_TRY(outputs_choose(&t->outputs, index, outputs_form(&t->options, w->kind), &path));
  const uint64_t start = process_now();
  VYRE_TRY(vyre_file_write(path, w->output.data, w->output.size));
  if (w->report)
    vyre_report_add_time(w->report, "write", process_now() - start + w->making);
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

/* Finishes inputs, the lock held: the thread that finishes the one whose turn it is also finishes those that waited for it. */
static void
end_works(tool *t, work *works, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    works[i].done = true;
  while (t->finished < t->options.inputs.count && t->works[t->finished].done)
    finish_input(t, t->finished++);
  pthread_cond_broadcast(&t->turn);
}

typedef struct working {
  tool *tool;
  work *works;
  uint32_t count;
} working;

/* The lock is held, and given back.  Where nobody waits for the last thread it ends the process: libc does so too, but not as long
 * as a driver has threads. */
static void
end_worker(tool *t)
{
  const bool is_last = --t->alive == 0 && t->is_main_gone;
  pthread_mutex_unlock(&t->lock);
  if (is_last)
    exit(VYRE_CODE_USAGE); /* guard.c says why */
}

/* A pass ended its thread. */
static void
end_with_thread(void *user)
{
  const working *at = user;
  const vyre_plugin_code code = vyre_plugin_code_running();
  guard_thread_ended();
  for (uint32_t i = 0; i < at->count; i++) {
    vyre_status_free(at->works[i].status);
    at->works[i].status =
        VYRE_ERROR(VYRE_CODE_USAGE, "pass '%s' (%s) ended its thread\nFix: a pass returns, and fails by host->error",
                   code.pass ? code.pass : "?", code.path ? code.path : "?");
  }
  pthread_mutex_lock(&at->tool->lock);
  end_works(at->tool, at->works, at->count);
  at->tool->is_main_gone |= getpid() == gettid();
  end_worker(at->tool);
}

typedef struct worker {
  tool *tool;
  vyre_device *device;
  pthread_t thread;
} worker;

/* How many inputs from the first that no thread has begun one thread takes: so many that each thread has some, and that their files
 * are not too large together. */
static uint32_t
next_count(const tool *t)
{
  const name_list *inputs = &t->options.inputs;
  const uint32_t threads = t->options.threads, share = inputs->count / threads + (inputs->count % threads != 0);
  const uint32_t left = inputs->count - t->begun, fair = share < left ? share : left;
  const uint32_t most = t->options.batch_most < fair ? t->options.batch_most : fair;
  uint32_t count = 0;
  for (uint64_t bytes = 0; count < most && bytes < BATCH_BYTES; count++) {
    struct stat file;
    if (most > 1 && stat(inputs->names[t->begun + count], &file) == 0 && S_ISREG(file.st_mode))
      bytes += (uint64_t)file.st_size;
  }
  return count;
}

static vyre_status
prepare_works(const tool *t, process *p, work *works, uint32_t count)
{
  VYRE_TRY(p->module ? VYRE_OK : vyre_module_create(NULL, 0, &p->module));
  VYRE_TRY(p->taken || count < 2 ? VYRE_OK : vyre_module_create(NULL, 0, &p->taken));
  VYRE_TRY(p->batch || count < 2 ? VYRE_OK : vyre_batch_create(NULL, &p->batch));
  for (uint32_t i = 0; i < count && t->report; i++)
    VYRE_TRY(vyre_report_create(NULL, &works[i].report));
  return VYRE_OK;
}

static void
process_guarded(tool *t, const process *p, work *works, uint32_t count)
{
  working at = {t, works, count};
  pthread_cleanup_push(end_with_thread, &at);
  process_inputs(p, works, count, t->options.threads == 1);
  pthread_cleanup_pop(0);
}

static void
process_works(tool *t, process *p, work *works, uint32_t count)
{
  vyre_status status = prepare_works(t, p, works, count);
  for (uint32_t i = 0; i < count && status; i++)
    works[i].status = VYRE_ERROR(vyre_status_code(status), "%s", vyre_status_text(status));
  if (!status)
    process_guarded(t, p, works, count);
  vyre_status_free(status);
}

/* One thread's work: the next inputs that no thread has begun, until there are none. */
static void *
work_on(void *user)
{
  const worker *self = user;
  tool *t = self->tool;
  const uint32_t count = t->options.inputs.count;
  const uint64_t ahead = (uint64_t)t->options.threads * (t->options.batch_most > 4 ? 2 * (uint64_t)t->options.batch_most : 8);
  process p = {.options = &t->options, .pipeline = t->pipeline, .device = self->device, .home = t->home};
  guard_thread();
  pthread_mutex_lock(&t->lock);
  for (;;) {
    while (t->begun < count && t->begun - t->finished >= ahead) /* what waits takes memory */
      pthread_cond_wait(&t->turn, &t->lock);
    if (t->begun >= count)
      break;
    work *works = &t->works[t->begun];
    const uint32_t taken = next_count(t);
    t->begun += taken;
    pthread_mutex_unlock(&t->lock);
    process_works(t, &p, works, taken);
    pthread_mutex_lock(&t->lock);
    end_works(t, works, taken);
  }
  end_worker(t);
  vyre_batch_destroy(p.batch);
  vyre_module_destroy(p.taken);
  vyre_module_destroy(p.module);
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
  for (uint32_t i = 0; i < inputs->count; i++)
    t->works[i].path = inputs->names[i];
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
    process_say(NULL, text.data, text.size);
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
  const tool_options *o = &t->options;
  const vyre_target_options options = {.library = o->library, .device = o->device, .validate = o->validate, .threads = o->sweepers};
  const vyre_target_ops *target = NULL;
  const bool is_auto = is_chosen(o);
  vyre_status status = is_auto ? VYRE_OK : find_target(o, &target);
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
  t->alive = threads;
  while (more < threads && pthread_create(&workers[more].thread, NULL, work_on, &workers[more]) == 0)
    more++;
  pthread_mutex_lock(&t->lock);
  t->alive -= threads - more; /* which could not be made */
  pthread_mutex_unlock(&t->lock);
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
