/* The simulated driver's entry points: names, what fails when it is told so, devices, contexts, errors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include <dlfcn.h>

TEST_WITH(names_without_their_version_are_traps, driver_setup, driver_teardown)
{
  static const char *const names[] = {
#define CUDA_SYM(name, parameters) #name,
#include "targets/cuda/api/symbols.def"
#define CUDA_SYM(name, parameters) #name,
#include "targets/cuda/sim/driver/more_symbols.def"
  };
  uint32_t traps = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char old[64];
    const size_t length = strlen(names[i]);
    if (strcmp(names[i] + length - 3, "_v2") != 0)
      continue;
    snprintf(old, sizeof old, "%.*s", (int)length - 3, names[i]);
    cuda_result (*trap)(void);
    *(void **)(void *)&trap = dlsym(driver_library, old);
    assert_non_null(trap);
    assert_int_equal(trap(), CUDA_NOT_SUPPORTED);
    driver_told(names[i]);
    traps++;
  }
  assert_true(traps > 20);
  assert_non_null(dlsym(driver_library, CUDA_SIM_SYMBOL));
  assert_null(dlsym(driver_library, "ptx_run"));
}

TEST_WITH(any_call_can_fail, driver_setup, driver_teardown)
{
  cuda_address address = 0;
  assert_false(cu.set_failure("cuMemAlloc", 1, CUDA_UNKNOWN)); /* no such name */
  assert_true(cu.set_failure("cuMemAlloc_v2", 2, CUDA_OUT_OF_MEMORY));
  OK(cu.cuMemAlloc_v2(&address, 16));
  assert_false(cu.has_failed());
  cuda_address second = 1;
  assert_int_equal(cu.cuMemAlloc_v2(&second, 16), CUDA_OUT_OF_MEMORY);
  assert_int_equal(second, 1);
  assert_true(cu.has_failed());
  OK(cu.cuMemFree_v2(address));
  OK(cu.cuMemAlloc_v2(&address, 16)); /* the third */
  OK(cu.cuMemFree_v2(address));
  assert_int_equal(cu.count("cuMemAlloc_v2"), 3);
  assert_int_equal(cu.count("cuMemFree_v2"), 2);
  assert_int_equal(cu.count("device_bytes"), 32);
  assert_int_equal(cu.count("no such"), UINT64_MAX);
  assert_true(cu.set_failure("cuMemGetInfo_v2", 0, CUDA_UNKNOWN)); /* each */
  for (int i = 0; i < 3; i++)
    assert_int_equal(cu.cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}), CUDA_UNKNOWN);
  cu.set_failure(NULL, 0, CUDA_OK);
  OK(cu.cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}));
}

TEST_WITH(what_runs_can_fail, driver_setup, driver_teardown)
{
  static const struct {
    const char *name;
    cuda_result code;
  } cases[] = {{"run:kernel", CUDA_ILLEGAL_ADDRESS}, {"run:copy", CUDA_ECC_UNCORRECTABLE}, {"run:fill", CUDA_LAUNCH_FAILED}};
  for (int i = 0; i < 3; i++) {
    if (i)
      driver_setup(state);
    const cuda_stream stream = driver_stream();
    const cuda_address memory = driver_memory(256);
    uint32_t *pinned = driver_pinned(256);
    cu.set_failure(cases[i].name, 1, cases[i].code);
    cuda_address words = memory;
    const cuda_function add = driver_kernel("add");
    void *parameters[] = {&words, &(uint32_t){64}, &(uint32_t){1}};
    OK(cu.cuMemsetD32Async(memory, 1, 64, stream)); /* the calls after it may tell what it came to */
    cu.cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL);
    cu.cuMemcpyDtoHAsync_v2(pinned, memory, 256, stream);
    assert_int_equal(cu.cuStreamSynchronize(stream), cases[i].code);
    assert_int_equal(cu.cuStreamQuery(stream), cases[i].code); /* and it sticks */
    assert_int_equal(cu.cuMemFree_v2(memory), cases[i].code);
    cu.set_failure(NULL, 0, CUDA_OK);
    assert_int_equal(cu.cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}), cases[i].code);
    driver_end(cases[i].code);
  }
  driver_setup(state); /* another context can be had */
}

TEST_WITH(a_process_can_be_lost_whole, driver_setup, driver_teardown)
{
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  setenv("VYRE_CUDA_SIM_STICKY", "process", 1);
  driver_setup(state);
  cu.set_failure("cuCtxSynchronize", 1, CUDA_MISALIGNED_ADDRESS);
  assert_int_equal(cu.cuCtxSynchronize(), CUDA_MISALIGNED_ADDRESS);
  driver_end(CUDA_MISALIGNED_ADDRESS);
  assert_int_equal(cu.cuCtxCreate_v2(&(cuda_context){0}, 0, 0), CUDA_MISALIGNED_ADDRESS);
  setenv("VYRE_CUDA_SIM_STICKY", "context", 1);
}

TEST_WITH(errors_have_names_and_texts, driver_setup, driver_teardown)
{
  const char *text;
  OK(cu.cuGetErrorName(CUDA_OK, &text));
  assert_string_equal(text, "CUDA_SUCCESS");
  OK(cu.cuGetErrorName(CUDA_ILLEGAL_ADDRESS, &text));
  assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  OK(cu.cuGetErrorString(CUDA_ILLEGAL_ADDRESS, &text));
  assert_string_equal(text, "an illegal memory access was encountered");
  assert_int_equal(cu.cuGetErrorName((cuda_result)12345, &text), CUDA_INVALID_VALUE);
  assert_null(text);
}

TEST_WITH(devices_are_as_the_environment_says, driver_setup, driver_teardown)
{
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  setenv("VYRE_CUDA_SIM_SM", "90", 1);
  setenv("VYRE_CUDA_SIM_DEVICES", "2", 1);
  setenv("VYRE_CUDA_SIM_MEMORY", "65536", 1);
  setenv("VYRE_CUDA_SIM_DRIVER", "12040", 1);
  driver_setup(state);
  int value;
  char name[64];
  size_t left, total;
  cuda_uuid first, second;
  OK(cu.cuDeviceGetCount(&value));
  assert_int_equal(value, 2);
  assert_int_equal(cu.cuDeviceGet(&value, 2), CUDA_INVALID_DEVICE);
  OK(cu.cuDeviceGetName(name, sizeof name, 1));
  assert_string_equal(name, "simulated sm_90 device");
  OK(cu.cuDeviceGetAttribute(&value, CUDA_CAPABILITY_MAJOR, 0));
  assert_int_equal(value, 9);
  OK(cu.cuDeviceGetUuid_v2(&first, 0));
  OK(cu.cuDeviceGetUuid_v2(&second, 1));
  assert_memory_not_equal(&first, &second, sizeof first);
  OK(cu.cuDriverGetVersion(&value));
  assert_int_equal(value, 12040);
  const cuda_address memory = driver_memory(65000);
  assert_int_equal(cu.cuMemAlloc_v2(&(cuda_address){0}, 1000), CUDA_OUT_OF_MEMORY);
  OK(cu.cuMemGetInfo_v2(&left, &total));
  assert_int_equal(total, 65536);
  assert_in_range(left, 500, 536); /* a module's variables have some */
  OK(cu.cuMemFree_v2(memory));
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  setenv("VYRE_CUDA_SIM_DEVICES", "0", 1);
  assert_int_equal(cu.cuInit(0), CUDA_NO_DEVICE);
  unsetenv("VYRE_CUDA_SIM_SM");
  unsetenv("VYRE_CUDA_SIM_DEVICES");
  unsetenv("VYRE_CUDA_SIM_MEMORY");
  unsetenv("VYRE_CUDA_SIM_DRIVER");
}

TEST_WITH(contexts_are_a_stack, driver_setup, driver_teardown)
{
  cuda_context mine, current;
  const cuda_stream stream = driver_stream();
  OK(cu.cuCtxCreate_v2(&mine, 0, 0)); /* which makes it current */
  OK(cu.cuCtxGetCurrent(&current));
  assert_ptr_equal(current, mine);
  assert_int_equal(cu.cuStreamSynchronize(stream), CUDA_INVALID_HANDLE);
  driver_told("of another context");
  assert_int_equal(cu.cuCtxCreate_v2(NULL, 0, 0), CUDA_INVALID_VALUE);
  assert_int_equal(cu.cuCtxCreate_v2(&(cuda_context){0}, 0x100, 0), CUDA_INVALID_VALUE);
  OK(cu.cuCtxPopCurrent_v2(&current));
  assert_ptr_equal(current, mine);
  OK(cu.cuStreamSynchronize(stream));
  OK(cu.cuCtxPushCurrent_v2(mine));
  OK(cu.cuCtxDestroy_v2(mine));
  OK(cu.cuCtxGetCurrent(&current));
  assert_ptr_equal(current, driver_context);
  assert_int_equal(cu.cuCtxPushCurrent_v2(mine), CUDA_INVALID_CONTEXT);
  driver_told("was destroyed before");
  OK(cu.cuCtxPopCurrent_v2(NULL));
  assert_int_equal(cu.cuCtxSynchronize(), CUDA_INVALID_CONTEXT);
  driver_told("no current context");
  OK(cu.cuCtxPushCurrent_v2(driver_context));
  OK(cu.cuStreamDestroy_v2(stream));
}

TEST_WITH(handles_are_checked, driver_setup, driver_teardown)
{
  const cuda_stream stream = driver_stream();
  const cuda_event event = driver_event();
  assert_int_equal(cu.cuStreamSynchronize((cuda_stream)(void *)event), CUDA_INVALID_HANDLE);
  driver_told("a event is given where a stream is wanted");
  OK(cu.cuEventDestroy_v2(event));
  assert_int_equal(cu.cuEventRecord(event, stream), CUDA_INVALID_HANDLE);
  driver_told("was destroyed before");
  assert_int_equal(cu.cuStreamDestroy_v2((cuda_stream)(void *)&state), CUDA_INVALID_HANDLE);
  driver_told("is no stream");
  OK(cu.cuStreamDestroy_v2(stream));
}

TEST_WITH(what_is_left_is_told, driver_setup, driver_teardown)
{
  driver_memory(48);
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  driver_told("of 48 bytes was not freed");
  driver_setup(state);
  driver_stream();
  OK(cu.cuModuleUnload(driver_module));
  driver_end(CUDA_OK);
  driver_told("was not destroyed before its context");
}

TEST_MAIN(driver_open, NULL)
