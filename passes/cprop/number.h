/* Which rows and phis have equal values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_NUMBER_H
#define VYRE_PASSES_CPROP_NUMBER_H

#include "solve.h"

/* By node: the first one with that value, or the literal that it is; 0: itself, nobody asked.  Asked are the phis that are the
 * value of one of these rows (uint32_t).  NULL: no two of them are equal.  O(rows), expected. */
vyre_status number_nodes(const solution *s, const flow_list *rows, const uint32_t **out);

#endif
