/* Dependency files, as make and ninja read them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_DEPFILE_H
#define VYRE_PASSMGR_DEPFILE_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a path, with what make would not read as it is escaped. */
VYRE_MUST_USE vyre_status depfile_add_path(vyre_bytes *text, const char *path);
/* Appends " PATH" of each file that a GLSL text may include, and of those that these may, each once: by its #include lines,
 * whatever #if they are in, found where glslang looks.  `path` is the text's. */
VYRE_MUST_USE vyre_status depfile_add_includes(vyre_bytes *text, const char *path, const char *const *include_dirs,
                                               uint32_t include_dir_count);

/* A file, as a text; `is_sure`: whatever it includes is among the files, as each "include" in it is of an #include line. */
typedef void (*depfile_visit)(void *user, const char *path, const char *text, bool is_sure);
/* The same files, after the text itself, which has been read. */
VYRE_MUST_USE vyre_status depfile_each_include(const char *path, const vyre_bytes *text, const char *const *include_dirs,
                                               uint32_t include_dir_count, depfile_visit visit, void *user);

#endif
