/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_SUCH_COMMAND = 126 }; /* exit codes 126 and 127 of a shell */

vyre_status
judge_begin(const tool_options *options, judge *out)
{
  const char *temporary = getenv("TMPDIR");
  *out = (judge){.options = options};
  snprintf(out->folder, sizeof(out->folder) - 16, "%s/vyre-bisect-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  return mkdtemp(out->folder)
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_INPUT,
                          "-bisect: cannot create the temporary folder '%s': %s\nFix: set TMPDIR to a folder that can be written",
                          out->folder, strerror(errno));
}

void
judge_end(judge *j)
{
  if (j->path[0])
    unlink(j->path);
  if (j->plain[0])
    unlink(j->plain);
  rmdir(j->folder);
}

vyre_status
judge_write(judge *j, const work *w, const char *name, char path[PATH_MAX])
{
  snprintf(path, PATH_MAX, "%s/%s%s", j->folder, name, output_endings[outputs_form(j->options, w->kind)]);
  return vyre_file_write(path, w->output.data, w->output.size);
}

/* Appends the command with paths in place of {} and {in}. */
static vyre_status
make_command(const judge *j, vyre_bytes *out)
{
  const char *at = j->options->bisect;
  if (j->is_quiet)
    VYRE_TRY(vyre_bytes_printf(out, "exec > /dev/null 2>&1; "));
  for (const char *hole; (hole = strchr(at, '{')) != NULL;) {
    const bool is_plain = strncmp(hole, "{in}", 4) == 0 && j->plain[0];
    const char *path = is_plain ? j->plain : strncmp(hole, "{}", 2) == 0 ? j->path : NULL;
    VYRE_TRY(vyre_bytes_append(out, at, (size_t)(hole - at) + !path));
    if (path)
      VYRE_TRY(vyre_bytes_append(out, path, strlen(path)));
    at = hole + (is_plain ? 4 : path ? 2 : 1);
  }
  return vyre_bytes_append(out, at, strlen(at) + 1);
}

vyre_status
judge_run(const judge *j, bool *out_bad)
{
  vyre_bytes command = {0};
  vyre_status status = make_command(j, &command);
  const int ended = status ? 0 : system(command.data);
  if (!status && ended < 0)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "-bisect: cannot start a shell: %s\nFix: free memory and processes", strerror(errno));
  if (!status && WIFEXITED(ended) && WEXITSTATUS(ended) >= NO_SUCH_COMMAND && WEXITSTATUS(ended) <= NO_SUCH_COMMAND + 1)
    status =
        VYRE_ERROR(VYRE_CODE_USAGE,
                   "-bisect: the shell cannot run the command: %s\nFix: give a command of the shell, with {} for the output's file",
                   j->options->bisect);
  *out_bad = ended != 0;
  vyre_bytes_free(&command);
  return status;
}
