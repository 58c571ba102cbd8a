/* Docs at compilers.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compilers.h"

#include <string.h>

vyre_status
compilers_keep(personality_line *line, const foreign_flag *flag, const char *value)
{
  line->kept[flag->slot] = value ? value : flag->name;
  return VYRE_OK;
}

bool
compilers_has_words(const personality_line *line, int count)
{
  for (int i = 1; i <= count; i++)
    if (line->at + i >= line->argc || line->argv[line->at + i][0] == '-')
      return false;
  return true;
}

vyre_status
compilers_optimize(personality_line *line, const char *level, bool strips)
{
  VYRE_TRY(personality_add(line, "-passes=default<O2>"));
  if (strcmp(level, "-Os") == 0)
    VYRE_TRY(personality_add(line, "-keep-vectors"));
  VYRE_TRY(personality_add(line, "-spirv-tools-copied=--skip-validation"));
  if (strips) {
    VYRE_TRY(personality_add(line, "-strip"));
    VYRE_TRY(personality_add(line, "-spirv-tools-copied=--strip-debug"));
  }
  return personality_add(line, "-spirv-tools-copied=%s", level);
}
