/* Names at the end of paths with slashes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_NAMES_H
#define VYRE_BASE_FILES_NAMES_H

#include <stdbool.h>
#include <string.h>

/* Returns the part of a path after its folders. */
static inline const char *
path_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Returns whether the path ends with the text `end`. */
static inline bool
path_ends_with(const char *path, const char *end)
{
  const size_t length = strlen(path), tail = strlen(end);
  return length >= tail && strcmp(path + length - tail, end) == 0;
}

#endif
