/* Compiles PTX with ptxas and reads its output.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptxas.h"

#include <unistd.h>

bool
needs_ptxas(void)
{
  if (VYRE_PTXAS[0] == '/' && access(VYRE_PTXAS, X_OK) == 0)
    return true;
  print_message("ptxas is missing: the texts are not compiled\n");
  skip(); /* ptxas is not a Debian package: scripts/test.sh runs where it is installed and where it is not */
  return false;
}

/* Reads a line of output.  With -v, ptxas prints the spills of each kernel in a line, and its registers in the next. */
static void
read_line(const char *line, ptxas_result *out)
{
  const char *used = strstr(line, "Used "), *frame = strstr(line, "stack frame, ");
  uint32_t registers = 0, stores = 0, loads = 0;
  if (!out->said[0] && strstr(line, "error"))
    snprintf(out->said, sizeof out->said, "%s", line);
  if (used && sscanf(used, "Used %u", &registers) == 1) {
    out->kernels++;
    out->most = registers > out->most ? registers : out->most;
  }
  if (frame && sscanf(frame, "stack frame, %u bytes spill stores, %u", &stores, &loads) == 2)
    out->spilled += stores + loads;
}

void
run_ptxas(const char *text, size_t size, uint32_t sm, const char *options, ptxas_result *out)
{
  char path[64], command[512], line[512];
  *out = (ptxas_result){0};
  snprintf(path, sizeof path, "/tmp/vyre-ptxas-%ld.ptx", (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  snprintf(command, sizeof command, "%s %s -arch=sm_%u -o /dev/null %s 2>&1", VYRE_PTXAS, options, sm, path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  while (fgets(line, sizeof line, pipe))
    read_line(line, out);
  out->takes = pclose(pipe) == 0;
  unlink(path);
}

void
check_ptxas(const char *text, size_t size, uint32_t sm, const char *options, const char *what, ptxas_result *out)
{
  run_ptxas(text, size, sm, options, out);
  if (!out->takes)
    fail_msg("%s: ptxas for sm_%u fails: %s", what, sm, out->said[0] ? out->said : "no error is printed");
  if (strstr(options, "-v") && !out->kernels)
    fail_msg("%s: ptxas for sm_%u does not report registers", what, sm);
}

int
run_ptx_tests(int argc)
{
  cmocka_set_test_filter(argc > 1 ? "ptxas*" : NULL);
  cmocka_set_skip_filter(argc > 1 ? NULL : "ptxas*");
  return test_run(NULL, NULL);
}
