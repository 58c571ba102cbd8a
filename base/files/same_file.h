/* Whether two paths lead to one file, however they are written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_SAME_FILE_H
#define VYRE_BASE_FILES_SAME_FILE_H

#include <stdbool.h>

/* Of files that are there through all links; others by where they would be.  Never what is no regular file: a
 * terminal takes all that is written. */
bool same_file(const char *a, const char *b);
/* The same in less time, for many pairs: hard links of two names, of which a write replaces one, are two. */
bool same_written(const char *a, const char *b);

#endif
