/* What tests of the CUDA target share: the target on the simulator, the simulator's functions, and kernels in PTX that was written
 * by hand, so that the target is not tested with what the project's own codegen makes of vyre/ptx.h.
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

/* Returns a kernel's description, which stays valid. */
const vyre_kernel_desc *test_kernel_desc(test_kernel kernel);

/* The functions of the library that targets are opened with. */
extern test_simulator sim;
int test_find_simulator(void **state); /* a group's setup */

/* Ends the test unless the status is OK. */
void test_ok(vyre_status status);
/* Requires an error with that word, the target's name first, and a Fix line. */
void test_refused(vyre_status status, const char *word);

/* Opens a target on the simulator; `options` may be NULL.  test_close requires that nothing is left, and that the simulator has no
 * message. */
vyre_target *test_open(const vyre_target_options *options);
void test_close(vyre_target *target);

vyre_kernel test_compile(vyre_target *target, test_kernel kernel);
vyre_device_buffer test_buffer(vyre_target *target, uint32_t words, uint32_t value); /* of words of that value */
vyre_range test_range(vyre_device_buffer buffer);                                    /* all of it */
vyre_range test_words(vyre_device_buffer buffer, uint32_t first, uint32_t count);
uint64_t test_metric(const vyre_target *target, const char *name);
/* Returns a step of one buffer; `push` may be NULL. */
vyre_step test_step(vyre_kernel kernel, const vyre_range *range, uint32_t groups, const uint32_t *push);
/* Submits one step and reads the range after it. */
vyre_status test_submit(vyre_target *target, const vyre_step *step, vyre_range range, uint32_t *words);
/* Requires that the target works as if it had just been opened. */
void test_works(vyre_target *target);
/* Returns a step that writes where nothing is. */
vyre_step test_wild_step(vyre_target *target, const vyre_range *range);
vyre_status test_run_wild(vyre_target *target);

#endif
