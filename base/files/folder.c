/* The folder of the library, found in the kernel's list of mapped files.  The list is right for every configuration of the dynamic
 * linker and after changes of the working folder.  A library that was replaced keeps its folder.  Without /proc, the folder is the
 * one by which the dynamic linker found the library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vyre/io.h"

/* Finds the folder of the mapped file that contains the code of this function.  The function is static, because the dynamic linker
 * may bind an external name to another library. */
static bool
find_own(char *out, size_t size)
{
  const int opened = vyre_file_open(VYRE_FILE_HERE, "/proc/self/maps", VYRE_FILE_READS);
  FILE *maps = opened >= 0 ? fdopen(opened, "r") : NULL;
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  while (maps && !found && getline(&line, &room, maps) > 0) {
    char *end, *const path = strchr(line, '/'); /* the fields before it have none */
    const uintptr_t from = strtoull(line, &end, 16), to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
    if ((uintptr_t)find_own < from || (uintptr_t)find_own >= to)
      continue;
    char *slash = path ? strrchr(path, '/') : NULL;
    found = slash && (size_t)(slash - path) < size;
    if (found) {
      *slash = '\0';
      strcpy(out, path);
    }
  }
  free(line);
  if (maps)
    fclose(maps);
  else if (opened >= 0)
    close(opened);
  return found;
}

/* Finds the folder by the path that the dynamic linker used, or the kernel, for a program that contains the library. */
static bool
find_linked(char *out, size_t size)
{
  Dl_info own;
  char path[PATH_MAX];
  if (!dladdr((void *)(uintptr_t)find_own, &own) || !own.dli_fname ||
      !realpath(strchr(own.dli_fname, '/') ? own.dli_fname : path_of_program(), path))
    return false;
  *strrchr(path, '/') = '\0';
  return (size_t)snprintf(out, size, "%s", path) < size;
}

bool
vyre_own_folder(char *out, size_t size)
{
  return find_own(out, size) || find_linked(out, size);
}
