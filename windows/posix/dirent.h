/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_DIRENT_H
#define VYRE_WINDOWS_DIRENT_H

#include_next <dirent.h>

/* Stores the entries for which `chooses` returns nonzero, in the order of `compare`.  The caller frees each entry and the array. */
int scandir(const char *folder, struct dirent ***out, int (*chooses)(const struct dirent *entry),
            int (*compare)(const struct dirent **a, const struct dirent **b));

#endif
