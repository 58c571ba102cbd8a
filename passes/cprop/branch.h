/* Branches whose way is known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_BRANCH_H
#define VYRE_PASSES_CPROP_BRANCH_H

#include "solve.h"

/* The label of the one edge that is taken from a block that this row ends.  False: any may be. */
bool branch_label(const solution *s, uint32_t row, uint32_t *out);

#endif
