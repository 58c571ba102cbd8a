/* Removal of `set`s whose value reaches no `get`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DSE_SETS_H
#define VYRE_PASSES_DSE_SETS_H

#include "../state/stops.h"

/* Removes such `set`s of the module and adds their number to *removed.  Requires versions, and sets *preserved to false if it may
 * have invalidated them. */
vyre_status sets_remove(vyre_pass_ctx *ctx, vyre_module *module, const stops *at, uint64_t *removed, bool *preserved);

#endif
