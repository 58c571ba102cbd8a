/* What is asked of every status of a target, and of its message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MESSAGES_H
#define VYRE_UNITTESTS_MESSAGES_H

#include "../status.h"

/* The library that a test's targets are opened with; NULL: the platform's. */
#ifndef VULKAN_LIBRARY
#define VULKAN_LIBRARY NULL
#endif

/* It says what can be done, and knows no program's options for that: no word begins with a dash. */
static inline bool
has_fix(const char *text)
{
  for (const char *at = strchr(text, '-'); at; at = strchr(at + 1, '-'))
    if (at > text && strchr(" (\n", at[-1]) && at[1] >= 'a' && at[1] <= 'z')
      return false;
  return strstr(text, "Fix:") != NULL;
}

#endif
