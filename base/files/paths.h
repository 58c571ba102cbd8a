/* The parts of path handling that depend on the system.  All other code uses slashes, which Windows accepts, too.  Builds for
 * Windows find windows/instead/base/files/paths.h first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_PATHS_H
#define VYRE_BASE_FILES_PATHS_H

#include <stdbool.h>

/* Returns whether a path is absolute. */
static inline bool
path_is_whole(const char *path)
{
  return path[0] == '/';
}

/* Returns whether the character separates folders, so that no name of a file contains it. */
static inline bool
path_is_mark(char c)
{
  return c == '/';
}

static inline const char *
path_of_program(void)
{
  return "/proc/self/exe";
}

/* Replaces the backslashes of a user's path by slashes.  Does nothing on systems whose paths have no backslashes. */
static inline void
path_normalize(char *path)
{
  (void)path;
}

#endif
