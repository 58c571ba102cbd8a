/* Paths and settings of tests that run in the build's folder, or in a bundle of it on a machine that has nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_BUNDLE_H
#define VYRE_UNITTESTS_BUNDLE_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the path of a file or folder below the build's folder or the bundle's, with a format as for printf.  That folder is the
 * parent of `unittests`, which has the test program.  The text is valid until the thread's next call. */
__attribute__((format(printf, 1, 2))) static inline const char *
test_file(const char *format, ...)
{
  static _Thread_local char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(path, '/');
    if (slash)
      *slash = '\0';
  }
  const size_t used = strlen(path);
  va_list arguments;
  va_start(arguments, format);
  if (used + 1 < sizeof path)
    vsnprintf(path + used + 1, sizeof path - used - 1, format, arguments);
  va_end(arguments);
  path[used] = '/';
  return path;
}

/* Returns whether tests of the CUDA target use the machine's driver, as in gpu-check.sh, instead of the simulator. */
static inline bool
test_on_device(void)
{
  return getenv("VYRE_TEST_ON_DEVICE") != NULL;
}

/* Returns the library that a target is opened with.  NULL is the platform's library, which replaces the simulator if
 * test_on_device. */
static inline const char *
test_library(const char *name)
{
  return !name || (test_on_device() && strstr(name, "cuda-sim")) ? NULL : test_file("%s", name);
}

/* Returns whether tests use the validation of the API: always, except if VYRE_NO_VALIDATION is set. */
static inline bool
test_validates(void)
{
  return !getenv("VYRE_NO_VALIDATION");
}

#endif
