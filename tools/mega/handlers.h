/* Handlers as vyre-mega and vyre-megac are told them: -op=CODE:FUNCTION.
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
  vyre_mega_handler all[MOST_HANDLERS]; /* their functions' names are borrowed arguments */
  uint32_t count;
} mega_handlers;

/* One more, as text. */
VYRE_MUST_USE static inline vyre_status
mega_handlers_take(mega_handlers *handlers, const char *text)
{
  char *end;
  const unsigned long long op = strtoull(text, &end, 0);
  if (end == text || *end != ':' || op > UINT32_MAX)
    return VYRE_ERROR(VYRE_CODE_USAGE, "'-op=%s' names no op code and function\nFix: -op=8:twice, say", text);
  if (handlers->count == MOST_HANDLERS)
    return VYRE_ERROR(VYRE_CODE_USAGE, "more than %d handlers\nFix: let one function tell its op codes apart", MOST_HANDLERS);
  handlers->all[handlers->count++] = (vyre_mega_handler){(uint32_t)op, end + 1};
  return VYRE_OK;
}

/* Reads a file of functions; one without any is an error. */
VYRE_MUST_USE static inline vyre_status
mega_handlers_read(const char *path, vyre_bytes *out)
{
  VYRE_TRY(vyre_file_read_as(path, VYRE_FILE_TEXT, out));
  if (out->size && strstr(out->data, "func"))
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: no function in it\nFix: give a file with the handlers' functions", path);
}

#endif
