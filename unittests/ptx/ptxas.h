/* What ptxas makes of a text, where it is installed: what the tests share that ask it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_PTXAS_H
#define VYRE_UNITTESTS_PTX_PTXAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptxas_result {
  bool takes;
  char said[512];   /* its first error */
  uint32_t kernels; /* with -v: how many it told of */
  uint32_t most;    /* registers of the one with the most */
  uint32_t spilled; /* bytes of stores and loads of spills, of all */
} ptxas_result;

/* False: there is no ptxas; skips the test and says so. */
bool needs_ptxas(void);
/* Compiles it for that architecture, with options like "-O1 -v". */
void run_ptxas(const char *text, size_t size, uint32_t sm, const char *options, ptxas_result *out);
/* The same, and fails the test, by that name, if ptxas does not take it. */
void check_ptxas(const char *text, size_t size, uint32_t sm, const char *options, const char *what, ptxas_result *out);

/* Runs the tests of this program: with an argument only those of ptxas, without one the others. */
int run_ptx_tests(int argc);

#endif
