/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_DIRENT_H
#define VYRE_WINDOWS_DIRENT_H

#include_next <dirent.h>

/* The entries that `chooses` takes, in the order of `compare`; each is to be freed, and the array. */
int scandir(const char *folder, struct dirent ***out, int (*chooses)(const struct dirent *entry),
            int (*compare)(const struct dirent **a, const struct dirent **b));

#endif
