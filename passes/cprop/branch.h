/* Branches whose outcome is known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_BRANCH_H
#define VYRE_PASSES_CPROP_BRANCH_H

#include "solve.h"

/* Whether control may go from the `if`, `switch` or `for` into that region of it; the row itself for: past all of them. */
bool branch_takes(const solution *s, uint32_t row, uint32_t region);

#endif
