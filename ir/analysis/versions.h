/* Versions into a column of the caller's: what the analysis writes and the verifier compares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_H
#define VYRE_IR_VERSIONS_H

#include "vyre/ir.h"

/* out, an element a row, gets each row's version, 0 where it has none.  The module is sealed and verified. */
VYRE_MUST_USE vyre_status vyre_versions_compute(const vyre_module *module, uint32_t *out);

#endif
