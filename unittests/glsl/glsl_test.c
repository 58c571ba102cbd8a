/* GLSL to SPIR-V: shaders compile, messages have file and line, includes and defines work, and a failure leaves `out` empty.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/glsl.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first diagnostic of the last compilation, the number of its diagnostics, and its output. */
static struct {
  uint32_t count;
  char file[256];
  char message[512];
  char source[256];
  uint32_t line;
  vyre_severity severity;
} seen;
static vyre_bytes out;

static void
remember(void *user, const vyre_diagnostic *d)
{
  (void)user;
  if (seen.count++ > 0)
    return;
  seen.severity = d->severity;
  seen.line = d->line;
  snprintf(seen.file, sizeof seen.file, "%s", d->file ? d->file : "");
  snprintf(seen.message, sizeof seen.message, "%s", d->message);
  snprintf(seen.source, sizeof seen.source, "%.*s", (int)d->source_length, d->source ? d->source : "");
}

static vyre_code
compile(const char *text, const char *path, const vyre_glsl_options *options)
{
  memset(&seen, 0, sizeof seen);
  out.size = 0;
  vyre_status status = vyre_glsl_compile(text, strlen(text), path, options, (vyre_diagnostics){remember, NULL}, &out);
  const vyre_code code = vyre_status_code(status);
  vyre_status_free(status);
  return code;
}

TEST(compiles_a_shader_to_spirv)
{
  assert_int_equal(compile("#version 450\nlayout(local_size_x = 4) in;\nvoid main() {}\n", "a.comp", NULL), VYRE_CODE_OK);
  uint32_t header[2];
  assert_true(out.size > 20 && out.size % 4 == 0);
  memcpy(header, out.data, sizeof header);
  assert_int_equal(header[0], 0x07230203);
  assert_int_equal(header[1], 0x00010500);
  assert_int_equal(seen.count, 0);
}

TEST(an_error_has_file_line_and_text)
{
  assert_int_equal(vyre_status_code(VYRE_OK), 0);
  assert_int_equal(compile("#version 450\nvoid main() {\n  int a = b;\n}\n", "dir/bad.comp", NULL), VYRE_CODE_INPUT);
  assert_int_equal(seen.severity, VYRE_SEVERE);
  assert_string_equal(seen.file, "dir/bad.comp");
  assert_int_equal(seen.line, 3);
  assert_string_equal(seen.source, "  int a = b;");
  assert_non_null(strstr(seen.message, "undeclared identifier"));
  assert_int_equal(out.size, 0);
}

TEST(rejects_invalid_text)
{
  static const char *const texts[] = {"", "\x01\x02\xff\xfe", "#version 99999\n", "void main( {",
                                      "#version 450\n#include \"nowhere.glsl\"\nvoid main(){}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_int_equal(compile(texts[i], "noise.comp", NULL), VYRE_CODE_INPUT);
    assert_true(seen.count > 0);
    assert_int_equal(out.size, 0);
  }
}

TEST(defines_are_visible_in_the_shader)
{
  static const char *const defines[] = {"WIDTH=64", "QUICK"};
  const vyre_glsl_options options = {.struct_size = sizeof options, .defines = defines, .define_count = 2};
  static const char text[] = "#version 450\nlayout(local_size_x = WIDTH) in;\n#if !QUICK\n#error slow\n#endif\nvoid main() {}\n";
  assert_int_equal(compile(text, "d.comp", &options), VYRE_CODE_OK);
  assert_int_equal(compile(text, "d.comp", NULL), VYRE_CODE_INPUT);
}

static void
write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

TEST(includes_are_found_beside_the_file_and_by_option)
{
  char folder[] = "/tmp/vyre-glsl-XXXXXX", path[128], inside[128], broken[128];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a.comp", folder);
  snprintf(inside, sizeof inside, "%s/one.glsl", folder);
  snprintf(broken, sizeof broken, "%s/two.glsl", folder);
  write_file(inside, "int one() { return 1; }\n");
  write_file(broken, "int two() {\n  return three;\n}\n");

  static const char beside[] = "#version 450\n#include \"one.glsl\"\nvoid main() { one(); }\n";
  assert_int_equal(compile(beside, path, NULL), VYRE_CODE_OK);

  static const char system[] = "#version 450\n#include <one.glsl>\nvoid main() { one(); }\n";
  assert_int_equal(compile(system, "elsewhere.comp", NULL), VYRE_CODE_INPUT);
  const char *folders[] = {folder};
  const vyre_glsl_options options = {.struct_size = sizeof options, .include_dirs = folders, .include_dir_count = 1};
  assert_int_equal(compile(system, "elsewhere.comp", &options), VYRE_CODE_OK);

  /* A message about an included file names the included file. */
  static const char bad[] = "#version 450\n#include \"two.glsl\"\nvoid main() { two(); }\n";
  assert_int_equal(compile(bad, path, NULL), VYRE_CODE_INPUT);
  assert_non_null(strstr(seen.file, "two.glsl"));
  assert_int_equal(seen.line, 2);

  /* A file that includes itself ends in an error. */
  write_file(broken, "#include \"two.glsl\"\n");
  assert_int_equal(compile(bad, path, NULL), VYRE_CODE_INPUT);

  remove(inside);
  remove(broken);
  assert_int_equal(rmdir(folder), 0);
}

/* ---- compiler processes --------------------------------------------------------------------------------------------------- */

static const char good[] = "#version 450\nvoid main() {}\n";

/* Counts the child processes of this process, and writes the id of the last one to `last`. */
static uint32_t
count_children(pid_t *last)
{
  char path[64];
  int child;
  uint32_t count = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  for (; fscanf(file, "%d", &child) == 1; count++)
    *last = child;
  fclose(file);
  return count;
}

static void
assert_compiles(void)
{
  assert_int_equal(compile(good, "g.comp", NULL), VYRE_CODE_OK);
  assert_true(out.size > 20);
}

TEST(one_compiler_process_serves_one_thread)
{
  pid_t first = 0, later = 0;
  assert_compiles();
  assert_int_equal(count_children(&first), 1);
  assert_compiles();
  assert_int_equal(count_children(&later), 1);
  assert_int_equal(first, later);
  assert_true(first > 0);
  kill(first, SIGKILL); /* as another program might */
  assert_compiles();
  assert_int_equal(count_children(&later), 1);
  assert_int_not_equal(first, later);
}

TEST(a_forked_process_starts_its_own_compiler)
{
  pid_t ours = 0, theirs = 0;
  assert_compiles();
  assert_int_equal(count_children(&ours), 1);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const bool good_there = compile(good, "g.comp", NULL) == VYRE_CODE_OK && count_children(&theirs) == 1;
    _exit(good_there ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_compiles();
}

/* Names are relative to the caller's current folder.  A program there with the compiler's name is not executed. */
TEST(resolves_names_in_the_current_folder_of_the_caller)
{
  char folder[] = "/tmp/vyre-glsl-XXXXXX", before[4096];
  pid_t child = 0;
  static const char text[] = "#version 450\n#include \"here.glsl\"\nvoid main() { here(); }\n";
  assert_compiles();
  assert_non_null(getcwd(before, sizeof before));
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_file("here.glsl", "void here() {}\n");
  assert_int_equal(mkdir("vyre", 0777), 0);
  write_file("vyre/vyre-glsl", "#!/bin/sh\nexit 1\n");
  assert_int_equal(chmod("vyre/vyre-glsl", 0777), 0);
  assert_int_equal(compile(text, "h.comp", NULL), VYRE_CODE_OK);
  assert_int_equal(count_children(&child), 1);
  assert_true(child > 0);
  kill(child, SIGKILL);
  assert_int_equal(compile(text, "h.comp", NULL), VYRE_CODE_OK);
  remove("vyre/vyre-glsl");
  rmdir("vyre");
  remove("here.glsl");
  assert_int_equal(chdir(before), 0);
  assert_int_equal(rmdir(folder), 0);
}

static int
free_out(void **state)
{
  (void)state;
  vyre_bytes_free(&out);
  return 0;
}

TEST_MAIN(NULL, free_out)
