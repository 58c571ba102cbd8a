/* Where the tools keep what a driver compiled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_CACHE_FOLDER_H
#define VYRE_BASE_FILES_CACHE_FOLDER_H

#include <stddef.h>

/* `option` is what -cache-dir says: a folder, "none", or NULL, which is $XDG_CACHE_HOME/vyre, else $HOME/.cache/vyre; a variable
 * that is not set or no absolute path counts as missing.  Gives the folder in `buffer`.  NULL: nothing is kept. */
const char *vyre_cache_folder(const char *option, char *buffer, size_t capacity);
/* The remark of a target's options, on standard error; `user` is the program's name. */
void vyre_target_remark(void *user, const char *text);

#endif
