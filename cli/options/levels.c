/* Docs at levels.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

#include <stdlib.h>
#include <string.h>

static const level levels[] = {
    {"-O0", "default<O0>", false}, {"-O1", "default<O1>", false}, {"-O2", "default<O2>", false},
    {"-O3", "default<O3>", false}, {"-Os", "default<O2>", true},
};

vyre_status
level_parse(const char *text, level *out)
{
  const char *name = text + (text[0] == '-' && text[1] == 'O');
  name += name[0] == 'O';
  *out = (level){0};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strcmp(name, levels[i].option + 2) == 0)
      *out = levels[i];
  return out->option ? VYRE_OK
                     : VYRE_ERROR(VYRE_CODE_USAGE,
                                  "the level of optimization is O0, O1, O2, O3 or Os, not '%s%.100s'\nFix: use one of these levels",
                                  name[0] == 'o' ? "" : "O", name);
}

vyre_status
level_of_environment(level *out)
{
  const char *text = getenv("VYRE_OPT");
  *out = (level){0};
  return text && text[0] ? vyre_status_note(level_parse(text, out), "from the environment variable VYRE_OPT") : VYRE_OK;
}
