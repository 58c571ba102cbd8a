/* The parts of vyre_file_read_as.  io_read depends on the system: io.c and windows/io.c define it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_READ_H
#define VYRE_BASE_FILES_READ_H

#include "vyre/io.h"

/* Appends the bytes of a regular file.  If `is_plain` (VYRE_FILE_PLAIN) is false, the path may also be "-" or name an open
 * descriptor.  After a failure `out` may have some of the bytes. */
VYRE_MUST_USE vyre_status io_read(const char *path, bool is_plain, vyre_bytes *out);
/* Returns the text of a fix for an errno value of a file operation. */
const char *file_advice(int error);
/* Removes the byte order mark of the text that begins at `from` and ends with a zero byte.  Returns INPUT for UTF-16. */
VYRE_MUST_USE vyre_status io_remove_mark(const char *path, vyre_bytes *text, size_t from);
/* Returns the error for a text in UTF-16. */
VYRE_MUST_USE vyre_status io_is_utf16(const char *path);

#endif
