/* Reading of files within vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_LANGUAGES_TEXT_FILE_H
#define VYRE_LANGUAGES_TEXT_FILE_H

#include <string>

/* Appends the rest of an open file.  Returns false on failure. */
bool text_file_append(int fd, std::string *out);
/* Appends a file, which is not a device.  Returns false on failure. */
bool text_file_read(const char *path, std::string *out);

#endif
