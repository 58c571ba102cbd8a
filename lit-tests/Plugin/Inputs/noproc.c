/* A preloaded library that hides the files of /proc, as in a container without it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static int
is_hidden(const char *path)
{
  if (strncmp(path, "/proc/", 6) != 0)
    return 0;
  errno = ENOENT;
  return 1;
}

int
openat(int folder, const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (mode_t)va_arg(rest, int);
  va_end(rest);
  int (*next)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
  return is_hidden(path) ? -1 : next(folder, path, flags, mode);
}

int
access(const char *path, int mode)
{
  int (*next)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
  return is_hidden(path) ? -1 : next(path, mode);
}

ssize_t
readlink(const char *path, char *out, size_t size)
{
  ssize_t (*next)(const char *, char *, size_t) = (ssize_t(*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
  return is_hidden(path) ? -1 : next(path, out, size);
}
