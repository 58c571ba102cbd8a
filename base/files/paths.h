/* The parts of path handling that depend on the system.  All other code uses slashes, which Windows accepts, too.  Builds for
 * Windows find windows/instead/base/files/paths.h first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_PATHS_H
#define VYRE_BASE_FILES_PATHS_H

#include <stdbool.h>
#include <sys/auxv.h>
#include <unistd.h>

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

/* Returns a path of the running program.  Without /proc it is the one by which the program was started, relative to the working
 * folder at that time. */
static inline const char *
path_of_program(void)
{
  static const char link[] = "/proc/self/exe";
  return access(link, F_OK) == 0 ? link : (const char *)getauxval(AT_EXECFN);
}

/* Replaces the backslashes of a user's path by slashes.  Does nothing on systems whose paths have no backslashes. */
static inline void
path_normalize(char *path)
{
  (void)path;
}

#endif
