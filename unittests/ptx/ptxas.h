/* Compiles PTX with ptxas if it is installed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_PTXAS_H
#define VYRE_UNITTESTS_PTX_PTXAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptxas_result {
  bool takes;       /* ptxas accepted the text */
  char said[512];   /* the first error, empty if there is none */
  uint32_t kernels; /* with -v, the number of reported kernels */
  uint32_t most;    /* with -v, the most registers of a kernel */
  uint32_t spilled; /* with -v, bytes of spill stores and loads of all kernels */
} ptxas_result;

/* Returns whether ptxas is installed.  Otherwise skips the test with a message. */
bool needs_ptxas(void);
/* Compiles the text for the architecture `sm`, with options such as "-O1 -v". */
void run_ptxas(const char *text, size_t size, uint32_t sm, const char *options, ptxas_result *out);
/* Compiles the text, and fails the test with the name `what` if ptxas refuses it. */
void check_ptxas(const char *text, size_t size, uint32_t sm, const char *options, const char *what, ptxas_result *out);

/* Runs the tests whose names begin with `ptxas` if the program has an argument, and the others otherwise. */
int run_ptx_tests(int argc);

#endif
