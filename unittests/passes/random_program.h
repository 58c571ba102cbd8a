/* Random programs, for tests that compare what a program computes before and after a pass.
 *
 * Each invocation writes only its own elements of the storage buffer `out` (and, in strict programs, out of bounds), so that what
 * it holds at the end is one and the same however invocations take turns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PASSES_RANDOM_PROGRAM_H
#define VYRE_UNITTESTS_PASSES_RANDOM_PROGRAM_H

#include "vyre/ir.h"

#define RANDOM_INVOCATIONS 8u  /* two workgroups of four */
#define RANDOM_WORDS       16u /* words of `out` that an invocation may write */

/* Makes one program from the seed; `out` is binding 0, `in` (u32, 64 words) binding 1. */
void random_program_build(vyre_module *module, uint64_t seed, bool relaxed);

#endif
