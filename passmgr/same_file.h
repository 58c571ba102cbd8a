/* Whether two paths lead to one file, however they are written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_SAME_FILE_H
#define VYRE_PASSMGR_SAME_FILE_H

#include <stdbool.h>

/* Of files that are there through all links; others by where they would be. */
bool same_file(const char *a, const char *b);
/* What is after the last slash. */
const char *file_base(const char *path);

#endif
