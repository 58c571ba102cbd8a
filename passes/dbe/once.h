/* Loops whose second iteration leaves at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DBE_ONCE_H
#define VYRE_PASSES_DBE_ONCE_H

#include "vyre/plugin.h"

/* Returns the `if` at which a second iteration of the `loop` would break, given the values that the first iteration sets, or 0 if
 * it is not known.  The rows before it have no effect but on variables.  An example:
 *
 *   set %i, 0u32   loop { %t = get %i   if ult(%t, 4u32) { } else { break }   ...   set %i, add(%t, 4u32) }
 *
 * Searches both regions for the last sets of an iteration.  `continues` says that a jump leads to the continuing region.  O(1):
 * gives up a search that would be long. */
uint32_t once_loop(const vyre_host *host, const vyre_module *module, uint32_t loop, bool continues);

#endif
