/* Functions that the personalities of compilers share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_PERSONALITY_COMPILERS_H
#define VYRE_CLI_PERSONALITY_COMPILERS_H

#include "personality.h"

/* Keeps the value of a flag, or its name if it has no value, in the row's slot.  The last value counts.  Has the type of `parse`. */
VYRE_MUST_USE vyre_status compilers_keep(personality_line *line, const foreign_flag *flag, const char *value);
/* Returns whether the next `count` arguments exist and are not flags. */
bool compilers_has_words(const personality_line *line, int count);
/* Adds default<O2>, and -strip if `strips`.  For modules that vyre copies, adds the flag `level` of SPIRV-Tools. */
VYRE_MUST_USE vyre_status compilers_optimize(personality_line *line, const char *level, bool strips);

#endif
