/* What the systems' paths differ in.  Everywhere else they have slashes, which Windows takes, too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_PATHS_H
#define VYRE_BASE_PATHS_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef _WIN32
/* Whether it says where it begins: "/a", "C:/a". */
static inline bool
path_is_whole(const char *path)
{
  return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

/* What no name of a file has in it. */
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

/* In place: a path that a user gave becomes one with slashes. */
static inline void
path_take(char *path)
{
  for (; *path; path++)
    *path = *path == '\\' ? '/' : *path;
}
#else
static inline bool
path_is_whole(const char *path)
{
  return path[0] == '/';
}

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

static inline void
path_take(char *path)
{
  (void)path;
}
#endif

#endif
