/* libSPIRV-Tools-opt as the peer to measure against; C++ behind a C border.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_PEER_H
#define VYRE_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum peer_passes {
  PEER_NONE, /* parse and emit */
  PEER_LIKE, /* what import, canon, cf and dce do: inlining, SSA, simplification, constants, dead code */
  PEER_O,    /* -O, its own choice */
} peer_passes;

/* Without its validator.  False: it refused. */
bool peer_optimize(const uint32_t *words, size_t count, peer_passes passes, size_t *out_words);
/* Instructions in function bodies; labels, and what ends and frames functions, not counted. */
size_t peer_body_size(const uint32_t *words, size_t count);
size_t peer_optimized_body_size(const uint32_t *words, size_t count, peer_passes passes);

#ifdef __cplusplus
}
#endif
#endif
