/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_STDLIB_H
#define VYRE_WINDOWS_STDLIB_H

#include_next <stdlib.h>

/* A whole path, with slashes, of what is there; links stay. */
char *realpath(const char *path, char *out);

#endif
