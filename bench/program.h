/* The generated program that the benchmarks of the IR table and of passes measure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_PROGRAM_H
#define VYRE_BENCH_PROGRAM_H

#include "vyre/ir.h"

enum { BENCH_DEEPEST = 6, BENCH_WIDTH_ID = 0 /* specialization id of the workgroup's width */ };

/* Appends a program of about `rows` rows: arithmetic, loads and stores, ifs and loops up to `deepest` deep, and a variable.
 * A third of the rows is dead.  vyre_module_status reports if memory runs out. */
void bench_grow(vyre_module *module, uint32_t rows, uint32_t deepest);

#endif
