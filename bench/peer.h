/* libSPIRV-Tools-opt as the peer of measurements: C++ behind a C interface.
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
  PEER_LIKE, /* passes comparable to default<O2>: inlining, SSA, simplification, constants, redundancy, loop invariants, branches,
                dead code */
  PEER_O,    /* -O: the peer's own choice of passes */
} peer_passes;

/* Receives the result.  The words are valid only during the call. */
typedef void (*peer_visit)(void *user, const uint32_t *words, size_t count);

/* Optimizes without the peer's validator.  Calls `visit` once, unless it is NULL.  Returns false if the peer refuses the
 * module. */
bool peer_optimize(const uint32_t *words, size_t count, peer_passes passes, peer_visit visit, void *user);

#ifdef __cplusplus
}
#endif
#endif
