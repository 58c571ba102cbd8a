/* Runs work in a forked process.  isolate.h describes the functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "isolate.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The beginning of the shared memory. */
typedef struct header {
  guard_record record;
  volatile bool left; /* isolate_leave was called */
} header;

static header *mine; /* in the forked process */

vyre_status
isolate_begin(size_t more, isolated *out)
{
  const size_t begin = (sizeof(header) + 63) / 64 * 64;
  *out = (isolated){.size = begin + more};
  header *memory = mmap(NULL, out->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); /* zero */
  if (memory == MAP_FAILED)
    return VYRE_OUT_OF_MEMORY("for an isolated process");
  out->record = &memory->record;
  out->more = (char *)memory + begin;
  const pid_t parent = getpid();
  out->pid = fork();
  if (out->pid < 0) {
    const int error = errno;
    isolate_free(out);
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create a process: %s\nFix: leave out -isolate, or end other processes",
                      strerror(error));
  }
  if (out->pid == 0) {
    mine = memory;
    guard_isolated(out->record);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      raise(SIGKILL); /* the parent ended before prctl */
  }
  return VYRE_OK;
}

_Noreturn void
isolate_leave(int code)
{
  mine->left = true;
  _exit(guard_end(code));
}

vyre_status
isolate_end(const isolated *process, int status, int *out_code)
{
  const header *memory = (const header *)(const void *)process->record;
  guard_text text = {0};
  int code = process->record->code;
  *out_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (WIFEXITED(status) && memory->left)
    return VYRE_OK;
  if (process->record->text.length)
    text = process->record->text;
  else if (WIFSIGNALED(status))
    code = guard_report_signal(&process->record->where, WTERMSIG(status), &text);
  else
    code = guard_report_exit(&process->record->where, "a system call", &text);
  return VYRE_ERROR((vyre_code)code, "%s", text.bytes);
}

void
isolate_free(isolated *process)
{
  if (process->record)
    munmap(process->record, process->size);
  *process = (isolated){0};
}
