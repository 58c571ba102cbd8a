/* libSPIRV-Tools-opt as the peer to measure against; C++ behind a C interface.
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
  PEER_LIKE, /* the like of default<O2>: inlining, SSA, simplification, constants, redundancy, loop invariants, branches, dead code
              */
  PEER_O,    /* -O, its own choice */
} peer_passes;

/* Receives the result; the words are freed when it returns. */
typedef void (*peer_visit)(void *user, const uint32_t *words, size_t count);

/* Without its validator.  visit: NULL, or called once.  False: it refused. */
bool peer_optimize(const uint32_t *words, size_t count, peer_passes passes, peer_visit visit, void *user);

#ifdef __cplusplus
}
#endif
#endif
