/* Modules and launches of the simulated driver: what is refused, what kernels do and how they fail, links and logs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

static cuda_result
launch(const char *name, unsigned grid, unsigned block, unsigned shared)
{
  return cu.cuLaunchKernel(driver_kernel(name), grid, 1, 1, block, 1, 1, shared, NULL, NULL, NULL);
}

TEST_WITH(launches_have_limits, driver_setup, driver_teardown)
{
  OK(launch("wide", 2, 64, 0));
  assert_int_equal(launch("wide", 2, 32, 0), CUDA_INVALID_VALUE);
  driver_told("the kernel requires 64");
  OK(launch("count", 1, 1, 0));
  assert_int_equal(launch("count", 0, 32, 0), CUDA_INVALID_VALUE);
  driver_told("0 blocks along axis 0");
  assert_int_equal(launch("count", 1, 1025, 0), CUDA_INVALID_VALUE);
  driver_told("1025 threads");
  assert_int_equal(cu.cuLaunchKernel(driver_kernel("count"), 1, 70000, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_INVALID_VALUE);
  driver_told("70000 blocks along axis 1");
  assert_int_equal(cu.cuLaunchKernel(driver_kernel("count"), 1, 1, 1, 32, 33, 1, 0, NULL, NULL, NULL), CUDA_INVALID_VALUE);
  driver_told("1056 threads of a block");
  OK(launch("shares", 1, 32, 0));
  assert_int_equal(launch("shares", 1, 32, 4), CUDA_INVALID_VALUE);
  driver_told("49156 bytes of shared memory");
  assert_int_equal(launch("add", 1, 32, 0), CUDA_INVALID_VALUE);
  driver_told("parameter 0 of 3 is missing");
  OK(cu.cuCtxSynchronize());
}

TEST_WITH(cooperative_launches_fit, driver_setup, driver_teardown)
{
  cuda_address words = driver_memory(64);
  void *parameters[] = {&words};
  const cuda_function meet = driver_kernel("meet");
  int blocks;
  OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 1024, 0));
  assert_int_equal(blocks, 2); /* of 2,048 threads, which an sm_80 has */
  OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, driver_kernel("shares"), 32, 0));
  assert_int_equal(blocks, 3); /* of 164 KiB */
  OK(cu.cuMemsetD32Async(words, 0, 1, NULL));
  OK(cu.cuLaunchCooperativeKernel(meet, 8, 1, 1, 1024, 1, 1, 0, NULL, parameters));
  OK(cu.cuCtxSynchronize());
  uint32_t met;
  OK(cu.cuMemcpyDtoH_v2(&met, words, 4));
  assert_int_equal(met, 8 * 1024);
  assert_int_equal(cu.cuLaunchCooperativeKernel(meet, 9, 1, 1, 1024, 1, 1, 0, NULL, parameters), CUDA_COOPERATIVE_LAUNCH_TOO_LARGE);
  driver_told("9 blocks, and 8 fit at once");
  OK(cu.cuMemFree_v2(words));
}

/* Not all blocks are there. */
TEST_WITH(a_grid_barrier_without_a_cooperative_launch_hangs, driver_setup, driver_teardown)
{
  cuda_address words = driver_memory(64);
  OK(cu.cuMemsetD32Async(words, 0, 1, NULL));
  OK(cu.cuLaunchKernel(driver_kernel("meet"), 8, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&words}, NULL));
  assert_int_equal(cu.cuCtxSynchronize(), CUDA_LAUNCH_TIMEOUT);
  driver_told("kernel meet");
  driver_end(CUDA_LAUNCH_TIMEOUT);
}

TEST_WITH(a_trap_sticks, driver_setup, driver_teardown)
{
  OK(launch("stops", 1, 1, 0));
  assert_int_equal(cu.cuCtxSynchronize(), CUDA_LAUNCH_FAILED);
  driver_told("kernel stops");
  assert_int_equal(cu.cuModuleUnload(driver_module), CUDA_LAUNCH_FAILED);
  driver_end(CUDA_LAUNCH_FAILED);
}

/* Of a second, in a new context. */
static void
set_watchdog(void **state)
{
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  setenv("VYRE_CUDA_SIM_WATCHDOG", "1", 1);
  driver_setup(state);
  unsetenv("VYRE_CUDA_SIM_WATCHDOG");
}

TEST_WITH(a_watchdog_ends_kernels, driver_setup, driver_teardown)
{
  set_watchdog(state);
  void *words;
  cuda_address address;
  OK(cu.cuMemHostAlloc(&words, 64, CUDA_HOST_ALLOC_MAPPED));
  memset(words, 0, 64);
  OK(cu.cuMemHostGetDevicePointer_v2(&address, words, 0));
  OK(driver_launch("bell", 1, NULL, (void *[]){&address})); /* which nobody rings */
  assert_int_equal(cu.cuCtxSynchronize(), CUDA_LAUNCH_TIMEOUT);
  driver_told("the watchdog's time is over");
  driver_end(CUDA_LAUNCH_TIMEOUT);
}

TEST_WITH(a_module_has_its_variables, driver_setup, driver_teardown)
{
  cuda_address counter;
  size_t size;
  uint32_t word;
  OK(cu.cuModuleGetGlobal_v2(&counter, &size, driver_module, "counter"));
  assert_int_equal(size, 4);
  OK(cu.cuMemcpyDtoH_v2(&word, counter, 4));
  assert_int_equal(word, 7);
  OK(launch("count", 1, 1, 0));
  OK(cu.cuMemcpyDtoH_v2(&word, counter, 4));
  assert_int_equal(word, 8);
  assert_int_equal(cu.cuModuleGetGlobal_v2(&counter, &size, driver_module, "counters"), CUDA_NOT_FOUND);
  assert_int_equal(cu.cuModuleGetFunction(&(cuda_function){0}, driver_module, "no_such"), CUDA_NOT_FOUND);
}

TEST_WITH(unloaded_modules_are_not_used, driver_setup, driver_teardown)
{
  cuda_module module;
  cuda_function count;
  OK(cu.cuModuleLoadData(&module, driver_text));
  OK(cu.cuModuleGetFunction(&count, module, "count"));
  OK(cu.cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cu.cuCtxSynchronize());
  OK(cu.cuModuleUnload(module));
  assert_int_equal(cu.cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_INVALID_HANDLE);
  driver_told("was destroyed before");
  assert_int_equal(cu.cuModuleUnload(module), CUDA_INVALID_HANDLE);
  driver_told("was destroyed before");
}

TEST_WITH(the_compiler_has_a_log, driver_setup, driver_teardown)
{
  char log[200] = "untouched";
  cuda_jit_option options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  cuda_module module;
  static const char wrong[] = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  add.u33 %r1;\n}\n";
  assert_int_equal(cu.cuModuleLoadDataEx(&module, wrong, 2, options, values), CUDA_INVALID_PTX);
  assert_non_null(strstr(log, "line 6"));
  assert_int_equal((uintptr_t)values[1], strlen(log));
  static const char later[] = ".version 8.0\n.target sm_75\n.address_size 64\n";
  assert_int_equal(cu.cuModuleLoadDataEx(&module, later, 0, NULL, NULL), CUDA_UNSUPPORTED_PTX_VERSION);
  static const char larger[] = ".version 7.8\n.target sm_90\n.address_size 64\n";
  assert_int_equal(cu.cuModuleLoadDataEx(&module, larger, 0, NULL, NULL), CUDA_INVALID_PTX);
  assert_int_equal(cu.cuModuleLoadDataEx(&module,
                                         "\x7f"
                                         "ELF and so on",
                                         0, NULL, NULL),
                   CUDA_INVALID_IMAGE);
}

TEST_WITH(a_link_makes_an_image, driver_setup, driver_teardown)
{
  cuda_link link;
  void *image;
  size_t size;
  OK(cu.cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(cu.cuLinkAddData_v2(link, CUDA_JIT_INPUT_PTX, (void *)(uintptr_t)driver_text, strlen(driver_text) + 1, "text", 0, NULL, NULL));
  OK(cu.cuLinkComplete(link, &image, &size));
  char *copy = malloc(size);
  memcpy(copy, image, size);
  OK(cu.cuLinkDestroy(link));
  cuda_module module;
  OK(cu.cuModuleLoadData(&module, copy));
  OK(cu.cuModuleGetFunction(&(cuda_function){0}, module, "add"));
  OK(cu.cuModuleUnload(module));
  copy[size - 5]++;
  assert_int_equal(cu.cuModuleLoadData(&module, copy), CUDA_INVALID_IMAGE);
  copy[size - 5]--;
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  setenv("VYRE_CUDA_SIM_SM", "75", 1); /* another device */
  driver_setup(state);
  assert_int_equal(cu.cuModuleLoadData(&module, copy), CUDA_NO_BINARY_FOR_GPU);
  unsetenv("VYRE_CUDA_SIM_SM");
  free(copy);
}

TEST_MAIN(driver_open, NULL)
