/* A quick test before the solver.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_SCAN_H
#define VYRE_PASSES_CPROP_SCAN_H

#include "solve.h"

/* Returns in *out whether a branch has a literal condition, or a `get` whose state is a join has a known value.  The module has
 * versions.  O(rows + parts of joins). */
vyre_status scan_joins(vyre_pass_ctx *ctx, vyre_module *module, bool *out);

#endif
