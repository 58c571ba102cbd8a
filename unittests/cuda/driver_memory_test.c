/* The simulated driver's memory: what it is made of, bounds, use after free, pinned memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

TEST_WITH(device_memory_is_poisoned_and_apart, driver_setup, driver_teardown)
{
  const cuda_address first = driver_memory(100), second = driver_memory(100);
  uint32_t words[25];
  OK(cu.cuMemcpyDtoH_v2(words, first, sizeof words));
  for (int i = 0; i < 25; i++)
    assert_int_equal(words[i], 0xdbdbdbdb);
  assert_int_equal(first % 256, 0);
  assert_int_equal(first % 512, 256); /* no more than is promised */
  assert_true(second - first > 65536);
  assert_true(first >> 47 != 0); /* no host has it */
  OK(cu.cuMemFree_v2(first));
  OK(cu.cuMemFree_v2(second));
  const cuda_address third = driver_memory(100);
  assert_true(third > second); /* nothing is used again */
  OK(cu.cuMemFree_v2(third));
}

TEST_WITH(copies_are_within_bounds, driver_setup, driver_teardown)
{
  const cuda_address memory = driver_memory(64);
  uint32_t words[17] = {1, 2, 3};
  OK(cu.cuMemcpyHtoD_v2(memory, words, 64));
  OK(cu.cuMemcpyHtoD_v2(memory + 60, words, 4));
  assert_int_equal(cu.cuMemcpyHtoD_v2(memory + 4, words, 64), CUDA_INVALID_VALUE);
  driver_told("64 bytes from byte 4 of allocation");
  assert_int_equal(cu.cuMemcpyHtoD_v2(memory + 64, words, 1), CUDA_INVALID_VALUE);
  driver_told("out of its bounds");
  assert_int_equal(cu.cuMemcpyHtoD_v2((cuda_address)(uintptr_t)words, words, 4), CUDA_INVALID_VALUE);
  driver_told("looks like a host's");
  assert_int_equal(cu.cuMemsetD8Async(memory - 1, 0, 2, NULL), CUDA_INVALID_VALUE);
  driver_told("is no device address");
  assert_int_equal(cu.cuMemsetD32Async(memory + 2, 0, 1, NULL), CUDA_INVALID_VALUE);
  driver_told("no multiple of 4");
  assert_int_equal(cu.cuMemcpyHtoD_v2(memory, NULL, 4), CUDA_INVALID_VALUE);
  driver_told("the source is NULL");
  OK(cu.cuMemFree_v2(memory));
}

TEST_WITH(fills_have_their_widths, driver_setup, driver_teardown)
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

TEST_WITH(freed_memory_is_none, driver_setup, driver_teardown)
{
  const cuda_address memory = driver_memory(64);
  uint32_t word = 1;
  assert_int_equal(cu.cuMemFree_v2(memory + 4), CUDA_INVALID_VALUE);
  driver_told("not one that cuMemAlloc_v2 gave");
  OK(cu.cuMemFree_v2(memory));
  assert_int_equal(cu.cuMemcpyHtoD_v2(memory, &word, 4), CUDA_INVALID_VALUE);
  driver_told("which was freed");
  assert_int_equal(cu.cuMemFree_v2(memory), CUDA_INVALID_VALUE);
  driver_told("which was freed");
}

TEST_WITH(memory_is_freed_after_the_wait, driver_setup, driver_teardown)
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
  const cuda_result late = cu.cuStreamSynchronize(stream); /* it may have been done before */
  assert_true(late == CUDA_OK || late == CUDA_ILLEGAL_ADDRESS);
  OK(cu.cuStreamDestroy_v2(stream) == late ? CUDA_OK : CUDA_UNKNOWN);
  cu.clear();
  if (late)
    driver_end(late);
}

TEST_WITH(a_kernel_finds_no_freed_memory, driver_setup, driver_teardown)
{
  const cuda_stream stream = driver_stream();
  cuda_address memory = driver_memory(64);
  OK(cu.cuMemFree_v2(memory));
  OK(driver_launch("load", 1, stream, (void *[]){&memory}));
  assert_int_equal(cu.cuStreamSynchronize(stream), CUDA_ILLEGAL_ADDRESS);
  driver_told("which was freed");
  assert_int_equal(cu.cuStreamDestroy_v2(stream), CUDA_ILLEGAL_ADDRESS);
  driver_end(CUDA_ILLEGAL_ADDRESS);
}

TEST_WITH(a_kernel_stays_within_bounds, driver_setup, driver_teardown)
{
  for (int i = 0; i < 4; i++) {
    if (i)
      driver_setup(state);
    const cuda_address memory = driver_memory(64), other = driver_memory(64);
    const cuda_address at[] = {memory + 64, memory - 4, memory + 61, memory + 2};
    static const cuda_result codes[] = {CUDA_ILLEGAL_ADDRESS, CUDA_ILLEGAL_ADDRESS, CUDA_MISALIGNED_ADDRESS,
                                        CUDA_MISALIGNED_ADDRESS};
    cuda_address good = other + 60, bad = at[i];
    const cuda_function load = driver_kernel("load");
    OK(cu.cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&good}, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&bad}, NULL)); /* it is told later */
    assert_int_equal(cu.cuCtxSynchronize(), codes[i]);
    driver_told("kernel load");
    assert_int_equal(cu.cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&good}, NULL), codes[i]);
    driver_end(codes[i]);
  }
}

TEST_WITH(pinned_memory_is_the_hosts, driver_setup, driver_teardown)
{
  uint32_t *plain = driver_pinned(64);
  cuda_address address;
  assert_int_equal(cu.cuMemHostGetDevicePointer_v2(&address, plain, 0), CUDA_INVALID_VALUE);
  driver_told("in no memory that is mapped");
  void *mapped;
  OK(cu.cuMemHostAlloc(&mapped, 64, CUDA_HOST_ALLOC_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(&address, (uint32_t *)mapped + 1, 0));
  assert_true(address != (cuda_address)(uintptr_t)((uint32_t *)mapped + 1));
  uint32_t *words = mapped;
  words[1] = 40;
  words[2] = 1;
  driver_add(address, 2, 2, NULL);
  OK(cu.cuCtxSynchronize());
  assert_int_equal(words[1], 42);
  assert_int_equal(words[2], 3);
  assert_int_equal(cu.cuMemFreeHost(words + 1), CUDA_INVALID_VALUE);
  driver_told("not the beginning of such memory");
  OK(cu.cuMemFreeHost(mapped));
  assert_int_equal(cu.cuMemFreeHost(mapped), CUDA_INVALID_VALUE);
  driver_told("not the beginning of such memory");
  OK(cu.cuMemFreeHost(plain));
}

/* By their host's address: those of the page that are not the allocation's, and the pages around it, are nobody's. */
TEST_WITH(copies_stay_within_pinned_memory, driver_setup, driver_teardown)
{
  const cuda_address memory = driver_memory(128);
  uint8_t *pinned = (uint8_t *)driver_pinned(64);
  static const struct {
    int first;
    size_t size;
    const char *told;
  } cases[] = {{0, 65, "65 bytes from byte 0 of the host's pinned memory"},
               {64, 4, "4 bytes from byte 64 of the host's pinned memory"},
               {4092, 16, "16 bytes from byte 4092"},
               {-4, 8, "8 bytes from byte -4"},
               {-16, 8, "8 bytes from byte -16"}};
  OK(cu.cuMemsetD8Async(memory, 7, 128, NULL));
  OK(cu.cuCtxSynchronize());
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, pinned + cases[i].first, cases[i].size, NULL), CUDA_INVALID_VALUE);
    driver_told(cases[i].told);
    assert_int_equal(cu.cuMemcpyDtoHAsync_v2(pinned + cases[i].first, memory, cases[i].size, NULL), CUDA_INVALID_VALUE);
    driver_told("out of its bounds");
  }
  OK(cu.cuMemcpyDtoHAsync_v2(pinned, memory, 64, NULL));
  OK(cu.cuCtxSynchronize());
  assert_int_equal(pinned[0], 7);
  assert_int_equal(pinned[63], 7);
  OK(cu.cuMemFreeHost(pinned));
  pinned = (uint8_t *)driver_pinned(64);
  pinned[66] = 1;
  OK(cu.cuMemFreeHost(pinned));
  driver_told("wrote to byte 66 of pinned memory");
  OK(cu.cuMemFree_v2(memory));
}

/* By the device's address of mapped memory, fills and copies are held to the allocation's bytes, too. */
TEST_WITH(device_addresses_stay_within_pinned_memory, driver_setup, driver_teardown)
{
  static uint32_t registered[1024];
  void *mapped;
  cuda_address address[2];
  const cuda_address memory = driver_memory(128);
  OK(cu.cuMemHostAlloc(&mapped, 64, CUDA_HOST_ALLOC_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(&address[0], mapped, 0));
  OK(cu.cuMemHostRegister_v2(registered, 64, CUDA_HOST_REGISTER_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(&address[1], registered, 0));
  for (int i = 0; i < 2; i++) {
    OK(cu.cuMemsetD8Async(address[i], 1, 64, NULL));
    OK(cu.cuMemcpyDtoDAsync_v2(memory, address[i], 64, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(cu.cuMemsetD8Async(address[i], 1, 65, NULL), CUDA_INVALID_VALUE);
    driver_told("which has 64, out of its bounds");
    assert_int_equal(cu.cuMemcpyDtoDAsync_v2(memory, address[i] + 60, 8, NULL), CUDA_INVALID_VALUE);
    driver_told("which has 64, out of its bounds");
    assert_int_equal(cu.cuMemcpyDtoDAsync_v2(address[i] + 64, memory, 4, NULL), CUDA_INVALID_VALUE);
    driver_told(i ? "registered memory" : "pinned memory");
  }
  OK(cu.cuMemHostUnregister(registered));
  OK(cu.cuMemFreeHost(mapped));
  OK(cu.cuMemFree_v2(memory));
}

TEST_WITH(a_kernel_stays_within_pinned_memory, driver_setup, driver_teardown)
{
  static const struct {
    int offset;
    const char *told;
  } cases[] = {{64, "4 bytes from byte 64 of pinned memory"},
               {4096, "4 bytes from byte 4096 of pinned memory"},
               {-4, "outside of global memory"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    void *mapped;
    cuda_address good, bad;
    if (i)
      driver_setup(state);
    OK(cu.cuMemHostAlloc(&mapped, 64, CUDA_HOST_ALLOC_MAPPED));
    OK(cu.cuMemHostGetDevicePointer_v2(&good, (char *)mapped + 60, 0));
    bad = good - 60 + (cuda_address)(int64_t)cases[i].offset;
    OK(driver_launch("load", 1, NULL, (void *[]){&good}));
    OK(cu.cuCtxSynchronize());
    OK(driver_launch("load", 1, NULL, (void *[]){&bad}));
    assert_int_equal(cu.cuCtxSynchronize(), CUDA_ILLEGAL_ADDRESS);
    driver_told(cases[i].told);
    driver_end(CUDA_ILLEGAL_ADDRESS);
  }
}

TEST_WITH(memory_is_registered_once, driver_setup, driver_teardown)
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
  assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, words, 16, NULL), CUDA_INVALID_VALUE);
  driver_told("from byte -4 of the host's registered memory");
  OK(cu.cuMemHostUnregister(words + 1));
  assert_int_equal(cu.cuMemHostUnregister(words + 1), CUDA_HOST_MEMORY_NOT_REGISTERED);
  driver_told("not the beginning of such memory");
  OK(cu.cuMemFree_v2(memory));
}

TEST_WITH(bytes_are_counted, driver_setup, driver_teardown)
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
