/* Matches devices with the option -device.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool
target_name_contains(const char *name, const char *part)
{
  const size_t length = strlen(part);
  bool found = length == 0;
  for (; *name && !found; name++)
    found = strncasecmp(name, part, length) == 0;
  return found;
}

bool
target_device_matches(const vyre_device_info *info, const char *wanted)
{
  static const char *const words[] = {[VYRE_DEVICE_DISCRETE] = "discrete",
                                      [VYRE_DEVICE_INTEGRATED] = "integrated",
                                      [VYRE_DEVICE_VIRTUAL] = "virtual",
                                      [VYRE_DEVICE_CPU] = "cpu"};
  char *end;
  const unsigned long index = strtoul(wanted, &end, 10);
  if (isdigit((unsigned char)wanted[0]) && *end == '\0')
    return index == info->index;
  const char *word = words[info->kind]; /* a name may contain the word of another kind */
  return (word && strcasecmp(word, wanted) == 0) || target_name_contains(info->name, wanted);
}
