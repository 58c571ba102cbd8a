/* default<O0>, default<O1>, default<O2>: what each level stands for.  This is the place to change them; bench-shaders and
 * scripts/ measure what they do, docs/passmgr.md says why they are so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

const vyre_default vyre_defaults[VYRE_DEFAULTS] = {
    {"O0", "no-op"},
    {"O1", "dbe,simplify,dbe,dce"},
    {"O2", "fixpoint<max=32;on-limit=quiet>(fixpoint<max=32;on-limit=quiet>(dbe,licm,dse,simplify,dce),cprop)"},
};
