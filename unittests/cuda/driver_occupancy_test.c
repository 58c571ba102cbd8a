/* How many blocks the simulated multiprocessor holds, against values of NVIDIA's occupancy calculator; where its toolkit is,
 * against the calculator itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include <dlfcn.h>

#ifdef HAS_CALCULATOR
#include <cuda_occupancy.h>
#endif

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

/* cuda_occupancy.h of CUDA 13.0 says these. */
TEST(blocks_are_those_of_the_calculator)
{
  static const struct {
    uint32_t registers, threads, shared, blocks[ARCHITECTURES];
  } known[] = {
      {32, 1024, 0, {1, 2, 1, 1, 1, 2, 2, 1}},       /* threads */
      {33, 32, 0, {16, 32, 16, 16, 24, 32, 32, 24}}, /* blocks */
      {48, 64, 0, {16, 20, 16, 16, 20, 20, 20, 20}}, /* registers: 21 times 3,072 would fit, but not in four parts */
      {123, 64, 0, {8, 8, 8, 8, 8, 8, 8, 8}},        /* and 256 at a time */
      {155, 64, 0, {6, 6, 6, 6, 6, 6, 6, 6}},
      {40, 96, 0, {10, 16, 16, 16, 16, 16, 16, 16}},
      {255, 256, 0, {1, 1, 1, 1, 1, 1, 1, 1}},      /* all registers, */
      {255, 288, 0, {0, 0, 0, 0, 0, 0, 0, 0}},      /* and more */
      {24, 128, 16384, {4, 9, 5, 9, 5, 13, 13, 5}}, /* shared memory, and the driver's own 1 KiB */
      {24, 128, 49152, {1, 3, 2, 3, 2, 4, 4, 2}},
      {24, 64, 6528, {9, 22, 13, 16, 13, 30, 30, 13}}, /* 128 bytes at a time, 256 of sm_75 */
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (uint32_t a = 0; a < ARCHITECTURES; a++)
      assert_int_equal(blocks(architectures[a], known[i].registers, known[i].threads, known[i].shared), known[i].blocks[a]);
}

TEST(what_does_not_fit_is_none)
{
  assert_int_equal(blocks(90, 16, 0, 0), 0);
  assert_int_equal(blocks(90, 16, 1025, 0), 0);
  assert_int_equal(blocks(90, 16, 32, 49153), 0);
  assert_int_equal(blocks(70, 16, 32, 0), 0); /* an architecture that the simulator does not have */
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

TEST(the_calculator_says_the_same)
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
