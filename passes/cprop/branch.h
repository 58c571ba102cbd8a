/* Branches whose outcome is known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_BRANCH_H
#define VYRE_PASSES_CPROP_BRANCH_H

#include "solve.h"

/* Returns whether control may enter `region` from the `if`, `switch` or `for`.  If `region` is the row itself, returns whether
 * control may skip all regions. */
bool branch_may_enter(const solution *s, uint32_t row, uint32_t region);

#endif
