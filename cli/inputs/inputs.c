/* Processes the inputs in order.  Each input is a module of its own; with -batch many inputs share a module.  An input that fails
 * has no output, and the others are still processed.  The exit code is that of the first failure.  With -j several threads work,
 * each with its own module.  Messages and outputs wait for the inputs before them, so that they do not depend on -j and -batch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/console.h"
#include "depends.h"
#include "cli/report/observer.h"
#include "cli/report/progress.h"
#include "cli/debug/debug.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PATH = 4096 };

int
tool_complain(vyre_status status)
{
  if (status)
    progress_clear();
  return console_complain("vyre-passmgr", status);
}

/* ---- finishing inputs in order ------------------------------------------------------------------------------------------- */

static vyre_status
write_archive(const tool *t)
{
  const tool_options *o = &t->options;
  bool is_written;
  VYRE_TRY(archive_output_write(&t->archive, o->output, &is_written));
  return is_written && o->depends ? depends_write(o, o->inputs.names[0], VYRE_INPUT_SPIRV, o->output) : VYRE_OK;
}

static vyre_status
write_output(tool *t, uint32_t index)
{
  work *w = &t->works[index];
  const char *path;
  if (t->options.no_output)
    return VYRE_OK;
  if (t->archive.from) {
    archive_output_keep(&t->archive, &t->options.archives, w->path, &w->output);
    return VYRE_OK;
  }
  VYRE_TRY(outputs_choose(&t->outputs, index, w->kind, &path));
  vyre_stopwatch watch;
  vyre_stopwatch_start(&watch, NULL, "(write)");
  VYRE_TRY(vyre_file_write(path, w->output.data, w->output.size));
  if (t->options.depends)
    VYRE_TRY(depends_write(&t->options, w->path, w->kind, path));
  vyre_report_stop(w->report, &watch);
  return VYRE_OK;
}

/* Ends the input's part of the page.  An isolated process has ended it already, unless the process was lost. */
static vyre_status
end_page(const tool *t, work *w)
{
  vyre_bytes *page = &w->notes[NOTE_PAGE];
  if (!t->options.html || (t->isolations && !t->isolated && page->size))
    return VYRE_OK;
  if (!page->size)
    VYRE_TRY(page_begin(page, w->path));
  return page_end(page, w->status ? vyre_status_text(w->status) : NULL);
}

static vyre_status
collect_notes(tool *t, work *w)
{
  vyre_status status = end_page(t, w);
  if (!status && t->isolated)
    status = tool_hand_over_notes(t, w);
  for (note i = 0; i < NOTE__COUNT; i++) {
    if (!status && !t->isolated)
      status = vyre_bytes_append(&t->notes[i], w->notes[i].data, w->notes[i].size);
    vyre_bytes_free(&w->notes[i]);
  }
  return status;
}

void
tool_finish_input(tool *t, uint32_t index)
{
  work *w = &t->works[index];
  if (w->is_left_out)
    return;
  if (t->deliver && !t->isolated) {
    t->deliver(t, index);
    return;
  }
  if (w->said.size)
    process_print(NULL, w->said.data, w->said.size);
  if (!w->status && (!w->reported_code || w->has_output))
    w->status = t->isolated ? tool_hand_over(t, w) : write_output(t, index);
  w->status = vyre_status_join(w->status, collect_notes(t, w));
  if (t->options.inputs.count > 1 && !t->deliver)
    w->status = vyre_status_note(w->status, "input '%s'", t->options.inputs.names[index]);
  if (w->report && t->isolated)
    t->isolated->report = w->report;
  else if (w->report)
    vyre_report_add(t->report, w->report);
  if (!t->isolated)
    vyre_report_destroy(w->report);
  vyre_bytes_free(&w->said);
  vyre_bytes_free(&w->output);
  const int failed = tool_complain(w->status);
  progress_step(failed || w->reported_code);
  t->errors += w->errors;
  t->warnings += w->warnings;
  t->code = t->code ? t->code : failed ? failed : w->reported_code;
}

/* Marks inputs as done and finishes all that wait for no earlier input.  The lock is held. */
static void
end_works(tool *t, work *works, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    works[i].done = true;
  while (t->finished < t->end && t->works[t->finished].done)
    tool_finish_input(t, t->finished++);
  pthread_cond_broadcast(&t->turn);
}

typedef struct working {
  tool *tool;
  work *works;
  uint32_t count;
} working;

/* Releases the lock at the end of a worker.  The last worker ends the process if the main thread has ended, because libc does not
 * while a driver has threads. */
static void
end_worker(tool *t)
{
  const bool is_last = --t->alive == 0 && t->is_main_gone;
  pthread_mutex_unlock(&t->lock);
  if (is_last)
    exit(VYRE_CODE_USAGE); /* guard.c has reported the pass */
}

/* The cleanup handler of a worker: a pass has ended the thread. */
static void
end_with_thread(void *user)
{
  const working *at = user;
  const vyre_plugin_code code = vyre_plugin_code_running();
  guard_thread_ended();
  for (uint32_t i = 0; i < at->count; i++) {
    vyre_status_free(at->works[i].status);
    at->works[i].status = VYRE_ERROR(
        VYRE_CODE_USAGE, "pass '%s' (%s) ended its thread\nFix: return from the pass, and report failures with host->error",
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
  const page_driver *driver;
  pthread_t thread;
} worker;

/* Returns the number of inputs that a thread processes next: a fair share, whose files are at most BATCH_BYTES together. */
static uint32_t
next_count(const tool *t)
{
  const name_list *inputs = &t->options.inputs;
  const uint32_t threads = t->options.threads, share = inputs->count / threads + (inputs->count % threads != 0);
  const uint32_t left = t->end - t->begun, fair = share < left ? share : left;
  if (t->options.variants.count && left >= t->options.variants.count && !t->isolations && !t->isolated)
    return t->options.variants.count;
  const uint32_t most = t->options.batch_most < fair ? t->options.batch_most : fair;
  uint32_t count = 0;
  for (uint64_t bytes = 0; count < most && bytes < BATCH_BYTES; count++)
    bytes += most > 1 ? archives_size(&t->options.archives, inputs->names[t->begun + count]) : 0;
  return count;
}

static vyre_status
prepare_works(const tool *t, process *p, work *works, uint32_t count)
{
  VYRE_TRY(p->module ? VYRE_OK : vyre_module_create(NULL, 0, &p->module));
  VYRE_TRY(p->taken || count < 2 ? VYRE_OK : vyre_module_create(NULL, 0, &p->taken));
  VYRE_TRY(p->batch || count < 2 ? VYRE_OK : vyre_batch_create(NULL, &p->batch));
  for (uint32_t i = 0; i < count && t->report; i++)
    if (!works[i].is_left_out)
      VYRE_TRY(tool_create_report(t, &works[i].report));
  return VYRE_OK;
}

static void
process_guarded(tool *t, const process *p, work *works, uint32_t count)
{
  working at = {t, works, count};
  pthread_cleanup_push(end_with_thread, &at);
  process_inputs(p, works, count, t->options.threads == 1 && !t->deliver);
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

/* The main function of a worker: processes inputs until all are begun. */
static void *
work_on(void *user)
{
  const worker *self = user;
  tool *t = self->tool;
  const uint32_t count = t->end;
  const uint64_t ahead = (uint64_t)t->options.threads * (t->options.batch_most > 4 ? 2 * (uint64_t)t->options.batch_most : 8);
  process p = {.options = &t->options,
               .pipeline = t->pipeline,
               .device = self->device,
               .driver = self->driver,
               .cost_model = t->cost_model,
               .cache = t->cache.level_count ? &t->cache : NULL,
               .is_apart = t->isolated != NULL,
               .is_of_queue = t->deliver != NULL,
               .home = t->home};
  guard_thread();
  pthread_mutex_lock(&t->lock);
  for (;;) {
    while (t->begun < count && t->begun - t->finished >= ahead) /* finished inputs that wait use memory */
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

/* Returns whether the output cache may be used: not with options that observe the passes. */
static bool
may_use_cache(const tool_options *o)
{
  return o->output_cache.count && !observer_is_needed(o) && !o->list_runs && !o->debug_manager && !o->stats && !o->reproducer &&
         !o->bisect && !o->reduce;
}

static vyre_status
prepare_inputs(tool *t)
{
  const name_list *inputs = &t->options.inputs;
  if (inputs->count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input\nFix: name a file, or - for standard input");
  for (uint32_t i = 0; i < inputs->count && t->options.outdir; i++)
    if (strcmp(inputs->names[i], "-") == 0)
      return VYRE_ERROR(VYRE_CODE_USAGE, "standard input has no name for -outdir\nFix: name the output with -o");
  t->works = calloc(inputs->count, sizeof(*t->works));
  if (!t->works)
    return VYRE_OUT_OF_MEMORY("for the inputs");
  for (uint32_t i = 0; i < inputs->count; i++)
    t->works[i] = (work){.path = inputs->names[i],
                         .variant = t->options.variants.count ? i % t->options.variants.count : 0,
                         .is_left_out = t->left_out && t->left_out[i]};
  t->end = inputs->count;
  VYRE_TRY(archive_output_begin(&t->options.archives, t->options.output, inputs->names[0], &t->archive));
  VYRE_TRY(outputs_prepare(&t->options, &t->outputs));
  if (may_use_cache(&t->options))
    VYRE_TRY(output_cache_begin(&t->options, t->registry, t->pipeline, &t->cache));
  if (t->options.time_passes || t->options.time_trace || t->options.stats)
    VYRE_TRY(vyre_report_create(NULL, &t->report));
  if (t->options.time_trace)
    vyre_report_keep_events(t->report);
  return VYRE_OK;
}

/* Writes the text to a file, or to standard error if `path` is NULL, and frees it. */
static vyre_status
write_report(vyre_status status, const char *path, vyre_bytes *text)
{
  if (!status && path)
    status = vyre_file_write(path, text->data, text->size);
  else if (!status)
    process_print(NULL, text->data, text->size);
  vyre_bytes_free(text);
  return status;
}

static vyre_status
write_page(const tool *t)
{
  vyre_bytes pipeline = {0};
  vyre_status status = t->pipeline ? vyre_pipeline_print(t->pipeline, &pipeline) : VYRE_OK;
  if (!status)
    status = vyre_bytes_append(&pipeline, "", 1);
  if (!status)
    status = page_write(t->options.html, pipeline.data, &t->notes[NOTE_PAGE]);
  vyre_bytes_free(&pipeline);
  return status;
}

static vyre_status
print_report(const tool *t)
{
  const tool_options *o = &t->options;
  vyre_bytes text = {0};
  if (o->time_passes)
    VYRE_TRY(write_report(strcmp(o->time_passes, "json") == 0 ? vyre_report_times_json(t->report, &text)
                                                              : vyre_report_times(t->report, &text),
                          NULL, &text));
  if (o->stats)
    VYRE_TRY(write_report(vyre_report_stats(t->report, o->stats_format, &text), o->stats_file, &text));
  const vyre_bytes *remarks = &t->notes[NOTE_REMARKS];
  if (o->remarks)
    VYRE_TRY(vyre_file_write(o->remarks, remarks->data ? remarks->data : "", remarks->size));
  if (o->html)
    VYRE_TRY(write_page(t));
  return o->time_trace ? write_report(vyre_report_trace(t->report, &text), o->time_trace, &text) : VYRE_OK;
}

bool
tool_chooses_target(const tool_options *o)
{
  return o->target && strcmp(o->target, "auto") == 0;
}

vyre_status
tool_find_target(const tool_options *o, const vyre_target_ops **out)
{
  const char *name = o->target ? o->target : "cpu";
  const vyre_target_ops *target = vyre_target_find(name);
  *out = target == &vyre_target_cpu && !o->phases && !o->phase_threads.text ? NULL : target;
  return target ? VYRE_OK : options_no_target("target", name, ", auto");
}

/* Prints a remark of a target, from any thread. */
static void
remark(void *user, const char *text)
{
  flockfile(stderr);
  progress_clear();
  vyre_target_remark(user, text);
  funlockfile(stderr);
}

/* Opens the drivers of -device-stats.  -device, -library and -validate belong to the target of -target if that target has devices.
 */
static vyre_status
open_drivers(tool *t, uint32_t threads)
{
  const tool_options *o = &t->options;
  const vyre_target_ops *target = o->target ? vyre_target_find(o->target) : NULL;
  const bool is_other = (o->target && !target) || (target && target->list && strcmp(o->target, o->device_stats) != 0);
  const vyre_target_options options = {.struct_size = sizeof options,
                                       .library = is_other ? NULL : o->on.library,
                                       .device = is_other ? NULL : o->on.device,
                                       .validate = !is_other && o->on.validate,
                                       .timeout = (uint32_t)o->on.timeout.value};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < threads && !status; i++)
    status = page_driver_open(o->device_stats, options, &t->drivers[i]);
  return status;
}

vyre_status
tool_open_devices(tool *t, uint32_t threads)
{
  const tool_options *o = &t->options;
  static char program[] = "vyre-passmgr";
  char folder[MOST_PATH];
  vyre_target_options options = option_device_fill(&o->on, folder, sizeof folder);
  const vyre_target_ops *target = NULL;
  options.threads = o->sweepers;
  options.remark = o->is_verbose ? remark : NULL;
  options.remark_user = program;
  options.no_pinning = o->isolate;
  const bool is_auto = tool_chooses_target(o);
  vyre_status status = is_auto ? VYRE_OK : tool_find_target(o, &target);
  if (!status && !is_auto && !o->device_stats && !vyre_target_find(o->target ? o->target : "cpu")->list &&
      (o->on.device || o->on.library || o->on.validate))
    status = VYRE_ERROR(VYRE_CODE_USAGE,
                        "-%s needs a target with devices, but passes run on this machine's processors\n"
                        "Fix: name the target with -target",
                        o->on.device    ? "device"
                        : o->on.library ? "library"
                                        : "validate");
  for (uint32_t i = 0; i < threads && is_auto && !status; i++)
    status = vyre_device_open_auto(vyre_targets, &options, NULL, &t->devices[i]);
  for (uint32_t i = 0; i < threads && target && !status; i++)
    status = vyre_device_open(target, &options, NULL, &t->devices[i]);
  if (status && target)
    return vyre_status_note(status, "-target=cpu does not need a device");
  return status || !o->device_stats ? status : open_drivers(t, threads);
}

/* Adds the counters of the devices to the report.  An isolated process sends its report to the parent. */
vyre_status
tool_close_devices(tool *t)
{
  vyre_status status = VYRE_OK;
  vyre_report *report = t->isolated ? t->isolated->report : t->report;
  for (uint32_t i = 0; i < MOST_THREADS && t->options.stats && report; i++)
    if (t->devices[i])
      vyre_device_report(t->devices[i], report);
  for (uint32_t i = 0; i < MOST_THREADS; i++) {
    status = vyre_status_join(vyre_status_join(status, vyre_device_close(t->devices[i])), page_driver_close(t->drivers[i]));
    t->devices[i] = NULL;
    t->drivers[i] = NULL;
  }
  return status;
}

uint32_t
tool_count_due(const tool *t)
{
  uint32_t due = 0;
  for (uint32_t i = 0; i < t->options.inputs.count; i++)
    due += !t->works[i].is_left_out;
  return due;
}

void
tool_process_opened(tool *t, uint32_t threads)
{
  progress_begin(t->deliver ? 0 : tool_count_due(t));
  worker workers[MOST_THREADS];
  uint32_t more = 1;
  for (uint32_t i = 0; i < threads; i++)
    workers[i] = (worker){.tool = t, .device = t->devices[i], .driver = t->drivers[i]};
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->turn, NULL);
  t->alive = threads;
  while (more < threads && pthread_create(&workers[more].thread, NULL, work_on, &workers[more]) == 0)
    more++;
  pthread_mutex_lock(&t->lock);
  t->alive -= threads - more; /* threads that could not be created */
  pthread_mutex_unlock(&t->lock);
  work_on(&workers[0]);
  for (uint32_t i = 1; i < more; i++)
    pthread_join(workers[i].thread, NULL);
  pthread_cond_destroy(&t->turn);
  pthread_mutex_destroy(&t->lock);
}

int
tool_process_here(tool *t, uint32_t threads)
{
  const int code = tool_complain(tool_open_devices(t, threads));
  if (code)
    return code;
  tool_process_opened(t, threads);
  const int closing = tool_complain(tool_close_devices(t));
  return t->code ? t->code : closing;
}

int
tool_process_all(tool *t)
{
  const uint32_t inputs = t->options.inputs.count, threads = t->options.threads < inputs ? t->options.threads : inputs;
  const int unprepared = tool_complain(prepare_inputs(t));
  if (unprepared)
    return unprepared;
  if (options_show(&t->options, VYRE_WARNING) && archives_warn(&t->options.archives, console_diagnostics) &&
      t->options.forbids_warnings)
    return tool_complain(VYRE_ERROR(VYRE_CODE_INPUT, "-Werror makes the warning about the archive an error\n"
                                                     "Fix: make the archive again, or leave out -Werror"));
  const int code = t->options.reduce    ? tool_reduce(t)
                   : t->options.bisect  ? tool_bisect(t)
                   : t->options.isolate ? tool_process_apart(t, threads)
                                        : tool_process_here(t, threads),
            failed = tool_complain(vyre_status_join(write_archive(t), print_report(t)));
  return code ? code : failed;
}
