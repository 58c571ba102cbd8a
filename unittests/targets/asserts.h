/* Assertions about refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_ASSERTS_H
#define VYRE_UNITTESTS_ASSERTS_H

#include "../status.h"

/* Asserts that the status has that code and that its text has both words and a Fix line, and frees the status. */
static inline void
assert_fails(vyre_status status, vyre_code code, const char *word1, const char *word2)
{
  const char *text = vyre_status_text(status);
  if (vyre_status_code(status) != code || !strstr(text, word1) || !strstr(text, word2) || !strstr(text, "Fix:"))
    fail_msg("code %d without '%s' or '%s': %s", (int)vyre_status_code(status), word1, word2, text);
  vyre_status_free(status);
}

#endif
