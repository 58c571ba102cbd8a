/* Tests whether the solver can find anything.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_SCAN_H
#define VYRE_PASSES_CPROP_SCAN_H

#include "solve.h"

/* Selects the programs in which a branch has a literal condition, or a `get` whose state is a join has a known value.  `programs`
 * has an element for each row, and those that are selected stay selected.  Returns in *out whether any is selected.  The module has
 * versions.  O(rows + parts of joins). */
vyre_status scan_joins(vyre_pass_ctx *ctx, vyre_module *module, bool *programs, bool *out);

#endif
