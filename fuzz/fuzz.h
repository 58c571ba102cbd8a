/* Helpers of the fuzz targets: modules that all inputs share, a test of every function that takes a module, and mutation of text
 * by whole tokens.
 *
 * A finding is an abort with the text of the status, a report of a sanitizer, or an excess of libFuzzer's limits of time and
 * memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FUZZ_H
#define VYRE_FUZZ_H

#include "vyre/ir.h"
#include "vyre/passmgr.h"

/* The interface of libFuzzer.  A target defines the first function, and may define the second. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

/* Prints the formatted message and aborts. */
_Noreturn void fuzz_fail(const char *format, ...) VYRE_PRINTF(1, 2);
/* Aborts if the status is an error.  `what` names the call. */
void fuzz_require(vyre_status status, const char *what);
/* Returns whether the status is OK, and frees an error.  Aborts if the error has no message or reports a bug of vyre. */
bool fuzz_allow(vyre_status status, const char *what);

/* Clears the shared module number `k`, from 0 to 3, and returns it.  Its allocator refuses blocks over 16 MiB, so that failed
 * allocations are tested, too. */
vyre_module *fuzz_module(unsigned k);

/* Clones a verified module, prints and parses it, writes and reads it as VIR0, exports it and interprets its programs.  Makes and
 * checks all analyses.  Runs each core pass over a copy, and verifies the copy.  Aborts if a function breaks its contract.  If
 * `canonical` is set, literals and declarations are in the parser's order, so the first print must be a fixed point.  Otherwise
 * the second print must be one. */
void fuzz_exercise(const vyre_module *module, bool canonical);

/* Copies, removes or replaces random tokens or lines.  Sometimes uses libFuzzer's own mutation instead.  Returns the new size. */
size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t capacity, unsigned seed);

/* Returns a pseudorandom number less than `below`, and advances *state. */
uint32_t fuzz_random(uint64_t *state, uint32_t below);

#endif
