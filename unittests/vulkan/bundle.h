/* What tests ask for where they run: in the build's folder, or in a bundle of it on a machine that has nothing else.
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

/* The file or folder of that name, which is told as to printf, below the build's folder or the bundle's: found from where the test
 * program lies, which is `unittests` there.  The text stays until the thread's next call. */
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

/* Whether tests of the CUDA target are for the machine's own driver, as gpu-check.sh has them, and not for the simulator. */
static inline bool
test_on_device(void)
{
  return getenv("VYRE_TEST_ON_DEVICE") != NULL;
}

/* The file of a library that a target is opened with; NULL is the platform's, which takes the simulator's place where
 * test_on_device. */
static inline const char *
test_library(const char *name)
{
  return !name || (test_on_device() && strstr(name, "cuda-sim")) ? NULL : test_file("%s", name);
}

/* Whether an API's own checks are asked for: always, but where who runs the tests says that there are none. */
static inline bool
test_validates(void)
{
  return !getenv("VYRE_NO_VALIDATION");
}

#endif
