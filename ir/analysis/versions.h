/* Versions into a column of the caller's: what the analysis writes and the verifier compares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_H
#define VYRE_IR_VERSIONS_H

#include "vyre/ir.h"

/* Gives each row that has one its version; out has an element a row, and those of other rows are not touched.  It may be imm_hi
 * itself.  The module is sealed and verified. */
VYRE_MUST_USE vyre_status vyre_versions_compute(const vyre_module *module, uint32_t *out);

#endif
