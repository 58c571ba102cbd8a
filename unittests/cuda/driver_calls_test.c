/* The simulated driver's entry points: names, injected failures, devices, contexts, errors, modules, launches, and the number of
 * blocks on a multiprocessor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include <dlfcn.h>

#ifdef HAS_CALCULATOR
#include <cuda_occupancy.h>
#endif

DRIVER_TEST(names_without_their_version_are_traps)
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
    driver_reported(names[i]);
    traps++;
  }
  assert_true(traps > 20);
  assert_non_null(dlsym(driver_library, CUDA_SIM_SYMBOL));
  assert_null(dlsym(driver_library, "ptx_run"));
}

DRIVER_TEST(any_call_can_fail)
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
  OK(cu.cuMemAlloc_v2(&address, 16)); /* the third call succeeds */
  OK(cu.cuMemFree_v2(address));
  assert_int_equal(cu.count("cuMemAlloc_v2"), 3);
  assert_int_equal(cu.count("cuMemFree_v2"), 2);
  assert_int_equal(cu.count("device_bytes"), 32);
  assert_int_equal(cu.count("no such"), UINT64_MAX);
  assert_true(cu.set_failure("cuMemGetInfo_v2", 0, CUDA_UNKNOWN)); /* each call fails */
  for (int i = 0; i < 3; i++)
    assert_int_equal(cu.cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}), CUDA_UNKNOWN);
  cu.set_failure(NULL, 0, CUDA_OK);
  OK(cu.cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}));
}

DRIVER_TEST(executed_work_can_fail)
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
    OK(cu.cuMemsetD32Async(memory, 1, 64, stream)); /* later calls may return its error */
    cu.cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL);
    cu.cuMemcpyDtoHAsync_v2(pinned, memory, 256, stream);
    assert_int_equal(cu.cuStreamSynchronize(stream), cases[i].code);
    assert_int_equal(cu.cuStreamQuery(stream), cases[i].code); /* the error is sticky */
    assert_int_equal(cu.cuMemFree_v2(memory), cases[i].code);
    cu.set_failure(NULL, 0, CUDA_OK);
    assert_int_equal(cu.cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}), cases[i].code);
    driver_end(cases[i].code);
  }
  driver_setup(state); /* a new context works */
}

DRIVER_TEST(an_error_can_disable_the_process)
{
  driver_restart(state, "VYRE_CUDA_SIM_STICKY", "process");
  cu.set_failure("cuCtxSynchronize", 1, CUDA_MISALIGNED_ADDRESS);
  assert_int_equal(cu.cuCtxSynchronize(), CUDA_MISALIGNED_ADDRESS);
  driver_end(CUDA_MISALIGNED_ADDRESS);
  assert_int_equal(cu.cuCtxCreate_v2(&(cuda_context){0}, 0, 0), CUDA_MISALIGNED_ADDRESS);
}

DRIVER_TEST(errors_have_names_and_texts)
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

DRIVER_TEST(the_environment_configures_devices)
{
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
  assert_in_range(left, 500, 536); /* the module's variables use some bytes */
  OK(cu.cuMemFree_v2(memory));
  driver_end(CUDA_OK);
  setenv("VYRE_CUDA_SIM_DEVICES", "0", 1);
  assert_int_equal(cu.cuInit(0), CUDA_NO_DEVICE);
  unsetenv("VYRE_CUDA_SIM_SM");
  unsetenv("VYRE_CUDA_SIM_DEVICES");
  unsetenv("VYRE_CUDA_SIM_MEMORY");
  unsetenv("VYRE_CUDA_SIM_DRIVER");
}

DRIVER_TEST(contexts_are_a_stack)
{
  cuda_context mine, current;
  const cuda_stream stream = driver_stream();
  OK(cu.cuCtxCreate_v2(&mine, 0, 0)); /* also makes the context current */
  OK(cu.cuCtxGetCurrent(&current));
  assert_ptr_equal(current, mine);
  REFUSED(cu.cuStreamSynchronize(stream), CUDA_INVALID_HANDLE, "belongs to another context");
  assert_int_equal(cu.cuCtxCreate_v2(NULL, 0, 0), CUDA_INVALID_VALUE);
  assert_int_equal(cu.cuCtxCreate_v2(&(cuda_context){0}, 0x100, 0), CUDA_INVALID_VALUE);
  OK(cu.cuCtxPopCurrent_v2(&current));
  assert_ptr_equal(current, mine);
  OK(cu.cuStreamSynchronize(stream));
  OK(cu.cuCtxPushCurrent_v2(mine));
  OK(cu.cuCtxDestroy_v2(mine));
  OK(cu.cuCtxGetCurrent(&current));
  assert_ptr_equal(current, driver_context);
  REFUSED(cu.cuCtxPushCurrent_v2(mine), CUDA_INVALID_CONTEXT, "is already destroyed");
  OK(cu.cuCtxPopCurrent_v2(NULL));
  REFUSED(cu.cuCtxSynchronize(), CUDA_INVALID_CONTEXT, "no current context");
  OK(cu.cuCtxPushCurrent_v2(driver_context));
  OK(cu.cuStreamDestroy_v2(stream));
}

DRIVER_TEST(wrong_handles_are_refused)
{
  const cuda_stream stream = driver_stream();
  const cuda_event event = driver_event();
  REFUSED(cu.cuStreamSynchronize((cuda_stream)(void *)event), CUDA_INVALID_HANDLE, "the handle is of kind event instead of stream");
  OK(cu.cuEventDestroy_v2(event));
  REFUSED(cu.cuEventRecord(event, stream), CUDA_INVALID_HANDLE, "is already destroyed");
  REFUSED(cu.cuStreamDestroy_v2((cuda_stream)(void *)&state), CUDA_INVALID_HANDLE, "is not a handle of kind stream");
  OK(cu.cuStreamDestroy_v2(stream));
}

DRIVER_TEST(leaks_are_reported)
{
  driver_memory(48);
  driver_end(CUDA_OK);
  driver_reported("of 48 bytes was not freed");
  driver_setup(state);
  driver_stream();
  driver_end(CUDA_OK);
  driver_reported("was not destroyed before its context");
}

/* ---- modules and launches ------------------------------------------------------------------------------------------------ */

static cuda_result
launch(const char *name, unsigned grid, unsigned block, unsigned shared)
{
  return cu.cuLaunchKernel(driver_kernel(name), grid, 1, 1, block, 1, 1, shared, NULL, NULL, NULL);
}

DRIVER_TEST(launches_have_limits)
{
  OK(launch("wide", 2, 64, 0));
  REFUSED(launch("wide", 2, 32, 0), CUDA_INVALID_VALUE, "the kernel requires 64");
  OK(launch("count", 1, 1, 0));
  REFUSED(launch("count", 0, 32, 0), CUDA_INVALID_VALUE, "0 blocks along axis 0");
  REFUSED(launch("count", 1, 1025, 0), CUDA_INVALID_VALUE, "1025 threads");
  REFUSED(cu.cuLaunchKernel(driver_kernel("count"), 1, 70000, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_INVALID_VALUE,
          "70000 blocks along axis 1");
  REFUSED(cu.cuLaunchKernel(driver_kernel("count"), 1, 1, 1, 32, 33, 1, 0, NULL, NULL, NULL), CUDA_INVALID_VALUE,
          "a block has 1056 threads, but at most 1024 are allowed");
  OK(launch("shares", 1, 32, 0));
  REFUSED(launch("shares", 1, 32, 4), CUDA_INVALID_VALUE, "49156 bytes of shared memory");
  REFUSED(launch("add", 1, 32, 0), CUDA_INVALID_VALUE, "parameter 0 of 3 is missing");
  OK(cu.cuCtxSynchronize());
}

DRIVER_TEST(cooperative_launches_must_fit)
{
  cuda_address words = driver_memory(64);
  void *parameters[] = {&words};
  const cuda_function meet = driver_kernel("meet");
  int blocks;
  OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 1024, 0));
  assert_int_equal(blocks, 2); /* an sm_80 has 2,048 threads */
  OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, driver_kernel("shares"), 32, 0));
  assert_int_equal(blocks, 3); /* an sm_80 has 164 KiB of shared memory */
  OK(cu.cuMemsetD32Async(words, 0, 1, NULL));
  OK(cu.cuLaunchCooperativeKernel(meet, 8, 1, 1, 1024, 1, 1, 0, NULL, parameters));
  OK(cu.cuCtxSynchronize());
  uint32_t met;
  OK(cu.cuMemcpyDtoH_v2(&met, words, 4));
  assert_int_equal(met, 8 * 1024);
  REFUSED(cu.cuLaunchCooperativeKernel(meet, 9, 1, 1, 1024, 1, 1, 0, NULL, parameters), CUDA_COOPERATIVE_LAUNCH_TOO_LARGE,
          "9 blocks, but only 8 fit at once");
  OK(cu.cuMemFree_v2(words));
}

/* Not all blocks are resident. */
DRIVER_TEST(a_grid_barrier_without_a_cooperative_launch_hangs)
{
  cuda_address words = driver_memory(64);
  OK(cu.cuMemsetD32Async(words, 0, 1, NULL));
  OK(cu.cuLaunchKernel(driver_kernel("meet"), 8, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&words}, NULL));
  REFUSED(cu.cuCtxSynchronize(), CUDA_LAUNCH_TIMEOUT, "kernel meet");
  driver_end(CUDA_LAUNCH_TIMEOUT);
}

DRIVER_TEST(a_trap_is_a_sticky_error)
{
  OK(launch("stops", 1, 1, 0));
  REFUSED(cu.cuCtxSynchronize(), CUDA_LAUNCH_FAILED, "kernel stops");
  assert_int_equal(cu.cuModuleUnload(driver_module), CUDA_LAUNCH_FAILED);
  driver_end(CUDA_LAUNCH_FAILED);
}

DRIVER_TEST(a_watchdog_ends_kernels)
{
  cuda_address address;
  driver_restart(state, "VYRE_CUDA_SIM_WATCHDOG", "1"); /* one second */
  driver_mapped(&address);
  OK(driver_launch("bell", 1, NULL, (void *[]){&address})); /* the host never sets word 0 */
  REFUSED(cu.cuCtxSynchronize(), CUDA_LAUNCH_TIMEOUT, "the watchdog expired");
  driver_end(CUDA_LAUNCH_TIMEOUT);
}

DRIVER_TEST(a_module_has_variables)
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

DRIVER_TEST(unloaded_modules_are_refused)
{
  cuda_module module;
  cuda_function count;
  OK(cu.cuModuleLoadData(&module, driver_text));
  OK(cu.cuModuleGetFunction(&count, module, "count"));
  OK(cu.cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cu.cuCtxSynchronize());
  OK(cu.cuModuleUnload(module));
  REFUSED(cu.cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_INVALID_HANDLE, "is already destroyed");
  REFUSED(cu.cuModuleUnload(module), CUDA_INVALID_HANDLE, "is already destroyed");
}

DRIVER_TEST(the_compiler_writes_a_log)
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
  static const char wrong_image[] = "\177ELF and so on";
  assert_int_equal(cu.cuModuleLoadDataEx(&module, wrong_image, 0, NULL, NULL), CUDA_INVALID_IMAGE);
}

DRIVER_TEST(a_link_makes_an_image)
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
  driver_restart(state, "VYRE_CUDA_SIM_SM", "75"); /* another device */
  assert_int_equal(cu.cuModuleLoadData(&module, copy), CUDA_NO_BINARY_FOR_GPU);
  free(copy);
}

/* ---- occupancy ----------------------------------------------------------------------------------------------------------- */

enum { ARCHITECTURES = 8 };

static const uint32_t architectures[ARCHITECTURES] = {75, 80, 86, 87, 89, 90, 100, 120};

static uint32_t
blocks(uint32_t sm, uint32_t registers, uint32_t threads, uint32_t shared)
{
  vyre_cuda_sim_blocks_function *call;
  *(void **)(void *)&call = dlsym(driver_library, "vyre_cuda_sim_blocks");
  assert_true(call != NULL);
  return call(sm, registers, threads, shared);
}

/* The numbers are those of cuda_occupancy.h of CUDA 13.0. */
TEST(blocks_equal_known_results_of_the_calculator)
{
  static const struct {
    uint32_t registers, threads, shared, blocks[ARCHITECTURES];
  } known[] = {
      {32, 1024, 0, {1, 2, 1, 1, 1, 2, 2, 1}},       /* limited by threads */
      {33, 32, 0, {16, 32, 16, 16, 24, 32, 32, 24}}, /* limited by blocks */
      {48, 64, 0, {16, 20, 16, 16, 20, 20, 20, 20}}, /* by registers: 21 times 3,072 fit, but not in four partitions */
      {123, 64, 0, {8, 8, 8, 8, 8, 8, 8, 8}},        /* by registers, in units of 256 */
      {155, 64, 0, {6, 6, 6, 6, 6, 6, 6, 6}},
      {40, 96, 0, {10, 16, 16, 16, 16, 16, 16, 16}},
      {255, 256, 0, {1, 1, 1, 1, 1, 1, 1, 1}},      /* all registers */
      {255, 288, 0, {0, 0, 0, 0, 0, 0, 0, 0}},      /* more registers than there are */
      {24, 128, 16384, {4, 9, 5, 9, 5, 13, 13, 5}}, /* by shared memory, of which the driver reserves 1 KiB */
      {24, 128, 49152, {1, 3, 2, 3, 2, 4, 4, 2}},
      {24, 64, 6528, {9, 22, 13, 16, 13, 30, 30, 13}}, /* in units of 128 bytes, 256 on sm_75 */
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (uint32_t a = 0; a < ARCHITECTURES; a++)
      assert_int_equal(blocks(architectures[a], known[i].registers, known[i].threads, known[i].shared), known[i].blocks[a]);
}

TEST(no_block_of_an_oversized_kernel_fits)
{
  assert_int_equal(blocks(90, 16, 0, 0), 0);
  assert_int_equal(blocks(90, 16, 1025, 0), 0);
  assert_int_equal(blocks(90, 16, 32, 49153), 0);
  assert_int_equal(blocks(70, 16, 32, 0), 0); /* the simulator lacks the architecture */
  assert_int_equal(blocks(90, 16, 1024, 49152), 2);
}

#ifdef HAS_CALCULATOR
static int
calculated(uint32_t sm, uint32_t registers, uint32_t threads, uint32_t shared, int most_threads, int processor_shared)
{
  const struct cudaOccDeviceProp device = {.computeMajor = (int)sm / 10,
                                           .computeMinor = (int)sm % 10,
                                           .maxThreadsPerBlock = 1024,
                                           .maxThreadsPerMultiprocessor = most_threads,
                                           .regsPerBlock = 65536,
                                           .regsPerMultiprocessor = 65536,
                                           .warpSize = 32,
                                           .sharedMemPerBlock = 49152,
                                           .sharedMemPerMultiprocessor = (size_t)processor_shared,
                                           .numSms = 1,
                                           .sharedMemPerBlockOptin = (size_t)processor_shared - 1024,
                                           .reservedSharedMemPerBlock = sm >= 80 ? 1024 : 0};
  const struct cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024, .numRegs = (int)registers, .sharedSizeBytes = shared};
  const struct cudaOccDeviceState as_it_is = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
  struct cudaOccResult result;
  assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &as_it_is, (int)threads, 0),
                   CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

TEST(blocks_equal_those_of_the_calculator)
{
  static const uint32_t shared[] = {0, 1, 127, 128, 1024, 5000, 12288, 33000, 49152};
  static const int most_threads[ARCHITECTURES] = {1024, 2048, 1536, 1536, 1536, 2048, 2048, 1536},
                   most_shared[ARCHITECTURES] = {64, 164, 100, 164, 100, 228, 228, 100}; /* KiB */
  for (uint32_t a = 0; a < ARCHITECTURES; a++)
    for (uint32_t registers = 1; registers <= 255; registers++)
      for (uint32_t threads = 16; threads <= 1024; threads += 48)
        for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
          assert_int_equal(blocks(architectures[a], registers, threads, shared[i]),
                           calculated(architectures[a], registers, threads, shared[i], most_threads[a], most_shared[a] << 10));
}
#endif

TEST_MAIN(driver_open, NULL)
