/* Assertions about the errors of targets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MESSAGES_H
#define VYRE_UNITTESTS_MESSAGES_H

#include "status.h"

/* Returns whether a message has a Fix line and names no program's options: no word begins with a dash. */
static inline bool
has_fix(const char *text)
{
  for (const char *at = strchr(text, '-'); at; at = strchr(at + 1, '-'))
    if (at > text && strchr(" (\n", at[-1]) && at[1] >= 'a' && at[1] <= 'z')
      return false;
  return strstr(text, "Fix:") != NULL;
}

/* Asserts that the status has this code, and that its message contains both texts and a Fix line, and frees the status. */
static inline void
assert_fails(vyre_status status, vyre_code code, const char *text1, const char *text2)
{
  const char *text = vyre_status_text(status);
  if (!status || vyre_status_code(status) != code || !strstr(text, text1) || !strstr(text, text2) || !has_fix(text))
    fail_msg("code %d instead of %d, or without '%s' or '%s': %s", (int)vyre_status_code(status), (int)code, text1, text2, text);
  vyre_status_free(status);
}

#endif
