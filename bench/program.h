/* The program that benchmarks of the table and of passes walk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_PROGRAM_H
#define VYRE_BENCH_PROGRAM_H

#include "vyre/ir.h"

enum { BENCH_DEEPEST = 6, BENCH_WIDTH_ID = 0 /* of the workgroup's width */ };

/* A program of about that many rows after the present ones: arithmetic, loads and stores, ifs and loops up to `deepest` deep,
 * a variable; a third of it dead.  Out of memory is left to vyre_module_status. */
void bench_grow(vyre_module *module, uint32_t rows, uint32_t deepest);

#endif
