/* Programs as C, compiled and run: what their tests share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_C_RUN_C_H
#define VYRE_UNITTESTS_C_RUN_C_H

#include "../budget.h"
#include "../test.h"
#include "vyre/c.h"

#define MOST_BUFFERS 32u

typedef uint32_t (*program_function)(const vyre_c_dispatch *);

void assert_ok(vyre_status status, const char *what);
double seconds_now(void);

/* Compiles the text with all warnings as errors, and opens it; VYRE_TEST_CC and VYRE_TEST_CFLAGS in the environment say how else.
 * VYRE_TEST_KEEP there keeps the files. */
void *compile_c(const vyre_bytes *text, uint32_t number);
extern double compile_seconds;

/* Runs it on these bindings, in two calls if it is to be in parts, which makes atomics of it.  Its fault. */
uint32_t run_c(void *library, const vyre_module *module, const vyre_dispatch *dispatch, bool parts);
void print_program(const vyre_module *module, uint32_t program);

#endif
