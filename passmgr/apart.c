/* -isolate: inputs in processes of their own.
 *
 * Each is forked before there are devices and threads.  It reads the input, runs the passes and makes the output, whose bytes go to
 * a file without a name, as all does that it says; what it counted is in memory that both have.  Who waits for it finishes inputs
 * in their order, as it does those of its threads; so only it writes outputs, and of a process that ended otherwise there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Who waits for this process writes it. */
vyre_status
tool_hand_over(const tool *t, work *w)
{
  isolated_work *to = t->isolated;
  for (size_t at = 0; at < w->output.size;) {
    const ssize_t wrote = write(t->isolated_output, w->output.data + at, w->output.size - at);
    if (wrote <= 0)
      return VYRE_ERROR(VYRE_CODE_INPUT, "the output cannot be kept: %s\nFix: give the machine room", strerror(errno));
    at += (size_t)wrote;
  }
  to->kind = w->kind;
  to->making = w->making;
  to->is_done = true;
  return VYRE_OK;
}

/* Memory that who waits for this process has too. */
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
  return vyre_report_create(t->isolated ? &shared : NULL, out);
}

/* In the process: what it says goes to the file. */
static _Noreturn void
process_isolated(tool *t, uint32_t index)
{
  const isolation *of = &t->isolations[index];
  t->isolated = of->process.more;
  t->isolated_output = of->output;
  t->begun = t->finished = index;
  t->end = index + 1;
  t->code = 0;
  t->options.threads = 1;
  progress_begin(0);
  if (dup2(of->said, STDERR_FILENO) < 0)
    isolate_leave(VYRE_CODE_INTERNAL);
  isolate_leave(tool_process_here(t, 1));
}

static vyre_status
begin_isolated(tool *t, uint32_t index)
{
  isolation *of = &t->isolations[index];
  of->said = memfd_create("said", MFD_CLOEXEC);
  of->output = memfd_create("output", MFD_CLOEXEC);
  if (of->said < 0 || of->output < 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "no file for a process of its own: %s\nFix: leave out -isolate", strerror(errno));
  VYRE_TRY(isolate_begin(sizeof(isolated_work), &of->process));
  if (of->process.pid == 0)
    process_isolated(t, index);
  return VYRE_OK;
}

static vyre_status
read_all(int file, vyre_bytes *out)
{
  char part[1 << 14];
  lseek(file, 0, SEEK_SET);
  for (ssize_t got; (got = read(file, part, sizeof(part))) > 0;)
    VYRE_TRY(vyre_bytes_append(out, part, (size_t)got));
  return VYRE_OK;
}

/* It ended. */
static void
take_isolated(tool *t, uint32_t index, int status)
{
  work *w = &t->works[index];
  isolation *of = &t->isolations[index];
  const isolated_work *gave = of->process.more;
  vyre_status read = read_all(of->said, &w->said);
  w->status = isolate_end(&of->process, status, &w->told);
  if (!w->status)
    w->report = gave->report;
  if (!w->status && gave->is_done) {
    w->has_output = true;
    w->kind = gave->kind;
    w->making = gave->making;
    read = vyre_status_join(read, read_all(of->output, &w->output));
  }
  w->status = vyre_status_join(w->status, read);
  w->done = true;
}

static void
end_isolated(tool *t, uint32_t index)
{
  isolation *of = &t->isolations[index];
  tool_finish_input(t, index);
  if (of->said > 0)
    close(of->said);
  if (of->output > 0)
    close(of->output);
  isolate_free(&of->process);
}

int
tool_process_apart(tool *t, uint32_t most)
{
  const uint32_t count = t->options.inputs.count;
  t->isolations = calloc(count, sizeof(*t->isolations));
  if (!t->isolations)
    return tool_complain(VYRE_OUT_OF_MEMORY("for the inputs"));
  fflush(stdout);
  progress_begin(count);
  for (uint32_t running = 0; t->finished < count;) {
    while (running < most && t->begun < count && t->begun - t->finished < 8 * most) {
      work *w = &t->works[t->begun];
      w->status = begin_isolated(t, t->begun++);
      w->done = w->status != VYRE_OK;
      running += w->status == VYRE_OK;
    }
    int status;
    const pid_t ended = running ? waitpid(-1, &status, 0) : 0;
    for (uint32_t i = t->finished; i < t->begun && ended > 0; i++)
      if (t->isolations[i].process.pid == ended) {
        take_isolated(t, i, status);
        running--;
      }
    while (t->finished < t->begun && t->works[t->finished].done)
      end_isolated(t, t->finished++);
  }
  return t->code;
}
