/* Kernels for tests of the CUDA target, in PTX that was written by hand: what the target gives a kernel is then not what the
 * project's own codegen makes of it.  vyre/ptx.h says what that is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_CUDA_KERNELS_H
#define VYRE_UNITTESTS_CUDA_KERNELS_H

#include "vyre/target.h"

typedef enum test_kernel {
  TEST_DIGIT, /* x[0] = x[0] * 3 + push: what runs twice, or in another order, shows */
  TEST_MARK,  /* x[w] = w + 1 for the workgroup numbered w, as far as x goes */
  TEST_DOWN,  /* x[0]--, unless it is 0 */
  TEST_ADD,   /* y[i] = x[i] + push, for i below x's length */
  TEST_BELL,  /* waits until x[0] is not 0, which the host says, and then says so in x[1] */
  TEST_MEET,  /* x[w] = w + 1; all workgroups meet; y[w] = x[(w + 1) % groups] */
  TEST_TRAP,  /* notes fault 3 in workgroup 1 */
  TEST_WILD,  /* writes to address push */
  TEST_KERNELS
} test_kernel;

/* Borrowed for good. */
const vyre_kernel_desc *test_kernel_desc(test_kernel kernel);

#endif
