/* Dependency files, as make and ninja read them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_DEPFILE_H
#define VYRE_BASE_FILES_DEPFILE_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a path, with what make would not read as it is escaped. */
VYRE_MUST_USE vyre_status depfile_add_path(vyre_bytes *text, const char *path);
/* A file, as a text; `is_sure`: whatever it includes is among the files, as each "include" in it is of an #include line.  Without a
 * text: there is no such file, and one that is made there would be included. */
typedef void (*depfile_visit)(void *user, const char *path, const char *text, bool is_sure);
/* A GLSL text (its bytes, or NULL: they are read), then the files that it may include, and those that these may, each once: by its
 * #include lines, whatever #if they are in, found where glslang looks.  Then those that are not there. */
VYRE_MUST_USE vyre_status depfile_each_include(const char *path, const vyre_bytes *text, const char *const *include_dirs,
                                               uint32_t include_dir_count, depfile_visit visit, void *user);

#endif
