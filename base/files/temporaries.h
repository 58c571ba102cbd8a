/* The temporary files of writes in progress, which vyre_file_abandon removes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_FILES_TEMPORARIES_H
#define VYRE_BASE_FILES_TEMPORARIES_H

#include <stdint.h>

/* Before the file is there; the name stays where it is until it is forgotten. */
uint32_t io_note_temporary(const char *name);
void io_forget_temporary(uint32_t slot);

#endif
