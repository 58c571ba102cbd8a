/* Facts that conditions establish in the regions that they guard.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_KNOWN_H
#define VYRE_PASSES_CPROP_KNOWN_H

#include "../state/list.h"

/* Replaces operands by literals where a condition around or before their row determines them.  Adds the number of replaced
 * operands to `changed`.  O(rows). */
vyre_status known_replace(vyre_pass_ctx *ctx, vyre_module *module, uint64_t *changed);

#endif
