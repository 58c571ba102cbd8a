/* Loops whose second trip leaves at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DBE_ONCE_H
#define VYRE_PASSES_DBE_ONCE_H

#include "vyre/plugin.h"

/* Whether a second trip of that `loop` would come to a `break` before it does anything, because of what the first one sets: as in
 *
 *   set %i, 0u32   loop { %t = get %i   if ult(%t, 4u32) { } else { break }   ...   set %i, add(%t, 4u32) }
 *
 * Both regions are looked at up to what the trip sets last; `continues`: a jump leads to the continuing region.  O(1): a loop for
 * which much would have to be looked at is not known to be one. */
bool once_loop(const vyre_host *host, const vyre_module *module, uint32_t loop, bool continues);

#endif
