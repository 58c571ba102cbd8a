/* The cases of the kernel for native ops.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_NATIVES_H
#define VYRE_RUNTIME_NATIVES_H

#include "table.h"
#include "vyre/status.h"

/* Appends a case for each native op: it sets %r from %x, %y, %z and %d.  Without halves the kernel has no types of 16 bits. */
VYRE_MUST_USE vyre_status program_put_natives(bool has_halves, vyre_bytes *out);

#endif
