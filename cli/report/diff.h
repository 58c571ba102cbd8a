/* Lines that differ.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_DIFF_H
#define VYRE_CLI_REPORT_DIFF_H

#include "vyre/status.h"

/* Appends what becomes of the lines of `was` in `is`: "-" and "+" before those that go and come, three others around them, and
 * "@@ -LINE +LINE @@" before each such part.  Of texts that differ in millions of places all lines between the first and the last
 * such go and come. */
VYRE_MUST_USE vyre_status diff_lines(const char *was, const char *is, vyre_bytes *out);

#endif
