/* Which rows and phis have equal values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_NUMBER_H
#define VYRE_PASSES_CPROP_NUMBER_H

#include "solve.h"

/* By node: the first one with that value, or the literal that it is; 0: itself, nobody asked.  O(rows), expected. */
vyre_status number_nodes(const solution *s, uint32_t **out);

#endif
