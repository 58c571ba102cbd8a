/* Opening the CUDA target: what is missing has a message of its own each, and a device is taken as it is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "target.h"

#include "bundle.h"

static const vyre_target_ops *const ops = &vyre_target_cuda;

static vyre_status
open_and_close(const char *library, const char *device)
{
  const vyre_target_options options = {.library = library, .device = device};
  vyre_target *target;
  VYRE_TRY(ops->open(&options, NULL, &target));
  return ops->close(target);
}

TEST(what_is_missing_is_told)
{
  test_refused(open_and_close("/nowhere/libcuda.so.1", NULL), "cuda: no library: ");
  test_refused(open_and_close("libc.so.6", NULL), "cuda: no symbol: the library 'libc.so.6' lacks cuInit");
  setenv("VYRE_CUDA_SIM_DEVICES", "0", 1);
  test_refused(open_and_close(test_file(SIMULATOR), NULL), "cuda: no device: ");
  unsetenv("VYRE_CUDA_SIM_DEVICES");
  test_ok(open_and_close(test_file(SIMULATOR), NULL));
}

TEST(a_device_is_taken_as_asked)
{
  setenv("VYRE_CUDA_SIM_DEVICES", "2", 1);
  test_ok(open_and_close(test_file(SIMULATOR), "1"));
  test_refused(open_and_close(test_file(SIMULATOR), "2"), "none that fits '2'; there are: 0 '");
  test_refused(open_and_close(test_file(SIMULATOR), "integrated"), "none that fits 'integrated'");
  test_ok(open_and_close(test_file(SIMULATOR), "discrete"));
  test_ok(open_and_close(test_file(SIMULATOR), "simulated"));
  unsetenv("VYRE_CUDA_SIM_DEVICES");
}

/* Without a library's name: the simulator lies where vyre's own libraries do. */
TEST(the_simulator_is_a_device)
{
  const vyre_target_options options = {.device = "sim"};
  vyre_target *target;
  vyre_device_info info;
  test_ok(ops->open(&options, NULL, &target));
  ops->describe(target, &info);
  assert_true(info.usable);
  assert_true(info.capabilities & VYRE_TARGET_EMULATED);
  assert_true(info.capabilities & VYRE_TARGET_GRID_BARRIERS);
  assert_int_equal(info.forms, 1u << VYRE_KERNEL_PTX);
  assert_int_equal(info.subgroup, 32);
  assert_string_equal(info.architecture, "sm_80");
  assert_true(info.budget <= info.memory && info.budget > 0);
  test_ok(ops->close(target));
}

static void
count_device(void *user, const vyre_device_info *info)
{
  uint32_t *count = user;
  assert_int_equal(info->index, *count);
  ++*count;
}

TEST(devices_are_listed)
{
  const vyre_target_options options = {.library = test_file(SIMULATOR)};
  uint32_t count = 0;
  setenv("VYRE_CUDA_SIM_DEVICES", "3", 1);
  test_ok(ops->list(&options, count_device, &count));
  assert_int_equal(count, 3);
  unsetenv("VYRE_CUDA_SIM_DEVICES");
}

/* The thread's context is the embedder's, before and after. */
TEST(a_context_of_the_embedders_stays)
{
  sim.clear();
  vyre_target *target = test_open(NULL);
  const uint64_t pushed = sim.count("cuCtxPushCurrent_v2"), popped = sim.count("cuCtxPopCurrent_v2");
  assert_int_equal(popped, pushed + 1); /* the one that was made was pushed by that */
  test_buffer(target, 4, 1);
  assert_int_equal(sim.count("cuCtxPopCurrent_v2") - popped, sim.count("cuCtxPushCurrent_v2") - pushed);
  test_close(target);
}

TEST_MAIN(test_find_simulator, NULL)
