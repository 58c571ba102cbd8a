/* What tests of the CUDA target share: the target on the simulator, and what they tell the simulator and ask it (targets/cuda/sim/
 * simulator.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_CUDA_TARGET_H
#define VYRE_UNITTESTS_CUDA_TARGET_H

#include "../test.h"
#include "kernels.h"
#include "sim/simulator.h"

#define SIMULATOR "lib/" CUDA_SIM_LIBRARY

typedef struct test_simulator {
  vyre_cuda_sim_fail_function *make_fail;
  vyre_cuda_sim_has_failed_function *has_failed;
  vyre_cuda_sim_count_function *count;
  vyre_cuda_sim_messages_function *messages;
  vyre_cuda_sim_clear_function *clear;
} test_simulator;

/* Of the library that targets are opened with. */
extern test_simulator sim;
int test_find_simulator(void **state); /* a group's setup */

/* Ends the test unless it is OK. */
void test_ok(vyre_status status);
/* It failed, and its text has the word and a Fix line. */
void test_refused(vyre_status status, const char *word);

/* A target of the simulator's; `options` may be NULL.  After test_close nothing is left, and the simulator has no message. */
vyre_target *test_open(const vyre_target_options *options);
void test_close(vyre_target *target);

vyre_kernel test_compile(vyre_target *target, test_kernel kernel);
vyre_device_buffer test_buffer(vyre_target *target, uint32_t words, uint32_t value); /* each of that value */
vyre_range test_range(vyre_device_buffer buffer);                                    /* the whole */
vyre_range test_words(vyre_device_buffer buffer, uint32_t first, uint32_t count);
uint64_t test_metric(const vyre_target *target, const char *name);
/* A step of one buffer. */
vyre_step test_step(vyre_kernel kernel, const vyre_range *range, uint32_t groups, const uint32_t *push);
/* A kernel that writes where nothing is. */
vyre_status test_run_wild(vyre_target *target);

#endif
