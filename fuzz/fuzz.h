/* Helpers of the fuzz targets: modules that are used again, a function that passes a verified module to every function that takes
 * one, and mutation of text by whole tokens.
 *
 * A finding is an abort (with the status' text), a sanitizer's report, or libFuzzer's time or memory limit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FUZZ_H
#define VYRE_FUZZ_H

#include "vyre/ir.h"
#include "vyre/passmgr.h"

/* libFuzzer's interface. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

/* Prints and aborts. */
_Noreturn void fuzz_fail(const char *format, ...) VYRE_PRINTF(1, 2);
/* For calls that must not fail. */
void fuzz_require(vyre_status status, const char *what);
/* For calls that may fail, but with a message and never by a bug of vyre.  True: it did not fail. */
bool fuzz_allow(vyre_status status, const char *what);

/* An empty module; the k-th of those kept.  Its allocator refuses blocks over 16 MiB, so that running out of memory is tried too.
 */
vyre_module *fuzz_module(unsigned k);

/* Clones, prints, parses, prints, writes and reads as VIR0, exports, interprets a verified module; each core pass runs over a copy,
 * verified; versions are made and checked.  Aborts where one of these breaks what it promises.  canonical: literals and
 * declarations are where the parser puts them, so that the first print is a fixed point; else the second is. */
void fuzz_exercise(const vyre_module *module, bool canonical);

/* A token or a line copied, moved, dropped or replaced; now and then libFuzzer's own mutation. */
size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t capacity, unsigned seed);

/* A small generator: state in, next state and a number below `below` out. */
uint32_t fuzz_random(uint64_t *state, uint32_t below);

#endif
