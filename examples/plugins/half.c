/* A GPU pass outside of vyre's tree: its phases are in half.vir, and are all of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

extern const vyre_phases half_phases;

static const vyre_pass enough = {
    .struct_size = sizeof(vyre_pass),
    .name = "half.enough",
    .summary = "relax the precision of what is rounded to f16 in the end",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS,
    .phases = &half_phases,
};
VYRE_PLUGIN("half", "1.0", &enough)
