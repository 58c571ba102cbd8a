/* Runs z3.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "smt.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

char *
smt_solve(void (*write)(FILE *to, void *context), void *context, FILE *report)
{
  const char *z3 = getenv("Z3");
  char command[512];
  const int file = memfd_create("vyre-smt", 0); /* inherited by z3 */
  if (file < 0) {
    fprintf(report, "out of memory for the answer of z3\n");
    return NULL;
  }
  snprintf(command, sizeof command, "'%s' -smt2 -in >/dev/fd/%d", z3 ? z3 : "z3", file);
  signal(SIGPIPE, SIG_IGN); /* an early end of z3 is detected by the incomplete answer */
  FILE *pipe = popen(command, "w");
  int status = -1;
  if (pipe) {
    write(pipe, context);
    status = pclose(pipe);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) >= 126) {
    fprintf(report, "z3 does not run (%s)\nFix: install the package z3, for example with `scripts/install-packages.sh tests`\n",
            z3 ? z3 : "z3");
    close(file);
    return NULL;
  }
  const off_t size = lseek(file, 0, SEEK_END);
  char *text = size < 0 ? NULL : calloc((size_t)size + 1, 1);
  if (!text || pread(file, text, (size_t)size, 0) != size)
    abort();
  close(file);
  return text;
}
