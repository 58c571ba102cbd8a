/* Options of callers that were compiled with another version of the headers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_OPTIONS_H
#define VYRE_BASE_OPTIONS_H

#include "vyre/status.h"

/* Copies a caller's struct of options, whose first field is `size_t struct_size`, to `to`, the same struct with the `size` bytes of
 * this library.  `name` is the name of its type.  Fields that the caller's struct lacks are 0, and struct_size becomes `size`.  If
 * `from` is NULL, all other fields are 0.  Returns USAGE if struct_size is too small, or a field after the first `size` bytes is
 * set.
 *
 * A new field belongs at the end of a struct, and not in padding that an earlier version had there. */
VYRE_MUST_USE vyre_status vyre_options_read(void *to, size_t size, const void *from, const char *name);

#endif
