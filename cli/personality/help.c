/* The help of a personality: the flags of its table, by state.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "personality.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const headings[] = {
    [FOREIGN_DONE] = "Flags and the options of vyre-passmgr that they become, or their effect",
    [FOREIGN_WITHOUT_EFFECT] = "Flags without effect, and the reason",
    [FOREIGN_REFUSED] = "Refused flags, and the reason",
};

enum { STATES = sizeof headings / sizeof *headings };

/* Returns a row that option_table_help prints as the flag. */
static option_row
row_of(const foreign_flag *flag)
{
  const bool has_value = flag->forms & ~(uint32_t)FOREIGN_NONE;
  return (option_row){.name = flag->name + 1,
                      .kind = has_value ? OPTION_TEXT : OPTION_FLAG,
                      .value = has_value ? "VALUE" : NULL,
                      .help = flag->text,
                      .flags = flag->forms & FOREIGN_JOINED ? OPTION_JOINED : 0,
                      .alone = has_value && (flag->forms & FOREIGN_NONE) ? "" : NULL};
}

vyre_status
personality_help(personality_line *line, const foreign_flag *flag, const char *value)
{
  const personality *as = line->as;
  option_row *rows = calloc(as->count + STATES, sizeof *rows);
  size_t count = 0;
  (void)flag, (void)value;
  if (!rows)
    return VYRE_OUT_OF_MEMORY("for the help");
  for (int state = 0; state < STATES; state++) {
    const size_t heading = count;
    rows[count++] = (option_row){.name = headings[state], .kind = OPTION_SECTION};
    for (size_t i = 0; i < as->count; i++)
      if ((int)as->flags[i].state == state)
        rows[count++] = row_of(&as->flags[i]);
    if (count == heading + 1)
      count = heading; /* a heading without flags */
  }
  const option_table table = {.program = as->name,
                              .usage = as->usage,
                              .about = as->about,
                              .after = "{} is the value.  docs/drop-in.md describes the tools that vyre-passmgr replaces.\n",
                              .rows = rows,
                              .count = count};
  vyre_status status = option_table_help(&table, "text", VYRE_VERSION, &line->printed);
  free(rows);
  return status;
}

vyre_status
personality_version(personality_line *line, const foreign_flag *flag, const char *value)
{
  (void)flag, (void)value;
  return vyre_bytes_printf(&line->printed, "%s: vyre-passmgr %s\n", line->as->name, VYRE_VERSION);
}
