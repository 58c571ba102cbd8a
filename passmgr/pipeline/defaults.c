/* The expansions of default<O0> to default<O3>.  To change a level, change its text here.  bench-shaders measures the effect, and
 * docs/passmgr.md has the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

const vyre_default vyre_defaults[VYRE_DEFAULTS] = {
    {"O0", "no-op"},
    {"O1", "dbe,simplify,dbe,dce"},
    {"O2", "fixpoint<max=32;on-limit=quiet>(early,fixpoint<max=32;on-limit=quiet>(dbe,licm,dse,simplify,dce),cprop)"},
    {"O3",
     "fixpoint<max=32;on-limit=quiet>(early,fixpoint<max=32;on-limit=quiet>(dbe,licm,dse,simplify,dce),cprop,remainder,expand)"},
};
