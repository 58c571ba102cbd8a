/* Writes programs as C, compiles the C code and runs it.
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

/* Compiles the text with all warnings as errors, and returns the open library.  In the environment, VYRE_TEST_CC is another
 * compiler, VYRE_TEST_CFLAGS its options instead of -O1, and VYRE_TEST_KEEP keeps the files.  `number` makes their names
 * unique. */
void *compile_c(const vyre_bytes *text, uint32_t number);
extern double compile_seconds;

/* Runs the dispatch.  With `parts`, runs it in two calls, so that its relaxed atomics are not plain loads and stores.  Returns
 * the fault, or 0 if there is none. */
uint32_t run_c(void *library, const vyre_module *module, const vyre_dispatch *dispatch, bool parts);
void print_program(const vyre_module *module, uint32_t program);

#endif
