/* Dependency files for make and ninja, and the includes of GLSL texts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_DEPFILE_H
#define VYRE_BASE_FILES_DEPFILE_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a path, with characters escaped that are special to make. */
VYRE_MUST_USE vyre_status depfile_add_path(vyre_bytes *text, const char *path);
/* Receives a file and its text.  `is_sure` is set if all its includes are known, because every "include" in the text is part of an
 * #include or #extension line.  `text` is NULL for a file that does not exist, but would be included if it did. */
typedef void (*depfile_visit)(void *user, const char *path, const char *text, bool is_sure);
/* Visits a GLSL text, and all files that it may include, directly or indirectly, each once.  `text` has the bytes of the first
 * file, or is NULL to read them.  Every #include line counts, regardless of #if, and is searched in the order of glslang.  Missing
 * files are visited last. */
VYRE_MUST_USE vyre_status depfile_each_include(const char *path, const vyre_bytes *text, const char *const *include_dirs,
                                               uint32_t include_dir_count, depfile_visit visit, void *user);

#endif
