/* The structural hash: equal rows have equal hashes.  The phase is in shash.vir.
 *
 * A value's hash combines its op word (with type and flags), its payload (with the version of a read) and the hashes of its
 * operands. Operands of commuting ops hash the same in either order.  A row that equals only itself (vyre/view.h:
 * vyre_row_is_value) has the hash of its id.  A hash depends only on the row's columns and its operands' hashes, so rows of one
 * level are independent.
 *
 * Limits: 32 bits.  Different rows may have equal hashes, so callers must compare rows, too.  O(rows).
 *
 * Requires: versions.  Provides: hashes.  Changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

extern const vyre_phases shash_phases;

static const vyre_pass shash = {
    .struct_size = sizeof(vyre_pass),
    .name = "shash",
    .long_name = "structural-hash",
    .summary = "compute for each row a hash that equal rows share",
    .help = "Combines each row's op, type, flags, literals and version with its operands' hashes.  cid uses it to find equal rows.",
    .requires_ = VYRE_VERSIONS,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .provides = VYRE_HASHES,
    .phases = &shash_phases,
};
VYRE_PLUGIN("shash", "1.0", &shash)
