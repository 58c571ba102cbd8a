/* The expansions of default<O0> to default<O3>.  To change a level, change its text here.  bench-shaders measures the effect, and
 * docs/passmgr.md has the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#define FIXPOINT "fixpoint<max=32;on-limit=quiet>"
#define ROUND    "early," FIXPOINT "(dbe,licm,dse,uncopy,simplify,dce),cprop"

const vyre_default vyre_defaults[VYRE_DEFAULTS] = {
    {"O0", "no-op"},
    {"O1", "dbe,simplify,dbe,dce"},
    {"O2", "early,dbe,licm,dse,uncopy,simplify,cprop<conditions>,fixpoint<while=branches>(dbe),dce"},
    {"O3", FIXPOINT "(" ROUND ",remainder,expand)"},
};
