/* Docs at runs.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

/* Reads a number.  Returns false if the text does not begin with a digit. */
static bool
read_number(const char **at, uint64_t *out)
{
  char *end;
  if (**at < '0' || **at > '9')
    return false;
  *out = strtoull(*at, &end, 10);
  *at = end;
  return true;
}

static bool
read_range(const char **at, run_range *out)
{
  if (!read_number(at, &out->first))
    return false;
  out->last = out->first;
  if (**at != '-')
    return true;
  ++*at;
  if (!read_number(at, &out->last))
    out->last = UINT64_MAX;
  return out->last >= out->first;
}

vyre_status
runs_parse(const char *text, run_choice *out)
{
  const char *at = text;
  bool is_right = true;
  do {
    if (out->range_count == RUNS_MOST_RANGES)
      return VYRE_ERROR(VYRE_CODE_USAGE, "-opt-bisect has more than %u ranges\nFix: give fewer ranges", RUNS_MOST_RANGES);
    is_right = read_range(&at, &out->ranges[out->range_count++]);
  } while (is_right && *at == ',' && *++at);
  if (*at || !is_right)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-opt-bisect:1:%u: '%s' is not a range of runs\nFix: '1-3,5,8-' are runs 1 to 3, 5, and from 8 on; "
                      "-opt-bisect=list lists the runs",
                      (unsigned)(at - text) + 1, text);
  return VYRE_OK;
}

bool
runs_select(void *user, uint64_t number, const char *pass)
{
  const run_choice *choice = user;
  bool wanted = choice->range_count == 0;
  if (choice->is_bounded && number > choice->last)
    return false;
  for (uint32_t i = 0; i < choice->range_count && !wanted; i++)
    wanted = number >= choice->ranges[i].first && number <= choice->ranges[i].last;
  for (uint32_t i = 0; i < choice->skip_count && wanted; i++)
    wanted = strcmp(choice->skips[i], pass) != 0;
  return wanted;
}
