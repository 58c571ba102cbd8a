/* Assertions about statuses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_STATUS_H
#define VYRE_UNITTESTS_STATUS_H

#include "test.h"

#include "vyre/status.h"

static inline void
assert_ok(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

/* Asserts that the status has this code and that its text contains `part`, and frees the status. */
static inline void
assert_error(vyre_status status, vyre_code code, const char *part)
{
  if (vyre_status_code(status) != code || !strstr(vyre_status_text(status), part))
    fail_msg("code %d without '%s': %s", (int)vyre_status_code(status), part, vyre_status_text(status));
  vyre_status_free(status);
}

/* Asserts that the bytes are equal, and frees both. */
static inline void
assert_same_bytes(vyre_bytes a, vyre_bytes b)
{
  assert_int_equal(a.size, b.size);
  if (a.size)
    assert_memory_equal(a.data, b.data, a.size);
  vyre_bytes_free(&a);
  vyre_bytes_free(&b);
}

#endif
