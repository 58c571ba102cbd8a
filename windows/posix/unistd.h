/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_UNISTD_H
#define VYRE_WINDOWS_UNISTD_H

#include_next <unistd.h>

enum { _SC_PHYS_PAGES, _SC_PAGESIZE, _SC_NPROCESSORS_ONLN };
long sysconf(int what);
/* Returns the thread's id, which is getpid() in the first thread of the process. */
int gettid(void);
/* Stores the current folder, with slashes instead of backslashes. */
char *vyre_getcwd(char *out, size_t size);
#define getcwd                    vyre_getcwd
#define readlink(path, out, size) (-1)
/* Always fails, because folders are never opened (fcntl.h). */
#define fchdir(folder) (-1)

#endif
