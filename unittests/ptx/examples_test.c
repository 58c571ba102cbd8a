/* ptxas compiles the examples' shaders for each architecture without register spills.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptxas.h"

#include <glob.h>

enum { MOST = 1 << 20 }; /* bytes of a text */

static const uint32_t architectures[] = {75, 80, 90, 100};

/* Runs vyre-passmgr with the default passes.  Returns the size of the PTX. */
static size_t
write_shader(const char *path, uint32_t sm, char *text)
{
  char command[1024];
  snprintf(command, sizeof command, "%s -passes='default<O2>' -ptx-sm=%u -emit=ptx %s -o -", PASSMGR, sm, path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  const size_t size = fread(text, 1, MOST, pipe);
  if (pclose(pipe) != 0)
    fail_msg("command failed: %s", command);
  assert_in_range(size, 1, MOST - 1);
  return size;
}

TEST(no_example_shader_spills_registers)
{
  glob_t found;
  if (!needs_ptxas())
    return;
  char *text = malloc(MOST);
  assert_non_null(text);
  assert_int_equal(glob(SHADERS "/*.comp", 0, NULL, &found), 0);
  print_message("registers for sm_75, 80, 90, 100:\n");
  for (size_t i = 0; i < found.gl_pathc; i++) {
    const char *name = strrchr(found.gl_pathv[i], '/') + 1;
    print_message("%-20s", name);
    for (size_t k = 0; k < sizeof architectures / sizeof *architectures; k++) {
      ptxas_result result;
      const size_t size = write_shader(found.gl_pathv[i], architectures[k], text);
      check_ptxas(text, size, architectures[k], "-v", name, &result);
      print_message(" %u", result.most);
      if (result.spilled)
        fail_msg("%s: spills for sm_%u, %u bytes of stores and loads", name, architectures[k], result.spilled);
    }
    print_message("\n");
  }
  assert_true(found.gl_pathc >= 10);
  globfree(&found);
  free(text);
}
