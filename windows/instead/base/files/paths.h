/* Replaces base/files/paths.h on Windows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_PATHS_H
#define VYRE_BASE_FILES_PATHS_H

#include <stdbool.h>
#include <stdlib.h>

/* Returns whether the path is absolute or begins with a drive, such as "/a" or "C:/a". */
static inline bool
path_is_whole(const char *path)
{
  return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

static inline bool
path_is_mark(char c)
{
  return c == '/' || c == '\\' || c == ':';
}

static inline const char *
path_of_program(void)
{
  return _pgmptr;
}

static inline void
path_normalize(char *path)
{
  for (; *path; path++)
    *path = *path == '\\' ? '/' : *path;
}

#endif
