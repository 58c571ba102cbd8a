/* Programs that vyre-wrap runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include "vyre/spirv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

extern char **environ;

enum { KEPT = -1, NOWHERE = -2 };

/* Starts a program whose standard input, output and error are these descriptors, as they are in this process (KEPT), or /dev/null
 * (NOWHERE). */
static vyre_status
start(char *const *arguments, const int descriptors[3], pid_t *out)
{
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error)
    return VYRE_OUT_OF_MEMORY("to start a program");
  for (int i = 0; i < 3 && !error; i++)
    if (descriptors[i] >= 0)
      error = posix_spawn_file_actions_adddup2(&actions, descriptors[i], i);
    else if (descriptors[i] == NOWHERE)
      error = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
  if (!error)
    error = posix_spawnp(out, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error ? VYRE_ERROR(VYRE_CODE_USAGE, "cannot run '%s': %s\nFix: name the program of a compiler, which is in PATH",
                            arguments[0], strerror(error))
               : VYRE_OK;
}

/* Returns the exit code of a process, or 128 + N if signal N ended it. */
static int
wait_for(pid_t process)
{
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static ssize_t
read_piece(int descriptor, char piece[PIECE])
{
  ssize_t got;
  do
    got = read(descriptor, piece, PIECE);
  while (got < 0 && errno == EINTR);
  return got;
}

/* Writes all bytes, as far as the reader accepts them. */
static void
write_bytes(int descriptor, const char *bytes, size_t size)
{
  while (size > 0) {
    const ssize_t done = write(descriptor, bytes, size);
    if (done < 0 && errno != EINTR)
      return;
    bytes += done > 0 ? done : 0;
    size -= done > 0 ? (size_t)done : 0;
  }
}

/* Copies the output of the compiler, unless it begins as a SPIR-V module. */
static vyre_status
copy_output(int from, vyre_bytes *module)
{
  char piece[PIECE];
  bool is_copied = false;
  for (ssize_t got; (got = read_piece(from, piece)) > 0;) {
    if (!is_copied)
      VYRE_TRY(vyre_bytes_append(module, piece, (size_t)got));
    if (is_copied) {
      write_bytes(STDOUT_FILENO, piece, (size_t)got);
    } else if (module->size >= sizeof(uint32_t) && !vyre_spirv_is(module->data, module->size)) {
      write_bytes(STDOUT_FILENO, module->data, module->size);
      module->size = 0;
      is_copied = true;
    }
  }
  if (module->size > 0 && !vyre_spirv_is(module->data, module->size)) { /* fewer bytes than a word */
    write_bytes(STDOUT_FILENO, module->data, module->size);
    module->size = 0;
  }
  return VYRE_OK;
}

vyre_status
wrap_run_compiler(char *const *arguments, int *code, vyre_bytes *module)
{
  int ends[2] = {-1, -1};
  pid_t process;
  if (!isatty(STDOUT_FILENO) && pipe2(ends, O_CLOEXEC) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot make a pipe: %s\nFix: allow this process more open files", strerror(errno));
  vyre_status status = start(arguments, (int[]){KEPT, ends[1] >= 0 ? ends[1] : KEPT, KEPT}, &process);
  if (ends[1] >= 0)
    close(ends[1]);
  if (!status && ends[0] >= 0)
    status = copy_output(ends[0], module);
  if (ends[0] >= 0)
    close(ends[0]);
  if (!status)
    *code = wait_for(process);
  return status;
}

vyre_status
wrap_run_optimizer(char *const *arguments, bool is_verbose, const vyre_bytes *input, vyre_bytes *output, bool *passed)
{
  int in[2] = {NOWHERE, -1}, out[2] = {-1, NOWHERE};
  pid_t process;
  char piece[PIECE];
  *passed = false;
  signal(SIGPIPE, SIG_IGN); /* if the optimizer ends early, its exit code is reported */
  if ((input && pipe2(in, O_CLOEXEC) != 0) || (output && pipe2(out, O_CLOEXEC) != 0))
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot make a pipe: %s\nFix: allow this process more open files", strerror(errno));
  vyre_status status = start(arguments, (int[]){in[0], out[1], is_verbose ? KEPT : NOWHERE}, &process);
  if (input)
    close(in[0]);
  if (output)
    close(out[1]);
  if (!status && input) /* no deadlock, because the optimizer reads all of its input before it writes */
    write_bytes(in[1], input->data, input->size);
  if (input)
    close(in[1]);
  for (ssize_t got; !status && output && (got = read_piece(out[0], piece)) > 0;)
    status = vyre_bytes_append(output, piece, (size_t)got);
  if (output)
    close(out[0]);
  if (!status)
    *passed = wait_for(process) == 0;
  return status;
}
