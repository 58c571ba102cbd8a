/* Random kernels in a C that a device and the host compile to the same results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PTX_GENERATE_H
#define PTX_GENERATE_H

#include <stdint.h>
#include <stdio.h>

enum { GENERATED_THREADS = 64, GENERATED_OUT = 16, GENERATED_IN = 64 };

/* Writes kernels k0, k1 ... of one file: of out (GENERATED_OUT words of 64 bits a thread), and GENERATED_IN elements each of int,
 * unsigned long long, float, double and unsigned char.  Compiled for a device each thread is one; for the host a call runs all. */
void ptx_generate(FILE *file, uint64_t seed, uint32_t kernels);

#endif
