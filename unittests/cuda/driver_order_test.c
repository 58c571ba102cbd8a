/* Streams and events of the simulated driver: what is late, what is ordered, and what races.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include <stdatomic.h>

enum { WORDS = 1000, SEEDS = 20 };

static cuda_stream one, two;
static cuda_event event;
static cuda_address memory, other;
static uint32_t *pinned, *result;

static int
setup(void **state)
{
  driver_setup(state);
  one = driver_stream();
  two = driver_stream();
  event = driver_event();
  memory = driver_memory(WORDS * 4);
  other = driver_memory(WORDS * 4);
  pinned = driver_pinned(WORDS * 4);
  result = driver_pinned(WORDS * 4);
  return 0;
}

static int
teardown(void **state)
{
  OK(cu.cuStreamSynchronize(one));
  OK(cu.cuStreamSynchronize(two));
  OK(cu.cuStreamDestroy_v2(one));
  OK(cu.cuStreamDestroy_v2(two));
  OK(cu.cuEventDestroy_v2(event));
  OK(cu.cuMemFree_v2(memory));
  OK(cu.cuMemFree_v2(other));
  OK(cu.cuMemFreeHost(pinned));
  OK(cu.cuMemFreeHost(result));
  return driver_teardown(state);
}

/* Opens the driver again; the seed chooses the order in which streams get on. */
static void
restart_with_seed(void **state, int seed)
{
  char text[8];
  snprintf(text, sizeof text, "%d", seed);
  teardown(state);
  setenv("VYRE_CUDA_SIM_SEED", text, 1);
  setup(state);
}

TEST_WITH(pinned_sources_are_read_late, setup, teardown)
{
  pinned[0] = 1;
  OK(cu.cuMemcpyHtoDAsync_v2(memory, pinned, WORDS * 4, one));
  pinned[0] = 2; /* which it must not */
  OK(cu.cuStreamSynchronize(one));
  driver_told("the host changed pinned memory");
  OK(cu.cuMemcpyDtoHAsync_v2(result, memory, WORDS * 4, one));
  OK(cu.cuStreamSynchronize(one));
  assert_int_equal(result[0], 2);
}

TEST_WITH(plain_sources_are_read_at_once, setup, teardown)
{
  uint32_t plain[WORDS] = {1};
  OK(cu.cuMemcpyHtoDAsync_v2(memory, plain, sizeof plain, one));
  plain[0] = 2;
  OK(cu.cuMemcpyDtoHAsync_v2(plain, memory, 4, one)); /* and written before it returns */
  assert_int_equal(plain[0], 1);
}

TEST_WITH(results_come_with_the_wait, setup, teardown)
{
  result[5] = 77;
  OK(cu.cuMemsetD32Async(memory, 3, WORDS, one));
  OK(cu.cuMemcpyDtoHAsync_v2(result, memory, WORDS * 4, one));
  assert_int_equal(cu.cuStreamQuery(one), CUDA_NOT_READY);
  assert_int_not_equal(cu.cuEventQuery(event), CUDA_NOT_READY); /* it was never recorded */
  OK(cu.cuStreamSynchronize(one));
  OK(cu.cuStreamQuery(one));
  assert_int_equal(result[5], 3);
}

/* Reading them before it is told, whether the copy is done or not; other bytes may be used. */
TEST_WITH(results_are_not_read_before, setup, teardown)
{
  volatile uint32_t *words = result;
  words[0] = 1;
  OK(cu.cuMemsetD32Async(memory, 3, WORDS, one));
  OK(cu.cuMemcpyDtoHAsync_v2(result + 10, memory, 40, one));
  OK(cu.cuEventRecord(event, one));
  words[0] = 2;
  words[9] = words[20];
  assert_string_equal(cu.messages(), "");
  OK(cu.cuStreamSynchronize(one));
  assert_int_equal(words[0], 2);
  assert_int_equal(words[10] + words[19], 6);
  OK(cu.cuMemcpyDtoHAsync_v2(result + 10, memory, 40, one));
  (void)words[19];
  driver_told("race: the host uses byte 76 of pinned memory");
  OK(cu.cuStreamSynchronize(one));
  OK(cu.cuMemcpyDtoHAsync_v2(result + 10, memory, 40, two));
  OK(cu.cuStreamSynchronize(one)); /* the wrong one */
  words[10] = 1;
  driver_told("race: the host uses byte 40 of pinned memory");
}

TEST_WITH(a_host_that_asks_gets_on, setup, teardown)
{
  OK(cu.cuMemsetD32Async(memory, 3, WORDS, one));
  OK(cu.cuMemcpyDtoHAsync_v2(result, memory, WORDS * 4, one));
  OK(cu.cuEventRecord(event, one));
  while (cu.cuEventQuery(event) == CUDA_NOT_READY)
    ;
  OK(cu.cuEventQuery(event));
  assert_int_equal(result[WORDS - 1], 3);
  assert_int_equal(cu.count("waits"), 0);
  OK(cu.cuEventSynchronize(event));
  assert_int_equal(cu.count("waits"), 1);
}

/* Whatever the seed. */
TEST_WITH(a_stream_is_in_order, setup, teardown)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    for (uint32_t i = 0; i < WORDS; i++)
      pinned[i] = i;
    OK(cu.cuMemcpyHtoDAsync_v2(memory, pinned, WORDS * 4, one));
    driver_add(memory, WORDS, 5, one);
    OK(cu.cuMemcpyDtoDAsync_v2(other, memory, WORDS * 4, one));
    OK(cu.cuMemsetD32Async(memory, 9, WORDS, one));
    driver_add(other, WORDS / 2, 1, one);
    OK(cu.cuMemcpyDtoHAsync_v2(result, other, WORDS * 4, one));
    OK(cu.cuStreamSynchronize(one));
    for (uint32_t i = 0; i < WORDS; i++)
      assert_int_equal(result[i], i + 5 + (i < WORDS / 2));
  }
  unsetenv("VYRE_CUDA_SIM_SEED");
}

TEST_WITH(events_order_streams, setup, teardown)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    OK(cu.cuMemsetD32Async(memory, 1, WORDS, one));
    driver_add(memory, WORDS, 1, one);
    OK(cu.cuEventRecord(event, one));
    OK(cu.cuStreamWaitEvent(two, event, 0));
    driver_add(memory, WORDS, 1, two);
    OK(cu.cuMemcpyDtoHAsync_v2(result, memory, WORDS * 4, two));
    OK(cu.cuStreamSynchronize(two)); /* which waits for the other one's, too */
    assert_int_equal(result[WORDS - 1], 3);
    OK(cu.cuMemFree_v2(memory));
    memory = driver_memory(WORDS * 4);
  }
  unsetenv("VYRE_CUDA_SIM_SEED");
}

TEST_WITH(without_an_event_they_race, setup, teardown)
{
  OK(cu.cuMemsetD32Async(memory, 1, WORDS, one));
  OK(cu.cuStreamSynchronize(one));
  driver_add(memory, WORDS, 1, one);
  driver_add(memory, WORDS, 1, two);
  OK(cu.cuCtxSynchronize());
  driver_told("race: kernel add");
  OK(cu.cuMemsetD32Async(memory, 1, WORDS, one));
  OK(cu.cuMemcpyDtoDAsync_v2(other, memory, 4, two));
  OK(cu.cuCtxSynchronize());
  driver_told("race: ");
  driver_add(memory, WORDS, 1, one);
  OK(cu.cuMemcpyDtoHAsync_v2(result, memory, 4, two));
  OK(cu.cuCtxSynchronize());
  driver_told("race: ");
  /* The wait of a host orders as an event does, and so does a stream's own order. */
  driver_add(memory, WORDS, 1, one);
  driver_add(other, WORDS, 1, two);
  OK(cu.cuStreamSynchronize(one));
  driver_add(memory, WORDS, 1, two);
  OK(cu.cuCtxSynchronize());
}

/* Some seeds run the first kernel before the wait for the other stream ends. */
TEST_WITH(a_wait_orders_only_what_its_stream_waits_for, setup, teardown)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    driver_add(memory, WORDS, 1, one);
    driver_add(other, WORDS, 1, two);
    OK(cu.cuStreamSynchronize(two));
    driver_add(memory, WORDS, 1, two);
    OK(cu.cuCtxSynchronize());
    driver_told("race: kernel add");
  }
  unsetenv("VYRE_CUDA_SIM_SEED");
}

/* Some seeds run the second kernel only after the host has waited for the first one. */
TEST_WITH(a_wait_does_not_order_earlier_work_of_other_streams, setup, teardown)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    driver_add(memory, WORDS, 1, one);
    driver_add(memory, WORDS, 1, two);
    OK(cu.cuStreamSynchronize(one));
    OK(cu.cuCtxSynchronize());
    driver_told("race: kernel add");
  }
  unsetenv("VYRE_CUDA_SIM_SEED");
}

/* What is atomic on both sides does not; what one of them does weakly does. */
TEST_WITH(atomics_do_not_race, setup, teardown)
{
  void *parameters[] = {&memory};
  OK(cu.cuMemsetD32Async(memory, 0, 1, one));
  OK(cu.cuStreamSynchronize(one));
  OK(driver_launch("meet", 1, one, parameters));
  OK(driver_launch("meet", 1, two, parameters));
  OK(cu.cuCtxSynchronize());
  assert_string_equal(cu.messages(), "");
  OK(driver_launch("meet", 1, one, parameters));
  driver_add(memory, 1, 1, two);
  OK(cu.cuCtxSynchronize());
  driver_told("race: kernel ");
}

TEST_WITH(different_bytes_do_not_race, setup, teardown)
{
  OK(cu.cuMemsetD32Async(memory, 1, WORDS, one));
  OK(cu.cuStreamSynchronize(one));
  driver_add(memory, WORDS / 2, 1, one);
  driver_add(memory + WORDS / 2 * 4, WORDS / 2, 2, two);
  OK(cu.cuMemcpyDtoHAsync_v2(result, other, 4, one));
  OK(cu.cuMemcpyDtoHAsync_v2(result + 1, other, 4, two)); /* both read */
  OK(cu.cuCtxSynchronize());
}

/* A stream that blocks is ordered with the one without a handle, one that does not is not. */
TEST_WITH(the_stream_without_a_handle_orders_blocking_ones, setup, teardown)
{
  cuda_stream blocking;
  OK(cu.cuStreamCreate(&blocking, 0));
  driver_add(memory, WORDS, 1, blocking);
  driver_add(memory, WORDS, 1, NULL);
  driver_add(memory, WORDS, 1, blocking);
  OK(cu.cuCtxSynchronize());
  assert_string_equal(cu.messages(), "");
  driver_add(memory, WORDS, 1, NULL);
  driver_add(memory, WORDS, 1, one);
  OK(cu.cuCtxSynchronize());
  driver_told("race: ");
  OK(cu.cuStreamDestroy_v2(blocking));
}

/* Host and kernel have memory in common, and other streams go on meanwhile. */
TEST_WITH(a_kernel_waits_for_the_hosts_bell, setup, teardown)
{
  void *shared;
  cuda_address address;
  OK(cu.cuMemHostAlloc(&shared, 64, CUDA_HOST_ALLOC_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(&address, shared, 0));
  _Atomic uint32_t *words = shared;
  for (uint32_t i = 0; i < SEEDS; i++) {
    words[0] = words[1] = words[2] = 0;
    OK(driver_launch("bell", 1, one, (void *[]){&address}));
    while (atomic_load(&words[1]) == 0)
      ; /* it begins although nobody waits */
    OK(cu.cuMemsetD32Async(memory, 8, WORDS, two));
    OK(cu.cuMemcpyDtoHAsync_v2(result, memory, WORDS * 4, two));
    OK(cu.cuStreamSynchronize(two));
    assert_int_equal(result[0], 8);
    assert_int_equal(cu.cuStreamQuery(one), CUDA_NOT_READY);
    assert_int_equal(atomic_load(&words[2]), 0);
    atomic_store(&words[0], 41);
    OK(cu.cuStreamSynchronize(one));
    assert_int_equal(words[2], 42);
  }
  OK(cu.cuMemFreeHost(shared));
}

/* A compare and swap that fails writes what it read, and the host's word is gone, sooner or later. */
TEST_WITH(what_the_host_writes_under_a_swap_is_lost, setup, teardown)
{
  enum { TRIES = 100000000, LOOKS = 4 };
  void *shared;
  cuda_address address;
  uint32_t tries = 0;
  OK(cu.cuMemHostAlloc(&shared, 64, CUDA_HOST_ALLOC_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(&address, shared, 0));
  _Atomic uint32_t *words = shared;
  words[0] = words[1] = 0;
  OK(driver_launch("clash", 1, one, (void *[]){&address}));
  for (bool is_lost = false; !is_lost && tries < TRIES; tries++) {
    atomic_store(&words[0], tries);
    for (uint32_t i = 0; i < LOOKS; i++)
      is_lost |= atomic_load(&words[0]) != tries;
  }
  atomic_store(&words[1], 1);
  OK(cu.cuStreamSynchronize(one));
  assert_true(tries < TRIES);
  OK(cu.cuMemFreeHost(shared));
}

TEST_WITH(events_have_their_time, setup, teardown)
{
  cuda_event end = driver_event(), without;
  float milliseconds = -1;
  OK(cu.cuEventCreate(&without, CUDA_EVENT_NO_TIME));
  assert_int_equal(cu.cuEventElapsedTime(&milliseconds, event, end), CUDA_INVALID_HANDLE);
  driver_told("never recorded");
  OK(cu.cuEventRecord(event, one));
  driver_add(memory, WORDS, 1, one);
  OK(cu.cuMemcpyDtoHAsync_v2(result, memory, 4, one));
  OK(cu.cuEventRecord(end, one));
  assert_int_equal(cu.cuEventElapsedTime(&milliseconds, event, end), CUDA_NOT_READY);
  OK(cu.cuEventSynchronize(end));
  OK(cu.cuEventElapsedTime(&milliseconds, event, end));
  assert_true(milliseconds > 0);
  OK(cu.cuEventRecord(without, one));
  assert_int_equal(cu.cuEventElapsedTime(&milliseconds, event, without), CUDA_INVALID_HANDLE);
  driver_told("without its time");
  OK(cu.cuEventDestroy_v2(end));
  OK(cu.cuEventDestroy_v2(without));
}

TEST_WITH(a_context_ends_when_its_streams_have, setup, teardown)
{
  cuda_context second;
  cuda_stream stream;
  cuda_address words;
  uint32_t *to;
  OK(cu.cuCtxCreate_v2(&second, 0, 0));
  OK(cu.cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING));
  words = driver_memory(64);
  to = driver_pinned(64);
  OK(cu.cuMemcpyDtoHAsync_v2(to, words, 64, stream));
  OK(cu.cuCtxDestroy_v2(second));
  const char *told = cu.messages();
  assert_non_null(strstr(told, "streams of the context still have work"));
  assert_non_null(strstr(told, "64 bytes was not freed"));
  assert_non_null(strstr(told, "was not destroyed before its context"));
  cu.clear();
}

TEST_MAIN(driver_open, NULL)
