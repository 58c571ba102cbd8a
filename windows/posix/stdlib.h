/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_STDLIB_H
#define VYRE_WINDOWS_STDLIB_H

#include_next <stdlib.h>

/* A whole path, with slashes, of what is there; links stay. */
char *realpath(const char *path, char *out);
/* Whether one that is there is replaced is not asked: it is. */
#define setenv(name, value, replaces) _putenv_s(name, value)

#endif
