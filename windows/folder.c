/* Finds the folder of this library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/io.h"

#include <dlfcn.h>
#include <string.h>

/* Stores the folder of the library that contains this function.  The function is static, so that its address is in this library. */
static bool
find_own(char *out, size_t size)
{
  Dl_info own;
  if (!dladdr((const void *)(uintptr_t)find_own, &own))
    return false;
  const char *slash = strrchr(own.dli_fname, '/');
  const size_t length = slash ? (size_t)(slash - own.dli_fname) : size;
  if (length >= size)
    return false;
  memcpy(out, own.dli_fname, length);
  out[length] = '\0';
  return true;
}

bool
vyre_own_folder(char *out, size_t size)
{
  return find_own(out, size);
}
