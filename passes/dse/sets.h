/* Sets whose value reaches no get.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_DSE_SETS_H
#define VYRE_PASSES_DSE_SETS_H

#include "../state/stops.h"

/* Takes them out.  Adds how many to `removed`. */
vyre_status sets_remove(vyre_pass_ctx *ctx, vyre_module *module, const stops *at, uint64_t *removed);

#endif
