/* Conditions that are known from sets of variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DBE_KNOWN_H
#define VYRE_PASSES_DBE_KNOWN_H

#include "vyre/plugin.h"

/* Returns the `if` at which a second iteration of the `loop` would break, given the values that the first iteration sets, or 0 if
 * it is not known.  The rows before it have no effect but on variables.  An example:
 *
 *   set %i, 0u32   loop { %t = get %i   if ult(%t, 4u32) { } else { break }   ...   set %i, add(%t, 4u32) }
 *
 * Searches both regions for the last sets of an iteration.  `continues` says that a jump leads to the continuing region.  O(1):
 * gives up a search that would be long. */
uint32_t known_break(const vyre_host *host, const vyre_module *module, uint32_t loop, bool continues);

/* Returns whether the value of a row of a scalar type is known, given sets of variables before it, up to the start of the loop
 * around it.  O(1), likewise. */
bool known_value(const vyre_host *host, const vyre_module *module, uint32_t row, uint64_t *out_bits);

#endif
