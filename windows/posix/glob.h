/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_GLOB_H
#define VYRE_WINDOWS_GLOB_H

#include <stddef.h>

typedef struct glob_t {
  size_t gl_pathc;
  char **gl_pathv;
} glob_t;

enum { GLOB_NOSPACE = 1, GLOB_NOMATCH = 3 };

/* Stores the matching paths, sorted by bytes.  A pattern may begin with a drive, such as "C:/" or "C:". */
int glob(const char *pattern, int flags, int (*on_error)(const char *path, int error), glob_t *out);
void globfree(glob_t *found);

#endif
