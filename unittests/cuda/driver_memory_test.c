/* The simulated driver's memory: poison, bounds, use after free, pinned memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

DRIVER_TEST(device_memory_is_poisoned_and_separate)
{
  const cuda_address first = driver_memory(100), second = driver_memory(100);
  uint32_t words[25];
  OK(cu.cuMemcpyDtoH_v2(words, first, sizeof words));
  for (int i = 0; i < 25; i++)
    assert_int_equal(words[i], 0xdbdbdbdb);
  assert_int_equal(first % 256, 0);
  assert_int_equal(first % 512, 256); /* no better alignment than documented */
  assert_true(second - first > 65536);
  assert_true(first >> 47 != 0); /* not an address of the host */
  OK(cu.cuMemFree_v2(first));
  OK(cu.cuMemFree_v2(second));
  const cuda_address third = driver_memory(100);
  assert_true(third > second); /* addresses are never reused */
  OK(cu.cuMemFree_v2(third));
}

DRIVER_TEST(copies_out_of_bounds_are_refused)
{
  const cuda_address memory = driver_memory(64);
  uint32_t words[17] = {1, 2, 3};
  OK(cu.cuMemcpyHtoD_v2(memory, words, 64));
  OK(cu.cuMemcpyHtoD_v2(memory + 60, words, 4));
  REFUSED(cu.cuMemcpyHtoD_v2(memory + 4, words, 64), CUDA_INVALID_VALUE, "64 bytes from byte 4 of allocation");
  REFUSED(cu.cuMemcpyHtoD_v2(memory + 64, words, 1), CUDA_INVALID_VALUE, "out of its bounds");
  REFUSED(cu.cuMemcpyHtoD_v2((cuda_address)(uintptr_t)words, words, 4), CUDA_INVALID_VALUE, "looks like a host address");
  REFUSED(cu.cuMemsetD8Async(memory - 1, 0, 2, NULL), CUDA_INVALID_VALUE, "is not a device address");
  REFUSED(cu.cuMemsetD32Async(memory + 2, 0, 1, NULL), CUDA_INVALID_VALUE, "not a multiple of 4");
  REFUSED(cu.cuMemcpyHtoD_v2(memory, NULL, 4), CUDA_INVALID_VALUE, "the source is NULL");
  OK(cu.cuMemFree_v2(memory));
}

DRIVER_TEST(fills_of_each_width_write_their_bytes)
{
  const cuda_address memory = driver_memory(32);
  uint8_t bytes[32];
  OK(cu.cuMemsetD8Async(memory, 0x11, 32, NULL));
  OK(cu.cuMemsetD16Async(memory + 2, 0x2233, 2, NULL));
  OK(cu.cuMemsetD32Async(memory + 8, 0x44556677, 2, NULL));
  OK(cu.cuMemcpyDtoH_v2(bytes, memory, 32));
  static const uint8_t expected[18] = {0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x11, 0x11, 0x77,
                                       0x66, 0x55, 0x44, 0x77, 0x66, 0x55, 0x44, 0x11, 0x11};
  assert_memory_equal(bytes, expected, sizeof expected);
  assert_int_equal(cu.count("bytes_filled"), 44);
  OK(cu.cuMemFree_v2(memory));
}

DRIVER_TEST(freed_memory_is_refused)
{
  const cuda_address memory = driver_memory(64);
  uint32_t word = 1;
  REFUSED(cu.cuMemFree_v2(memory + 4), CUDA_INVALID_VALUE, "does not come from cuMemAlloc_v2");
  OK(cu.cuMemFree_v2(memory));
  REFUSED(cu.cuMemcpyHtoD_v2(memory, &word, 4), CUDA_INVALID_VALUE, "which was freed");
  REFUSED(cu.cuMemFree_v2(memory), CUDA_INVALID_VALUE, "which was freed");
}

DRIVER_TEST(freeing_memory_in_use_is_reported)
{
  const cuda_stream stream = driver_stream();
  cuda_address memory = driver_memory(64);
  OK(cu.cuMemsetD8Async(memory, 1, 64, stream));
  OK(cu.cuStreamSynchronize(stream));
  OK(cu.cuMemFree_v2(memory));
  memory = driver_memory(64);
  OK(cu.cuMemsetD8Async(memory, 1, 64, stream));
  OK(cu.cuMemFree_v2(memory));
  assert_non_null(strstr(cu.messages(), "is still used: the host has not waited for a fill"));
  const cuda_result late = cu.cuStreamSynchronize(stream); /* the fill may have run before the free */
  assert_true(late == CUDA_OK || late == CUDA_ILLEGAL_ADDRESS);
  OK(cu.cuStreamDestroy_v2(stream) == late ? CUDA_OK : CUDA_UNKNOWN);
  cu.clear();
  if (late)
    driver_end(late);
}

DRIVER_TEST(a_kernel_cannot_access_freed_memory)
{
  const cuda_stream stream = driver_stream();
  cuda_address memory = driver_memory(64);
  OK(cu.cuMemFree_v2(memory));
  OK(driver_launch("load", 1, stream, (void *[]){&memory}));
  REFUSED(cu.cuStreamSynchronize(stream), CUDA_ILLEGAL_ADDRESS, "which was freed");
  assert_int_equal(cu.cuStreamDestroy_v2(stream), CUDA_ILLEGAL_ADDRESS);
  driver_end(CUDA_ILLEGAL_ADDRESS);
}

DRIVER_TEST(accesses_out_of_bounds_are_faults)
{
  static const struct {
    int offset;
    cuda_result code;
  } cases[] = {{64, CUDA_ILLEGAL_ADDRESS}, {-4, CUDA_ILLEGAL_ADDRESS}, {61, CUDA_MISALIGNED_ADDRESS}, {2, CUDA_MISALIGNED_ADDRESS}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (i)
      driver_setup(state);
    cuda_address bad = driver_memory(64) + (cuda_address)(int64_t)cases[i].offset, good = driver_memory(64) + 60;
    const cuda_function load = driver_kernel("load");
    OK(cu.cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&good}, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&bad}, NULL)); /* the wait reports it */
    REFUSED(cu.cuCtxSynchronize(), cases[i].code, "kernel load");
    assert_int_equal(cu.cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&good}, NULL), cases[i].code);
    driver_end(cases[i].code);
  }
}

DRIVER_TEST(mapped_memory_is_shared_with_the_host)
{
  uint32_t *plain = driver_pinned(64);
  cuda_address address;
  REFUSED(cu.cuMemHostGetDevicePointer_v2(&address, plain, 0), CUDA_INVALID_VALUE, "is not in mapped memory");
  uint32_t *words = driver_mapped(&address);
  OK(cu.cuMemHostGetDevicePointer_v2(&address, words + 1, 0));
  assert_true(address != (cuda_address)(uintptr_t)(words + 1));
  words[1] = 40;
  words[2] = 1;
  driver_add(address, 2, 2, NULL);
  OK(cu.cuCtxSynchronize());
  assert_int_equal(words[1], 42);
  assert_int_equal(words[2], 3);
  REFUSED(cu.cuMemFreeHost(words + 1), CUDA_INVALID_VALUE, "is not the start of pinned memory");
  OK(cu.cuMemFreeHost(words));
  REFUSED(cu.cuMemFreeHost(words), CUDA_INVALID_VALUE, "is not the start of pinned memory");
  OK(cu.cuMemFreeHost(plain));
}

/* Copies by host addresses may not use the rest of the allocation's page, or the pages around it. */
DRIVER_TEST(copies_outside_pinned_memory_are_refused)
{
  const cuda_address memory = driver_memory(128);
  uint8_t *pinned = (uint8_t *)driver_pinned(64);
  static const struct {
    int first;
    size_t size;
    const char *words;
  } cases[] = {{0, 65, "65 bytes from byte 0 of the host's pinned memory"},
               {64, 4, "4 bytes from byte 64 of the host's pinned memory"},
               {4092, 16, "16 bytes from byte 4092"},
               {-4, 8, "8 bytes from byte -4"},
               {-16, 8, "8 bytes from byte -16"}};
  OK(cu.cuMemsetD8Async(memory, 7, 128, NULL));
  OK(cu.cuCtxSynchronize());
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    REFUSED(cu.cuMemcpyHtoDAsync_v2(memory, pinned + cases[i].first, cases[i].size, NULL), CUDA_INVALID_VALUE, cases[i].words);
    REFUSED(cu.cuMemcpyDtoHAsync_v2(pinned + cases[i].first, memory, cases[i].size, NULL), CUDA_INVALID_VALUE, "out of its bounds");
  }
  OK(cu.cuMemcpyDtoHAsync_v2(pinned, memory, 64, NULL));
  OK(cu.cuCtxSynchronize());
  assert_int_equal(pinned[0], 7);
  assert_int_equal(pinned[63], 7);
  OK(cu.cuMemFreeHost(pinned));
  pinned = (uint8_t *)driver_pinned(64);
  pinned[66] = 1;
  OK(cu.cuMemFreeHost(pinned));
  driver_reported("wrote to byte 66 of pinned memory");
  OK(cu.cuMemFree_v2(memory));
}

/* Fills and copies by device addresses of mapped memory may not leave the allocation, either. */
DRIVER_TEST(device_addresses_outside_pinned_memory_are_refused)
{
  static uint32_t registered[1024];
  cuda_address address[2];
  const cuda_address memory = driver_memory(128);
  void *mapped = driver_mapped(&address[0]);
  OK(cu.cuMemHostRegister_v2(registered, 64, CUDA_HOST_REGISTER_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(&address[1], registered, 0));
  for (int i = 0; i < 2; i++) {
    OK(cu.cuMemsetD8Async(address[i], 1, 64, NULL));
    OK(cu.cuMemcpyDtoDAsync_v2(memory, address[i], 64, NULL));
    OK(cu.cuCtxSynchronize());
    REFUSED(cu.cuMemsetD8Async(address[i], 1, 65, NULL), CUDA_INVALID_VALUE, "which has 64, out of its bounds");
    REFUSED(cu.cuMemcpyDtoDAsync_v2(memory, address[i] + 60, 8, NULL), CUDA_INVALID_VALUE, "which has 64, out of its bounds");
    REFUSED(cu.cuMemcpyDtoDAsync_v2(address[i] + 64, memory, 4, NULL), CUDA_INVALID_VALUE,
            i ? "registered memory" : "pinned memory");
  }
  OK(cu.cuMemHostUnregister(registered));
  OK(cu.cuMemFreeHost(mapped));
  OK(cu.cuMemFree_v2(memory));
}

DRIVER_TEST(a_kernel_cannot_leave_pinned_memory)
{
  static const struct {
    int offset;
    const char *words;
  } cases[] = {{64, "4 bytes from byte 64 of pinned memory"},
               {4096, "4 bytes from byte 4096 of pinned memory"},
               {-4, "outside of global memory"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cuda_address mapped;
    if (i)
      driver_setup(state);
    driver_mapped(&mapped);
    cuda_address good = mapped + 60, bad = mapped + (cuda_address)(int64_t)cases[i].offset;
    OK(driver_launch("load", 1, NULL, (void *[]){&good}));
    OK(cu.cuCtxSynchronize());
    OK(driver_launch("load", 1, NULL, (void *[]){&bad}));
    REFUSED(cu.cuCtxSynchronize(), CUDA_ILLEGAL_ADDRESS, cases[i].words);
    driver_end(CUDA_ILLEGAL_ADDRESS);
  }
}

DRIVER_TEST(memory_is_registered_once)
{
  static uint32_t words[4096];
  cuda_address address;
  OK(cu.cuMemHostRegister_v2(words + 1, 4000, CUDA_HOST_REGISTER_MAPPED));
  assert_int_equal(cu.cuMemHostRegister_v2(words, 16, 0), CUDA_HOST_MEMORY_ALREADY_REGISTERED);
  OK(cu.cuMemHostGetDevicePointer_v2(&address, words + 1, 0));
  driver_add(address, 1000, 5, NULL);
  OK(cu.cuCtxSynchronize());
  assert_int_equal(words[1], 5);
  assert_int_equal(words[1000], 5);
  assert_int_equal(words[1001], 0);
  const cuda_address memory = driver_memory(4096);
  REFUSED(cu.cuMemcpyHtoDAsync_v2(memory, words, 16, NULL), CUDA_INVALID_VALUE, "from byte -4 of the host's registered memory");
  OK(cu.cuMemHostUnregister(words + 1));
  REFUSED(cu.cuMemHostUnregister(words + 1), CUDA_HOST_MEMORY_NOT_REGISTERED, "is not the start of registered memory");
  OK(cu.cuMemFree_v2(memory));
}

DRIVER_TEST(bytes_are_counted)
{
  const cuda_address memory = driver_memory(64);
  uint32_t words[4] = {0};
  cu.clear();
  OK(cu.cuMemcpyHtoD_v2(memory, words, 16));
  OK(cu.cuMemcpyDtoD_v2(memory + 16, memory, 8));
  OK(cu.cuMemcpyDtoH_v2(words, memory, 4));
  assert_int_equal(cu.count("bytes_up"), 16);
  assert_int_equal(cu.count("bytes_within"), 8);
  assert_int_equal(cu.count("bytes_down"), 4);
  assert_int_equal(cu.count("run:copy"), 3);
  OK(cu.cuMemFree_v2(memory));
}

TEST_MAIN(driver_open, NULL)
