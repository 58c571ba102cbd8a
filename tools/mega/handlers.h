/* The handlers of the options -op=CODE:FUNCTION of vyre-mega and vyre-megac.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_MEGA_HANDLERS_H
#define VYRE_TOOLS_MEGA_HANDLERS_H

#include "vyre/io.h"
#include "vyre/megakernel.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HANDLERS = 256 };

typedef struct mega_handlers {
  vyre_mega_handler all[MOST_HANDLERS]; /* names of functions are borrowed arguments */
  uint32_t count;
} mega_handlers;

/* Adds the handler of an option's value. */
VYRE_MUST_USE static inline vyre_status
mega_handlers_add(mega_handlers *handlers, const char *text)
{
  char *end;
  const unsigned long long op = strtoull(text, &end, 0);
  if (end == text || *end != ':' || op > UINT32_MAX)
    return VYRE_ERROR(VYRE_CODE_USAGE, "'-op=%s' is not CODE:FUNCTION\nFix: give a number and a function, as in -op=8:twice", text);
  if (handlers->count == MOST_HANDLERS)
    return VYRE_ERROR(VYRE_CODE_USAGE, "more than %d handlers\nFix: use one function for several op codes", MOST_HANDLERS);
  handlers->all[handlers->count++] = (vyre_mega_handler){(uint32_t)op, end + 1};
  return VYRE_OK;
}

/* Reads a file of functions.  A file without functions is an error. */
VYRE_MUST_USE static inline vyre_status
mega_handlers_read(const char *path, vyre_bytes *out)
{
  VYRE_TRY(vyre_file_read_as(path, VYRE_FILE_TEXT, out));
  if (out->size && strstr(out->data, "func"))
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the file has no functions\nFix: give a file with the handlers' functions", path);
}

#endif
