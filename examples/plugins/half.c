/* An example of a GPU pass outside of the source tree of vyre.  half.vir has its phases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

extern const vyre_phases half_phases;

static const vyre_pass enough = {
    .struct_size = sizeof(vyre_pass),
    .name = "half.enough",
    .summary = "relax the precision of values that are only rounded to f16",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS,
    .phases = &half_phases,
};
VYRE_PLUGIN("half", "1.0", &enough)
