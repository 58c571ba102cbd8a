/* -isolate: a process for each input.
 *
 * The parent forks each process before it has devices and threads.  The child reads the input, runs the passes and makes the
 * output. Output and messages go to anonymous files, counters to shared memory.  The parent finishes inputs in order, and only the
 * parent writes outputs, so that a child that crashes leaves no output.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/progress.h"
#include "base/clock.h"
#include "reproducer.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Writes bytes to a file of the parent. */
static vyre_status
write_all(int file, const vyre_bytes *what, const char *name)
{
  for (size_t at = 0; at < what->size;) {
    const ssize_t wrote = write(file, what->data + at, what->size - at);
    if (wrote <= 0)
      return VYRE_ERROR(VYRE_CODE_INPUT, "cannot write %s to a temporary file: %s\nFix: free memory", name, strerror(errno));
    at += (size_t)wrote;
  }
  return VYRE_OK;
}

vyre_status
tool_hand_over_notes(const tool *t, const work *w)
{
  for (note i = 0; i < NOTE__COUNT; i++)
    VYRE_TRY(write_all(t->isolated_notes[i], &w->notes[i], "notes"));
  return VYRE_OK;
}

vyre_status
tool_hand_over(const tool *t, work *w)
{
  isolated_work *to = t->isolated;
  VYRE_TRY(write_all(t->isolated_output, &w->output, "the output"));
  to->kind = w->kind;
  to->is_done = true;
  return VYRE_OK;
}

/* Allocates in the memory that the parent shares. */
static void *
resize_shared(void *user, void *memory, size_t old_size, size_t new_size)
{
  isolated_work *shared = user;
  if (new_size <= old_size)
    return new_size ? memory : NULL;
  const size_t taken = (new_size + 15) / 16 * 16;
  if (taken < new_size || taken > sizeof(shared->memory) - shared->used)
    return NULL;
  char *more = shared->memory + shared->used;
  shared->used += taken;
  if (old_size)
    memcpy(more, memory, old_size);
  return more;
}

vyre_status
tool_create_report(const tool *t, vyre_report **out)
{
  vyre_allocator shared = *vyre_allocator_default();
  shared.resize = resize_shared;
  shared.user = t->isolated;
  return vyre_report_create_like(t->report, t->isolated ? &shared : NULL, out);
}

/* Processes the input in the child and ends the child.  Messages go to the parent's anonymous file. */
static _Noreturn void
process_isolated(tool *t, uint32_t index, const isolation *of)
{
  const work *of_input = &t->works[index]; /* the input may have been processed before */
  t->works[index] = (work){.path = of_input->path, .given = of_input->given, .variant = of_input->variant};
  t->isolated = of->process.more;
  t->isolated_output = of->output;
  t->isolated_notes = of->notes;
  t->begun = t->finished = index;
  t->end = index + 1;
  t->code = 0;
  t->options.threads = 1;
  progress_begin(0);
  if (dup2(of->said, STDERR_FILENO) < 0)
    isolate_leave(VYRE_CODE_INTERNAL);
  isolate_leave(tool_process_here(t, 1));
}

/* Limits the memory of this process: its data, not its reserved address space. */
static vyre_status
limit_memory(const tool_options *o)
{
  const rlim_t bytes = (rlim_t)o->isolate_memory.value << 20;
  if (o->isolate_memory.text && setrlimit(RLIMIT_DATA, &(struct rlimit){bytes, bytes}) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot limit the memory of a process: %s\nFix: lower -isolate-memory", strerror(errno));
  return VYRE_OK;
}

/* Starts a child.  `change` is called in the child. */
static vyre_status
begin_isolated(tool *t, uint32_t index, tool_change change, const void *user, isolation *of)
{
  of->said = memfd_create("said", MFD_CLOEXEC);
  of->output = memfd_create("output", MFD_CLOEXEC);
  bool has_files = of->said >= 0 && of->output >= 0;
  for (note i = 0; i < NOTE__COUNT; i++) {
    of->notes[i] = memfd_create("notes", MFD_CLOEXEC);
    has_files = has_files && of->notes[i] >= 0;
  }
  if (!has_files)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create a temporary file for -isolate: %s\nFix: leave out -isolate", strerror(errno));
  lseek(STDIN_FILENO, 0, SEEK_SET); /* rewinds the file that tool_keep_stdin may have made; fails on a pipe */
  VYRE_TRY(isolate_begin(sizeof(isolated_work), &of->process));
  of->is_running = true;
  of->begun = clock_now();
  if (of->process.pid != 0)
    return VYRE_OK;
  vyre_status status = limit_memory(&t->options);
  if (!status && change)
    status = change(t, index, user);
  if (status)
    isolate_leave(tool_complain(status));
  process_isolated(t, index, of);
}

static vyre_status
read_all(int file, vyre_bytes *out)
{
  char part[1 << 14];
  lseek(file, 0, SEEK_SET);
  for (ssize_t got; (got = read(file, part, sizeof(part))) > 0;)
    VYRE_TRY(vyre_bytes_append(out, part, (size_t)got));
  VYRE_TRY(vyre_bytes_append(out, "", 1)); /* texts end with a zero byte */
  out->size--;
  return VYRE_OK;
}

/* Returns the error of a pass whose process was killed. */
static vyre_status
timeout_error(const isolation *of, const tool_options *o)
{
  const vyre_plugin_code *code = &of->late;
  const uint32_t seconds = (uint32_t)o->pass_timeout.value;
  if (of->is_late)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "the input took longer than %" PRIu64 " s\nFix: raise -isolate-seconds, or leave the input out",
                      o->isolate_seconds.value);
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "pass '%s' (%s), run %" PRIu64 " of the pipeline, took longer than %u s\n"
                    "Fix: raise -pass-timeout, or report the pass with a file of -reproducer=DIR",
                    code->pass, code->path, code->run, seconds);
}

/* Reads the results of a child that has ended. */
static void
read_results(const tool *t, isolation *of, int status, work *w)
{
  of->is_running = false;
  const isolated_work *gave = of->process.more;
  vyre_status read = read_all(of->said, &w->said);
  for (note i = 0; i < NOTE__COUNT; i++)
    read = vyre_status_join(read, read_all(of->notes[i], &w->notes[i]));
  w->status = of->late.pass || of->is_late ? timeout_error(of, &t->options) : isolate_end(&of->process, status, &w->reported_code);
  if (!w->status)
    w->report = gave->report;
  if (!w->status && gave->is_done) {
    w->has_output = true;
    w->kind = gave->kind;
    read = vyre_status_join(read, read_all(of->output, &w->output));
  }
  w->status = vyre_status_join(w->status, read);
  w->done = true;
}

static void
free_isolated(isolation *of)
{
  if (of->said > 0)
    close(of->said);
  if (of->output > 0)
    close(of->output);
  for (note i = 0; i < NOTE__COUNT; i++)
    if (of->notes[i] > 0)
      close(of->notes[i]);
  isolate_free(&of->process);
}

/* Returns whether the parent looks at the clock while children run. */
static bool
has_limits(const tool *t)
{
  return t->options.pass_timeout.value || t->options.isolate_seconds.value;
}

/* Kills the process if a pass has exceeded -pass-timeout, or the input -isolate-seconds. */
static void
kill_if_late(const tool *t, isolation *of)
{
  const vyre_plugin_code code = of->process.record->where.code;
  const uint64_t most = t->options.pass_timeout.value * UINT64_C(1000000000), now = clock_now();
  const uint64_t whole = t->options.isolate_seconds.value * UINT64_C(1000000000);
  if (of->late.pass || of->is_late)
    return;
  if (most && code.pass && code.since && now > code.since && now - code.since > most)
    of->late = code;
  of->is_late = whole && now - of->begun > whole;
  if (of->late.pass || of->is_late)
    kill(of->process.pid, SIGKILL);
}

/* Waits until one of the children ends. */
static isolation *
wait_for_one(const tool *t, isolation *all, uint32_t count, int *out_status)
{
  for (;;) {
    const pid_t ended = waitpid(-1, out_status, has_limits(t) ? WNOHANG : 0);
    for (uint32_t i = 0; i < count; i++) {
      if (ended > 0 && all[i].process.pid == ended)
        return &all[i];
      if (ended == 0 && all[i].is_running)
        kill_if_late(t, &all[i]);
    }
    if (ended == 0)
      nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

/* ---- all inputs ---------------------------------------------------------------------------------------------------------- */

static uint64_t
last_run(const isolation *of)
{
  return of->process.record ? of->process.record->where.code.run : 0;
}

static void
end_isolated(tool *t, uint32_t index)
{
  isolation *of = &t->isolations[index];
  const work *w = &t->works[index];
  vyre_bytes messages = {0};
  if (t->options.reproducer && (w->status || w->reported_code))
    reproducer_write(t, index, last_run(of), &messages);
  tool_finish_input(t, index);
  if (messages.size && !t->deliver)
    process_print(NULL, messages.data, messages.size);
  vyre_bytes_free(&messages);
  free_isolated(of);
}

int
tool_process_apart(tool *t, uint32_t most)
{
  const uint32_t count = t->options.inputs.count;
  free(t->isolations); /* of jobs before */
  t->isolations = calloc(count, sizeof(*t->isolations));
  if (!t->isolations)
    return tool_complain(VYRE_OUT_OF_MEMORY("for the inputs"));
  fflush(stdout);
  const int failed = tool_complain(tool_keep_stdin(t));
  if (failed)
    return failed;
  progress_begin(t->deliver ? 0 : tool_count_due(t));
  for (uint32_t running = 0; t->finished < count;) {
    while (running < most && t->begun < count && t->begun - t->finished < 8 * most) {
      const uint32_t index = t->begun++;
      work *w = &t->works[index];
      w->status = w->is_left_out ? VYRE_OK : begin_isolated(t, index, NULL, NULL, &t->isolations[index]);
      w->done = w->is_left_out || w->status != VYRE_OK;
      running += !w->done;
    }
    if (running) {
      int status;
      isolation *ended = wait_for_one(t, &t->isolations[t->finished], t->begun - t->finished, &status);
      read_results(t, ended, status, &t->works[ended - t->isolations]);
      running--;
    }
    while (t->finished < t->begun && t->works[t->finished].done)
      end_isolated(t, t->finished++);
  }
  return t->code;
}

/* ---- one input again ----------------------------------------------------------------------------------------------------- */

vyre_status
tool_keep_stdin(const tool *t)
{
  bool is_read = false;
  for (uint32_t i = 0; i < t->options.inputs.count; i++)
    is_read |= strcmp(t->options.inputs.names[i], "-") == 0;
  if (!is_read || !(t->options.reproducer || t->options.bisect || t->options.reduce))
    return VYRE_OK;
  vyre_bytes text = {0};
  const int file = memfd_create("input", MFD_CLOEXEC);
  vyre_status status = vyre_file_read("-", &text);
  if (!status && (file < 0 || write(file, text.data, text.size) != (ssize_t)text.size || dup2(file, STDIN_FILENO) < 0))
    status = VYRE_ERROR(VYRE_CODE_INPUT, "cannot keep standard input in a temporary file: %s\nFix: name a file as the input",
                        strerror(errno));
  if (file >= 0)
    close(file);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
tool_attempt(tool *t, uint32_t index, tool_change change, const void *user, work *out, uint64_t *out_run)
{
  isolation of = {0};
  int ended;
  *out = (work){.path = t->works[index].path, .given = t->works[index].given, .variant = t->works[index].variant};
  vyre_status status = begin_isolated(t, index, change, user, &of);
  if (!status) {
    while (waitpid(of.process.pid, &ended, has_limits(t) ? WNOHANG : 0) != of.process.pid) {
      kill_if_late(t, &of); /* children of other inputs may run, and are waited for elsewhere */
      nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    read_results(t, &of, ended, out);
    out->report = NULL; /* its memory is freed with the child's shared memory */
    *out_run = last_run(&of);
  }
  free_isolated(&of);
  return status;
}

void
tool_free_attempt(work *w)
{
  vyre_status_free(w->status);
  vyre_bytes_free(&w->said);
  vyre_bytes_free(&w->output);
  for (note i = 0; i < NOTE__COUNT; i++)
    vyre_bytes_free(&w->notes[i]);
}

int
work_code(const work *w)
{
  return w->status ? (int)vyre_status_code(w->status) : w->reported_code;
}
