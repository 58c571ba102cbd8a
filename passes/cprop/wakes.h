/* What other passes do that may be news to cprop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CPROP_WAKES_H
#define VYRE_PASSES_CPROP_WAKES_H

#include "vyre/plugin.h"

/* Whether cprop may find something behind these edits.  O(edits), and where paths or rows that moved are among them O(rows). */
vyre_status cprop_wakes(vyre_pass_ctx *ctx, const vyre_module *module, const vyre_edits *edits, bool *out);

#endif
