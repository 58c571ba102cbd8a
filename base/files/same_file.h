/* Comparison of paths by the files that they name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_SAME_FILE_H
#define VYRE_BASE_FILES_SAME_FILE_H

#include <stdbool.h>

/* Returns whether two paths name one regular file.  Symbolic and hard links of one existing file are equal.  Paths without a file
 * are compared by the place where a file would be created.  Returns false for devices, because several writers may share a
 * terminal. */
bool same_file(const char *a, const char *b);
/* Returns whether a write to one path may replace the other.  Faster than same_file for many pairs.  Hard links with different
 * names are different, because a write replaces only one of them. */
bool same_written(const char *a, const char *b);

#endif
