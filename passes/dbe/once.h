/* Loops whose second iteration leaves at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DBE_ONCE_H
#define VYRE_PASSES_DBE_ONCE_H

#include "vyre/plugin.h"

/* Whether a second iteration of that `loop` would come to a `break` before any effect, because of what the first one sets: as in
 *
 *   set %i, 0u32   loop { %t = get %i   if ult(%t, 4u32) { } else { break }   ...   set %i, add(%t, 4u32) }
 *
 * Both regions are searched for what the iteration sets last; `continues`: a jump leads to the continuing region.  O(1): a search
 * that would be long is given up. */
bool once_loop(const vyre_host *host, const vyre_module *module, uint32_t loop, bool continues);

#endif
