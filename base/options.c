/* Reads options of callers that were compiled with another version of the headers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <string.h>

enum { MOST_BYTES = 4096 }; /* the largest valid struct_size, so that a wrong one does not read far beyond the struct */

vyre_status
vyre_options_read(void *to, size_t size, const void *from, const char *name)
{
  size_t given = sizeof given;
  memset(to, 0, size);
  memcpy(to, &size, sizeof size);
  if (!from)
    return VYRE_OK;
  memcpy(&given, from, sizeof given);
  if (given <= sizeof given) /* without any option; the size of a pointer is a common mistake */
    return VYRE_ERROR(VYRE_CODE_USAGE, "struct_size of %s is %zu, too small for an option\nFix: set it to sizeof(%s)", name, given,
                      name);
  for (size_t i = size; i < given; i++)
    if (given > MOST_BYTES || ((const char *)from)[i])
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "an option of %s after the %zu bytes that this library knows is set; struct_size is %zu\n"
                        "Fix: use a newer library, or leave out the option",
                        name, size, given);
  memcpy(to, from, given < size ? given : size);
  memcpy(to, &size, sizeof size);
  return VYRE_OK;
}
