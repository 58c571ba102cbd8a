/* Docs at levels.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

#include <stdlib.h>

vyre_status
level_parse(const char *text, const char **out_pipeline)
{
  const char *level = text + (text[0] == '-' && text[1] == 'O');
  level += level[0] == 'O';
  *out_pipeline = NULL;
  if (level[0] && !level[1])
    *out_pipeline = level[0] == '0'                      ? "default<O0>"
                    : level[0] == '1'                    ? "default<O1>"
                    : level[0] == '3'                    ? "default<O3>"
                    : level[0] == '2' || level[0] == 's' ? "default<O2>"
                                                         : NULL;
  return *out_pipeline
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE,
                          "the level of optimization is O0, O1, O2, O3 or Os, not 'O%.100s'\nFix: use one of these levels", level);
}

vyre_status
level_of_environment(const char **out_pipeline)
{
  const char *text = getenv("VYRE_OPT");
  *out_pipeline = NULL;
  return text && text[0] ? vyre_status_note(level_parse(text, out_pipeline), "from the environment variable VYRE_OPT") : VYRE_OK;
}
