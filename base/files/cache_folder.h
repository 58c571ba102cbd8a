/* The folder for kernels that a driver compiled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_CACHE_FOLDER_H
#define VYRE_BASE_FILES_CACHE_FOLDER_H

#include <stddef.h>

/* Returns the cache folder, in `buffer`, or NULL if nothing is cached.  `option` is the value of -cache-dir: a folder, "none", or
 * NULL for $XDG_CACHE_HOME/vyre or $HOME/.cache/vyre.  A variable that is not an absolute path counts as unset. */
const char *vyre_cache_folder(const char *option, char *buffer, size_t capacity);
/* The callback `remark` of a target's options.  Prints to standard error.  `user` is the program's name. */
void vyre_target_remark(void *user, const char *text);

#endif
