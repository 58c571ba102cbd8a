/* Checks of the statuses of targets and of their messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MESSAGES_H
#define VYRE_UNITTESTS_MESSAGES_H

#include "../test.h"
#include "vyre/status.h"

/* The library that a test's targets are opened with; NULL: the platform's. */
#ifndef VULKAN_LIBRARY
#define VULKAN_LIBRARY NULL
#endif

static inline void
assert_ok(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

/* Returns whether a message says what can be done, without any program's options: no word begins with a dash. */
static inline bool
has_fix(const char *text)
{
  for (const char *at = strchr(text, '-'); at; at = strchr(at + 1, '-'))
    if (at > text && strchr(" (\n", at[-1]) && at[1] >= 'a' && at[1] <= 'z')
      return false;
  return strstr(text, "Fix:") != NULL;
}

/* Requires an error with that code, both texts in its message, and a Fix line. */
static inline void
assert_fails(vyre_status status, vyre_code code, const char *text1, const char *text2)
{
  const char *text = vyre_status_text(status);
  if (!status || vyre_status_code(status) != code || !strstr(text, text1) || !strstr(text, text2) || !has_fix(text))
    fail_msg("code %d instead of %d, or without '%s' or '%s': %s", (int)vyre_status_code(status), (int)code, text1, text2, text);
  vyre_status_free(status);
}

#endif
