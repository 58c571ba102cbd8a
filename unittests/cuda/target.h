/* Helpers of the CUDA target's tests: the target on the simulator, the simulator's functions, and kernels.  The kernels are
 * hand-written PTX, so that a misunderstanding of vyre/ptx.h by codegen/ptx does not stay hidden.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_CUDA_TARGET_H
#define VYRE_UNITTESTS_CUDA_TARGET_H

#include "../test.h"
#include "sim/simulator.h"
#include "vyre/target.h"

#define SIMULATOR "lib/" CUDA_SIM_LIBRARY

typedef struct test_simulator {
  vyre_cuda_sim_fail_function *make_fail;
  vyre_cuda_sim_has_failed_function *has_failed;
  vyre_cuda_sim_count_function *count;
  vyre_cuda_sim_messages_function *messages;
  vyre_cuda_sim_clear_function *clear;
} test_simulator;

typedef enum test_kernel {
  TEST_DIGIT, /* x[0] = x[0] * 3 + push; the result shows steps that run twice or in another order */
  TEST_MARK,  /* x[w] = w + 1 for workgroup w, up to the length of x */
  TEST_DOWN,  /* decrements x[0] unless it is 0 */
  TEST_ADD,   /* y[i] = x[i] + push, for i below the lengths of x and y */
  TEST_BELL,  /* waits until the host sets x[0], and copies it to x[1] */
  TEST_MEET,  /* x[w] = w + 1; grid barrier; y[w] = x[(w + 1) % groups] */
  TEST_TRAP,  /* reports fault 3 in workgroup 1 */
  TEST_WILD,  /* writes to the address in push */
  TEST_KERNELS
} test_kernel;

/* Returns the static description of a kernel. */
const vyre_kernel_desc *test_kernel_desc(test_kernel kernel);

/* The functions of the targets' library. */
extern test_simulator sim;
int test_find_simulator(void **state); /* sets `sim`; the setup of a test program */

/* Asserts that the status is OK. */
void test_ok(vyre_status status);
/* Asserts an error that begins with the target's name, contains `word`, and has a Fix line.  Frees it. */
void test_refused(vyre_status status, const char *word);

/* Opens a target on the simulator.  `options` may be NULL.  test_close asserts that no memory is left, and that the simulator has
 * no message. */
vyre_target *test_open(const vyre_target_options *options);
void test_close(vyre_target *target);

vyre_kernel test_compile(vyre_target *target, test_kernel kernel);
vyre_device_buffer test_buffer(vyre_target *target, uint32_t words, uint32_t value); /* filled with `value` */
vyre_range test_range(vyre_device_buffer buffer);                                    /* the whole buffer */
vyre_range test_words(vyre_device_buffer buffer, uint32_t first, uint32_t count);
uint64_t test_metric(const vyre_target *target, const char *name);
/* Returns a step with one buffer.  `push` may be NULL. */
vyre_step test_step(vyre_kernel kernel, const vyre_range *range, uint32_t groups, const uint32_t *push);
/* Submits one step and reads the range after it. */
vyre_status test_submit(vyre_target *target, const vyre_step *step, vyre_range range, uint32_t *words);
/* Asserts that the target allocates, compiles and runs. */
void test_works(vyre_target *target);
/* Returns a step that writes to an address without memory. */
vyre_step test_wild_step(vyre_target *target, const vyre_range *range);
vyre_status test_run_wild(vyre_target *target);

#endif
