/* vyre-wrap: runs a compiler of shaders, and optimizes the SPIR-V modules that it writes, in place.
 *
 * vyre-passmgr optimizes them in processes of their own, so that no fault of a pass can harm the compiler's output.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include "base/files/paths.h"
#include "cli/options/console.h"
#include "cli/options/levels.h"
#include "vyre/io.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct wrap_options {
  level level; /* of -O */
  const char *passes, *help;
  bool is_verbose, version;
  name_list inputs;
  option_texts responses;
} wrap_options;

static vyre_status
set_level(const char *text, void *fields)
{
  return level_parse(text, &((wrap_options *)fields)->level);
}

#define AT(field) offsetof(wrap_options, field)

static const option_row rows[] = {
    {.name = "Optimization", OPTION_SECTION},
    {.name = "O",
     OPTION_CUSTOM,
     0,
     LEVEL_FORMS,
     "the level of vyre-passmgr. Default: that of the environment variable VYRE_OPT (VYRE_OPT=O3), or 2",
     OPTION_JOINED,
     .alone = "2",
     .parse = set_level},
    {.name = "passes", OPTION_TEXT, AT(passes), "TEXT", "run this pipeline instead of a level"},
    {.name = "Messages", OPTION_SECTION},
    {.name = "v", OPTION_FLAG, AT(is_verbose), NULL, "name each optimized file, and say why a file was not optimized"},
    {.name = "version", OPTION_FLAG, AT(version), NULL, "print the version"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-wrap",
    .usage = "[options] [--] COMPILER ARGUMENT...",
    .about = "Runs a shader compiler with its own arguments, and optimizes each SPIR-V module that it writes, in place.\n"
             "Options of vyre-wrap stand before the compiler, with values after '='.\n",
    .after = "The exit code is the compiler's.  If a module cannot be optimized, the compiler's output stays.  Without a compiler\n"
             "that runs it is 2.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

/* Returns the number of arguments before the compiler, the program's name and "--" included. */
static int
count_own(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-' || strcmp(argv[i], "--") == 0)
      return argv[i][0] != '-' ? i : i + 1;
  return argc;
}

/* Writes the path of vyre-passmgr beside this program, or its name alone, which is searched in PATH. */
static void
find_optimizer(char path[PATH_MAX])
{
  if (!realpath(path_of_program(), path))
    path[0] = '\0';
  char *name = strrchr(path, '/');
  const size_t room = PATH_MAX - (size_t)(name ? name + 1 - path : 0);
  if ((size_t)snprintf(name ? name + 1 : path, room, "vyre-passmgr") >= room || access(path, X_OK) != 0)
    strcpy(path, "vyre-passmgr");
}

typedef struct optimizer {
  char path[PATH_MAX];
  char passes[PATH_MAX]; /* "-O2" or "-passes=..." */
  bool is_verbose;
} optimizer;

static vyre_status
prepare(const wrap_options *o, optimizer *out)
{
  level given = o->level;
  if (!o->passes && !given.option)
    VYRE_TRY(level_of_environment(&given));
  out->is_verbose = o->is_verbose;
  find_optimizer(out->path);
  const int length = o->passes ? snprintf(out->passes, sizeof out->passes, "-passes=%s", o->passes)
                               : snprintf(out->passes, sizeof out->passes, "%s", given.option ? given.option : "-O2");
  return (size_t)length < sizeof out->passes
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE, "-passes is longer than %d characters\nFix: write it into a file, and use -passes=@FILE",
                          PATH_MAX - 16);
}

/* Optimizes a file in place. */
static vyre_status
optimize_file(const optimizer *by, char *path)
{
  bool passed;
  vyre_bytes before = {0}, after = {0};
  char *arguments[] = {(char *)by->path, (char *)by->passes, "-emit=spirv", "-in-place", "--", path, NULL};
  vyre_status status = by->is_verbose ? vyre_file_read(path, &before) : VYRE_OK;
  if (!status)
    status = wrap_run_optimizer(arguments, by->is_verbose, NULL, NULL, &passed);
  if (!status && by->is_verbose)
    status = vyre_file_read(path, &after);
  if (!status && by->is_verbose) {
    const bool is_same = before.size == after.size && memcmp(before.data, after.data, after.size) == 0;
    fprintf(stderr, "vyre-wrap: %s: %s\n", path,
            !passed   ? "not optimized; the compiler's output stays"
            : is_same ? "unchanged; vyre-passmgr -v -O prints the reason"
                      : "optimized");
  }
  vyre_bytes_free(&before);
  vyre_bytes_free(&after);
  return status;
}

/* Writes a module that the compiler wrote to standard output, optimized if that is possible. */
static vyre_status
optimize_output(const optimizer *by, const vyre_bytes *module)
{
  bool passed;
  vyre_bytes out = {0};
  char *arguments[] = {(char *)by->path, (char *)by->passes, "-emit=spirv", "-o", "-", "-", NULL};
  vyre_status status = wrap_run_optimizer(arguments, by->is_verbose, module, &out, &passed);
  const vyre_bytes *written = !status && passed ? &out : module;
  fwrite(written->data, 1, written->size, stdout);
  vyre_bytes_free(&out);
  return status;
}

/* Optimizes the outputs among the files whose names are guesses, or are not.  Sets *found if there are any. */
static vyre_status
optimize_files(const optimizer *by, const wrap_files *files, bool guesses, bool *found)
{
  for (uint32_t i = 0; i < files->count; i++)
    if (files->files[i].is_guess == guesses && wrap_file_is_output(&files->files[i])) {
      *found = true;
      VYRE_TRY(optimize_file(by, files->files[i].path));
    }
  return VYRE_OK;
}

/* Runs the compiler and optimizes its outputs.  Guessed names count only if no other output was found, because another compiler may
 * write such a file at the same time.  An error of the optimizer is reported only with -v. */
static vyre_status
wrap(const wrap_options *o, char *const *compiler, int *code)
{
  static optimizer by;
  wrap_files files;
  vyre_bytes module = {0};
  VYRE_TRY(prepare(o, &by));
  VYRE_TRY(wrap_files_list(compiler, &files));
  vyre_status status = wrap_run_compiler(compiler, code, &module), why = VYRE_OK;
  if (!status && *code != 0 && module.size)
    fwrite(module.data, 1, module.size, stdout);
  if (!status && *code == 0) {
    bool found = module.size > 0;
    if (found)
      why = optimize_output(&by, &module);
    if (!why)
      why = optimize_files(&by, &files, false, &found);
    if (!why && !found)
      why = optimize_files(&by, &files, true, &found);
    if (!why && !found && o->is_verbose)
      fprintf(stderr, "vyre-wrap: found no SPIR-V module that an argument names and that the compiler wrote\n");
  }
  if (why && o->is_verbose)
    fprintf(stderr, "vyre-wrap: not optimized: %s\n", vyre_status_text(why));
  vyre_status_free(why);
  vyre_bytes_free(&module);
  wrap_files_free(&files);
  return status;
}

int
main(int argc, char **argv)
{
  static wrap_options o;
  int code = 0;
  const int own = count_own(argc, argv);
  vyre_status status = option_table_parse(&table, own, argv, &o);
  if (!status && o.help)
    status = console_help(&table, o.help, VYRE_VERSION);
  else if (!status && o.version)
    printf("vyre-wrap %s\n", VYRE_VERSION);
  else if (!status && own >= argc)
    status =
        VYRE_ERROR(VYRE_CODE_USAGE, "no compiler\nFix: name it with its arguments: vyre-wrap -- glslc shader.comp -o shader.spv");
  else if (!status)
    status = wrap(&o, argv + own, &code);
  option_table_free(&table, &o);
  return console_end("vyre-wrap", status, code);
}
