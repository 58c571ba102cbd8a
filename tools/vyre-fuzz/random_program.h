/* Random programs and their runs, to compare the results of a program before and after a change: for vyre-fuzz and unit tests.
 *
 * Each invocation writes only its own elements of storage buffers (and, in strict programs, out of bounds), so that
 * the result does not depend on the order of invocations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FUZZ_RANDOM_PROGRAM_H
#define VYRE_FUZZ_RANDOM_PROGRAM_H

#include "vyre/run.h"

#define RANDOM_INVOCATIONS 8u /* two workgroups of four */
#define RANDOM_GROUPS      2u
#define RANDOM_WORDS       64u /* words of `out` that an invocation may write */
#define RANDOM_OUT         (RANDOM_INVOCATIONS * RANDOM_WORDS)
#define RANDOM_IN          64u

/* Returns a random number below `n`, and advances the state. */
static inline uint32_t
random_below(uint64_t *random, uint32_t n)
{
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*random >> 33) % n);
}

/* The contents of bindings 0 to 6, in the order of the bindings except for push constants.  Binding 4 has two blocks. */
typedef struct random_memory {
  uint32_t out[RANDOM_OUT];
  uint32_t in[RANDOM_IN];
  uint32_t shared[RANDOM_OUT];
  uint32_t uniform[12];
  uint32_t push[4];
  uint32_t blocks[2][RANDOM_OUT];
  uint32_t lone[12];
  uint32_t layouts[RANDOM_OUT];
} random_memory;

/* Descriptors that may be left unbound, a bit each. */
#define RANDOM_UNBOUND_UNIFORM 1u
#define RANDOM_UNBOUND_LONE    2u
#define RANDOM_UNBOUND_BLOCK   4u /* the bit of the first element; those of the others follow */
#define RANDOM_BLOCKS          3u /* elements of binding 4, of which two share memory, by the seed */
#define RANDOM_UNBOUND_ALL     31u
#define RANDOM_OTHER_START     32u /* not a descriptor: unset variables do not start with 0 bits */

#define RANDOM_RELAXED 1u
#define RANDOM_WIDE    2u /* all types and ops; otherwise bool and 32 bits */

/* Features of a wide program, which follow from its seed. */
#define RANDOM_LANES          1u  /* lanes of a workgroup communicate through memory, with barriers */
#define RANDOM_DEEP           2u  /* control is nested RANDOM_DEPTH deep */
#define RANDOM_EXTREME        4u  /* float operations have operands with extreme exponents, constants and contents of `in` */
#define RANDOM_SHAPE          8u  /* a workgroup of more than one dimension */
#define RANDOM_LAYOUTS        16u /* structs with explicit layouts in storage */
#define RANDOM_JUMPS          32u /* control with many jumps */
#define RANDOM_FEATURES       6u  /* their number */
#define RANDOM_LAYOUT_BINDING 6u
#define RANDOM_DEPTH          30u
uint32_t random_program_features(uint64_t seed, uint32_t flags);

/* Returns the bits of a finite number whose exponent is near the least, the greatest, or another bound.  Advances `random`. */
uint64_t random_extreme(uint64_t *random, vyre_kind kind);
/* The first word of `in` with such numbers in RANDOM_EXTREME programs: 8 of 64 bits, then 8 of 32, then 8 of 16. */
#define RANDOM_EXTREMES 32u

/* Makes one program from the seed.  `out` is binding 0, `in` (u32, read-only) binding 1.  A wide program also has `shared`
 * (coherent) at binding 2, a uniform block at 3, an array of storage blocks at 4, and a seldom used uniform block at 5.  Three of
 * four wide relaxed programs (seed & 6) have no undefined behavior. */
void random_program_build(vyre_module *module, uint64_t seed, uint32_t flags);

#define RANDOM_BINDINGS 24u
/* Fills the memory for a run. */
void random_program_fill(random_memory *memory, uint64_t seed);
/* Binds the memory to the program's buffers.  Returns the number of bindings. */
uint32_t random_program_bind(const vyre_module *module, uint32_t program, uint64_t seed, uint32_t unbound, random_memory *memory,
                             vyre_binding bindings[RANDOM_BINDINGS]);

/* Runs the module's first program on memory from the seed, with a check for data races.  The seed also determines the subgroup size
 * and the elements of an array of descriptors that share memory.  `unbound` has the descriptors without memory, and
 * perhaps RANDOM_OTHER_START. */
VYRE_MUST_USE vyre_status random_program_run(const vyre_module *module, uint64_t seed, bool report_undefined, uint32_t unbound,
                                             random_memory *out);

/* Returns descriptors that may be unbound.  A relaxed program without undefined behavior must not access them in this run.  In a
 * strict program they have 0 bytes, so that any may be unbound. */
uint32_t random_program_unbound(const vyre_module *module, uint64_t seed);

#endif
