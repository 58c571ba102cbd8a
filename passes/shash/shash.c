/* The structural hash: equal rows have equal hashes.  shash.vir has its phase.
 *
 * A value's hash is made of its op word (type and flags in it), its payload (the version of a read is there) and the hashes of its
 * operands; where the op commutes, in either order.  A row that equals only itself (vyre/view.h: vyre_row_is_value) has the hash of
 * its id. So a row needs only its own columns and its operands' hashes, and rows of one operand level are independent.
 *
 * Limits: 32 bits, in 32-bit arithmetic; rows that differ may have equal hashes, so nothing may be decided by them
 * alone. O(rows).
 *
 * requires: versions      provides: hashes      changes nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

extern const vyre_phases shash_phases;

static const vyre_pass shash = {
    .struct_size = sizeof(vyre_pass),
    .name = "shash",
    .long_name = "structural-hash",
    .summary = "the hash column: rows that are equal values have equal hashes",
    .help = "Made of each row's op, type, flags, literals and versions and its operands' hashes.  cid uses it to find equal rows.",
    .requires_ = VYRE_VERSIONS,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .provides = VYRE_HASHES,
    .phases = &shash_phases,
};
VYRE_PLUGIN("shash", "1.0", &shash)
