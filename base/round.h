/* Rounding of sizes and offsets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_ROUND_H
#define VYRE_BASE_ROUND_H

#include <stdint.h>

/* Returns the least multiple of `unit` that is not less than `value`, or `value` if `unit` is 0.  `value + unit - 1` must fit in
 * 64 bits. */
static inline uint64_t
round_up(uint64_t value, uint64_t unit)
{
  return unit ? (value + unit - 1) / unit * unit : value;
}

#endif
