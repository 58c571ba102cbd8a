/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_STDLIB_H
#define VYRE_WINDOWS_STDLIB_H

#include_next <stdlib.h>

/* Returns the absolute path of an existing file, with slashes.  Does not resolve links. */
char *realpath(const char *path, char *out);
/* Sets an environment variable.  Always replaces an existing one. */
#define setenv(name, value, replaces) _putenv_s(name, value)

#endif
