/* The files that a compiler wrote.
 *
 * The options of compilers are not listed here.  Each argument may be a path, and so may the text after '=' or after the letters of
 * a short option.  A file is an output if it is a SPIR-V module and differs from the file that was there before the compiler ran.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include "base/files/names.h"
#include "base/grow.h"
#include "vyre/io.h"
#include "vyre/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NESTING = 4 /* of response files */ };

static void
read_state(wrap_file *file)
{
  struct stat s;
  file->is_there = stat(file->path, &s) == 0 && S_ISREG(s.st_mode);
  if (file->is_there) {
    file->device = s.st_dev;
    file->number = s.st_ino;
    file->size = (uint64_t)s.st_size;
    file->seconds = (uint64_t)s.st_mtim.tv_sec;
    file->nanoseconds = (uint64_t)s.st_mtim.tv_nsec;
  }
}

static bool
are_equal_states(const wrap_file *a, const wrap_file *b)
{
  return a->is_there == b->is_there && a->device == b->device && a->number == b->number && a->size == b->size &&
         a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* Adds the path `name` + `ending`.  A path that is listed already is a guess only if both are. */
static vyre_status
add(wrap_files *files, const char *name, const char *ending, bool is_guess)
{
  const size_t size = strlen(name) + strlen(ending) + 1;
  if (name[0] == '\0')
    return VYRE_OK;
  char *path = malloc(size);
  if (!path || !vyre_grow(NULL, &files->files, &files->capacity, files->count + 1u, sizeof *files->files)) {
    free(path);
    return VYRE_OUT_OF_MEMORY("for the names of outputs");
  }
  snprintf(path, size, "%s%s", name, ending);
  for (uint32_t i = 0; i < files->count; i++)
    if (strcmp(files->files[i].path, path) == 0) {
      files->files[i].is_guess &= is_guess;
      free(path);
      return VYRE_OK;
    }
  files->files[files->count] = (wrap_file){.path = path, .is_guess = is_guess};
  read_state(&files->files[files->count++]);
  return VYRE_OK;
}

/* Adds the paths that the argument may contain: x.spv of "x.spv", "-ox.spv", "-Fox.spv" and "--output=x.spv".  Of an input
 * "d/x.comp" a compiler may write x.comp.spv and x.spv. */
static vyre_status
add_argument(wrap_files *files, const char *argument)
{
  const char *value = strchr(argument, '='), *name = path_name(argument), *dot = strrchr(name, '.');
  VYRE_TRY(add(files, argument, "", false));
  if (value)
    VYRE_TRY(add(files, value + 1, "", false));
  if (argument[0] == '-' || argument[0] == '/')
    for (size_t letters = 1; letters <= 2 && argument[letters]; letters++)
      VYRE_TRY(add(files, argument + letters + 1, "", false));
  if (argument[0] == '-' || !dot)
    return VYRE_OK;
  VYRE_TRY(add(files, name, ".spv", true));
  char *stem = strndup(name, (size_t)(dot - name));
  vyre_status status = stem ? add(files, stem, ".spv", true) : VYRE_OUT_OF_MEMORY("for the names of outputs");
  free(stem);
  return status;
}

/* Adds the arguments of a response file, which blanks and line ends separate.  Adds nothing if it cannot be read: the compiler
 * reports that. */
static vyre_status
add_response(wrap_files *files, const char *path, uint32_t depth)
{
  vyre_bytes text = {0};
  char *rest = NULL;
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_PLAIN, &text); /* not standard input, which is the compiler's */
  if (status) {
    vyre_status_free(status);
    return VYRE_OK;
  }
  status = vyre_bytes_append(&text, "", 1);
  for (char *word = status ? NULL : strtok_r(text.data, " \t\r\n\"'", &rest); word && !status;
       word = strtok_r(NULL, " \t\r\n\"'", &rest))
    status = word[0] == '@' && depth < MOST_NESTING ? add_response(files, word + 1, depth + 1) : add_argument(files, word);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
wrap_files_list(char *const *arguments, wrap_files *out)
{
  /* without -o, glslc writes a.spv, and glslangValidator a file named after the stage */
  static const char *const names[] = {"a",    "vert",  "tesc",  "tese",  "geom",  "frag", "comp", "rgen",
                                      "rint", "rahit", "rchit", "rmiss", "rcall", "mesh", "task"};
  *out = (wrap_files){0};
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++)
    status = add(out, names[i], ".spv", true);
  for (char *const *at = arguments + 1; *at && !status; at++)
    status = (*at)[0] == '@' ? add_response(out, *at + 1, 0) : add_argument(out, *at);
  if (status)
    wrap_files_free(out);
  return status;
}

bool
wrap_file_is_output(const wrap_file *file)
{
  wrap_file now = {.path = file->path};
  char bytes[sizeof(uint32_t)];
  read_state(&now);
  if (!now.is_there || are_equal_states(file, &now))
    return false;
  const int descriptor = vyre_file_open(VYRE_FILE_HERE, file->path, VYRE_FILE_READS);
  const ssize_t got = descriptor < 0 ? -1 : read(descriptor, bytes, sizeof bytes);
  if (descriptor >= 0)
    close(descriptor);
  return got == (ssize_t)sizeof bytes && vyre_spirv_is(bytes, sizeof bytes);
}

void
wrap_files_free(wrap_files *files)
{
  for (uint32_t i = 0; i < files->count; i++)
    free(files->files[i].path);
  free(files->files);
  *files = (wrap_files){0};
}
