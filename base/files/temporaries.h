/* The temporary files of writes in progress, which vyre_file_abandon removes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_TEMPORARIES_H
#define VYRE_BASE_FILES_TEMPORARIES_H

#include <stdint.h>

/* Notes the name of a temporary file, before the file is created.  Borrows the name until io_forget_temporary.  Returns a slot. */
uint32_t io_note_temporary(const char *name);
void io_forget_temporary(uint32_t slot);

#endif
