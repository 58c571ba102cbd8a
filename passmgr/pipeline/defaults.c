/* default<O0> to default<O3>: what each level is replaced by.  They are changed here; bench-shaders and
 * scripts/ measure their effect, docs/passmgr.md gives the reasons.
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
