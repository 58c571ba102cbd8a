/* Differences of texts, by lines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_DIFF_H
#define VYRE_BASE_DIFF_H

#include "vyre/status.h"

/* The language of the texts: the character before the number of an unnamed value. */
typedef enum diff_language { DIFF_IR = '%', DIFF_GLSL = '_' } diff_language;

/* Appends the changes from `was` to `is`: "-" before removed and "+" before added lines, three unchanged lines around them, and
 * "@@ -LINE +LINE @@" before each group.  A line of the IR in which only the numbers of unnamed values (%12) differ, because rows
 * before them were added or removed, is unchanged; it begins with "~" instead of a blank.  In GLSL of SPIRV-Cross these values are
 * variables such as _12.  If the texts differ too much, all lines between the first and the last difference count as removed and
 * added. */
VYRE_MUST_USE vyre_status diff_lines(const char *was, const char *is, diff_language language, vyre_bytes *out);

#endif
