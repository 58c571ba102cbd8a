/* Data in zlib's format (RFC 1950 and 1951), unpacked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_INFLATE_H
#define VYRE_PASSMGR_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exactly `size` bytes, of all of `in`.  False: it is not that, or damaged. */
bool inflate_zlib(const uint8_t *in, size_t in_size, uint8_t *out, size_t size);

#endif
