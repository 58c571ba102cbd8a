/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/cache_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the joined path in `buffer`, or NULL if it does not fit. */
static const char *
join(const char *folder, const char *rest, char *buffer, size_t capacity)
{
  const int length = snprintf(buffer, capacity, "%s%s", folder, rest);
  return length > 0 && (size_t)length < capacity ? buffer : NULL;
}

const char *
vyre_cache_folder(const char *option, char *buffer, size_t capacity)
{
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (option)
    return strcmp(option, "none") == 0 ? NULL : join(option, "", buffer, capacity);
  if (cache && cache[0] == '/')
    return join(cache, "/vyre", buffer, capacity);
  return home && home[0] == '/' ? join(home, "/.cache/vyre", buffer, capacity) : NULL;
}

void
vyre_target_remark(void *user, const char *text)
{
  fprintf(stderr, "%s: remark: %s\n", (const char *)user, text);
}
