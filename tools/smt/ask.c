/* Asking z3.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "smt.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

char *
smt_ask(void (*write)(FILE *to, void *context), void *context, FILE *report)
{
  const char *z3 = getenv("Z3");
  char command[512];
  const int file = memfd_create("vyre-smt", 0); /* z3 has it, too */
  if (file < 0) {
    fprintf(report, "no memory for z3's answer\n");
    return NULL;
  }
  snprintf(command, sizeof command, "'%s' -smt2 -in >/dev/fd/%d", z3 ? z3 : "z3", file);
  signal(SIGPIPE, SIG_IGN); /* a z3 that ends early is known by its answer */
  FILE *pipe = popen(command, "w");
  int status = -1;
  if (pipe) {
    write(pipe, context);
    status = pclose(pipe);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) >= 126) {
    fprintf(report, "z3 does not run (%s)\nFix: install the package z3 (scripts/install-packages.sh tests installs all)\n",
            z3 ? z3 : "z3");
    close(file);
    return NULL;
  }
  FILE *answer = fdopen(file, "r");
  size_t length = 0, room = 1 << 16;
  char *text = malloc(room);
  for (size_t got; text && answer && (got = fread(text + length, 1, room - length - 1, answer)) > 0;) {
    length += got;
    if (length + 1 == room)
      text = realloc(text, room *= 2);
  }
  if (!text)
    abort();
  text[length] = 0;
  if (answer)
    fclose(answer);
  return text;
}
