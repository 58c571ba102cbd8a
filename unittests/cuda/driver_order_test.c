/* Streams, events, graphs and capture of the simulated driver: delays, orders and races.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include <stdatomic.h>

enum { SEEDS = 20, WORDS = STREAM_WORDS };

/* ---- streams and events -------------------------------------------------------------------------------------------------- */

/* Restarts the driver with a seed, which chooses the order in which streams run. */
static void
restart_with_seed(void **state, int seed)
{
  char text[8];
  snprintf(text, sizeof text, "%d", seed);
  streams_teardown(state);
  setenv("VYRE_CUDA_SIM_SEED", text, 1);
  streams_setup(state);
  unsetenv("VYRE_CUDA_SIM_SEED");
}

/* Waits for all work, and asserts that the driver's only message contains `words`. */
static void
finish_with(const char *words)
{
  OK(cu.cuCtxSynchronize());
  driver_reported(words);
}

STREAMS_TEST(pinned_sources_are_read_later)
{
  s.pinned[0] = 1;
  OK(cu.cuMemcpyHtoDAsync_v2(s.memory, s.pinned, WORDS * 4, s.one));
  s.pinned[0] = 2; /* an error of the host */
  OK(cu.cuStreamSynchronize(s.one));
  driver_reported("the host changed pinned memory");
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, WORDS * 4, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  assert_int_equal(s.result[0], 2);
}

STREAMS_TEST(plain_sources_are_read_at_once)
{
  uint32_t plain[WORDS] = {1};
  OK(cu.cuMemcpyHtoDAsync_v2(s.memory, plain, sizeof plain, s.one));
  plain[0] = 2;
  OK(cu.cuMemcpyDtoHAsync_v2(plain, s.memory, 4, s.one)); /* results are written before the call returns */
  assert_int_equal(plain[0], 1);
}

STREAMS_TEST(results_arrive_with_the_wait)
{
  s.result[5] = 77;
  OK(cu.cuMemsetD32Async(s.memory, 3, WORDS, s.one));
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, WORDS * 4, s.one));
  assert_int_equal(cu.cuStreamQuery(s.one), CUDA_NOT_READY);
  assert_int_not_equal(cu.cuEventQuery(s.event), CUDA_NOT_READY); /* the event was never recorded */
  OK(cu.cuStreamSynchronize(s.one));
  OK(cu.cuStreamQuery(s.one));
  assert_int_equal(s.result[5], 3);
}

/* Reading the bytes of a copy before a wait is reported, whether the copy is done or not.  Other bytes may be used. */
STREAMS_TEST(reading_results_before_the_wait_is_a_race)
{
  volatile uint32_t *words = s.result;
  words[0] = 1;
  OK(cu.cuMemsetD32Async(s.memory, 3, WORDS, s.one));
  OK(cu.cuMemcpyDtoHAsync_v2(s.result + 10, s.memory, 40, s.one));
  OK(cu.cuEventRecord(s.event, s.one));
  words[0] = 2;
  words[9] = words[20];
  assert_string_equal(cu.messages(), "");
  OK(cu.cuStreamSynchronize(s.one));
  assert_int_equal(words[0], 2);
  assert_int_equal(words[10] + words[19], 6);
  OK(cu.cuMemcpyDtoHAsync_v2(s.result + 10, s.memory, 40, s.one));
  (void)words[19];
  driver_reported("race: the host uses byte 76 of pinned memory");
  OK(cu.cuStreamSynchronize(s.one));
  OK(cu.cuMemcpyDtoHAsync_v2(s.result + 10, s.memory, 40, s.two));
  OK(cu.cuStreamSynchronize(s.one)); /* the wrong stream */
  words[10] = 1;
  driver_reported("race: the host uses byte 40 of pinned memory");
}

STREAMS_TEST(polling_an_event_makes_progress)
{
  OK(cu.cuMemsetD32Async(s.memory, 3, WORDS, s.one));
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, WORDS * 4, s.one));
  OK(cu.cuEventRecord(s.event, s.one));
  while (cu.cuEventQuery(s.event) == CUDA_NOT_READY)
    ;
  OK(cu.cuEventQuery(s.event));
  assert_int_equal(s.result[WORDS - 1], 3);
  assert_int_equal(cu.count("waits"), 0);
  OK(cu.cuEventSynchronize(s.event));
  assert_int_equal(cu.count("waits"), 1);
}

/* The order does not depend on the seed. */
STREAMS_TEST(a_stream_runs_in_order)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    for (uint32_t i = 0; i < WORDS; i++)
      s.pinned[i] = i;
    OK(cu.cuMemcpyHtoDAsync_v2(s.memory, s.pinned, WORDS * 4, s.one));
    driver_add(s.memory, WORDS, 5, s.one);
    OK(cu.cuMemcpyDtoDAsync_v2(s.other, s.memory, WORDS * 4, s.one));
    OK(cu.cuMemsetD32Async(s.memory, 9, WORDS, s.one));
    driver_add(s.other, WORDS / 2, 1, s.one);
    OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.other, WORDS * 4, s.one));
    OK(cu.cuStreamSynchronize(s.one));
    for (uint32_t i = 0; i < WORDS; i++)
      assert_int_equal(s.result[i], i + 5 + (i < WORDS / 2));
  }
}

STREAMS_TEST(events_order_streams)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    OK(cu.cuMemsetD32Async(s.memory, 1, WORDS, s.one));
    driver_add(s.memory, WORDS, 1, s.one);
    OK(cu.cuEventRecord(s.event, s.one));
    OK(cu.cuStreamWaitEvent(s.two, s.event, 0));
    driver_add(s.memory, WORDS, 1, s.two);
    OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, WORDS * 4, s.two));
    OK(cu.cuStreamSynchronize(s.two)); /* also waits for the first stream, by the event */
    assert_int_equal(s.result[WORDS - 1], 3);
    OK(cu.cuMemFree_v2(s.memory));
    s.memory = driver_memory(WORDS * 4);
  }
}

STREAMS_TEST(streams_without_an_event_race)
{
  OK(cu.cuMemsetD32Async(s.memory, 1, WORDS, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  driver_add(s.memory, WORDS, 1, s.one);
  driver_add(s.memory, WORDS, 1, s.two);
  finish_with("race: kernel add");
  OK(cu.cuMemsetD32Async(s.memory, 1, WORDS, s.one));
  OK(cu.cuMemcpyDtoDAsync_v2(s.other, s.memory, 4, s.two));
  finish_with("race: ");
  driver_add(s.memory, WORDS, 1, s.one);
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, 4, s.two));
  finish_with("race: ");
  /* A wait of the host orders as an event does.  So does the order of a stream. */
  driver_add(s.memory, WORDS, 1, s.one);
  driver_add(s.other, WORDS, 1, s.two);
  OK(cu.cuStreamSynchronize(s.one));
  driver_add(s.memory, WORDS, 1, s.two);
  OK(cu.cuCtxSynchronize());
}

/* Some seeds run the first kernel before the wait for the other stream ends. */
STREAMS_TEST(a_wait_orders_only_what_its_stream_waits_for)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    driver_add(s.memory, WORDS, 1, s.one);
    driver_add(s.other, WORDS, 1, s.two);
    OK(cu.cuStreamSynchronize(s.two));
    driver_add(s.memory, WORDS, 1, s.two);
    finish_with("race: kernel add");
  }
}

/* Some seeds run the second kernel only after the host has waited for the first one. */
STREAMS_TEST(a_wait_does_not_order_earlier_work_of_other_streams)
{
  for (int seed = 0; seed < SEEDS; seed++) {
    restart_with_seed(state, seed);
    driver_add(s.memory, WORDS, 1, s.one);
    driver_add(s.memory, WORDS, 1, s.two);
    OK(cu.cuStreamSynchronize(s.one));
    finish_with("race: kernel add");
  }
}

/* Accesses that are atomic on both sides do not race.  A weak access on one side does. */
STREAMS_TEST(atomics_do_not_race)
{
  void *parameters[] = {&s.memory};
  OK(cu.cuMemsetD32Async(s.memory, 0, 1, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  OK(driver_launch("meet", 1, s.one, parameters));
  OK(driver_launch("meet", 1, s.two, parameters));
  OK(cu.cuCtxSynchronize());
  assert_string_equal(cu.messages(), "");
  OK(driver_launch("meet", 1, s.one, parameters));
  driver_add(s.memory, 1, 1, s.two);
  finish_with("race: kernel ");
}

STREAMS_TEST(different_bytes_do_not_race)
{
  OK(cu.cuMemsetD32Async(s.memory, 1, WORDS, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  driver_add(s.memory, WORDS / 2, 1, s.one);
  driver_add(s.memory + WORDS / 2 * 4, WORDS / 2, 2, s.two);
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.other, 4, s.one));
  OK(cu.cuMemcpyDtoHAsync_v2(s.result + 1, s.other, 4, s.two)); /* both only read s.other */
  OK(cu.cuCtxSynchronize());
}

/* A blocking stream is ordered with the default stream, and a non-blocking one is not. */
STREAMS_TEST(the_default_stream_orders_blocking_streams)
{
  cuda_stream blocking;
  OK(cu.cuStreamCreate(&blocking, 0));
  driver_add(s.memory, WORDS, 1, blocking);
  driver_add(s.memory, WORDS, 1, NULL);
  driver_add(s.memory, WORDS, 1, blocking);
  OK(cu.cuCtxSynchronize());
  assert_string_equal(cu.messages(), "");
  driver_add(s.memory, WORDS, 1, NULL);
  driver_add(s.memory, WORDS, 1, s.one);
  finish_with("race: ");
  OK(cu.cuStreamDestroy_v2(blocking));
}

/* Host and kernel share memory.  Other streams run while the kernel waits. */
STREAMS_TEST(a_kernel_waits_for_a_word_of_the_host)
{
  cuda_address address;
  _Atomic uint32_t *words = driver_mapped(&address);
  for (uint32_t i = 0; i < SEEDS; i++) {
    words[0] = words[1] = words[2] = 0;
    OK(driver_launch("bell", 1, s.one, (void *[]){&address}));
    while (atomic_load(&words[1]) == 0)
      ; /* the kernel begins without a wait of the host */
    OK(cu.cuMemsetD32Async(s.memory, 8, WORDS, s.two));
    OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, WORDS * 4, s.two));
    OK(cu.cuStreamSynchronize(s.two));
    assert_int_equal(s.result[0], 8);
    assert_int_equal(cu.cuStreamQuery(s.one), CUDA_NOT_READY);
    assert_int_equal(atomic_load(&words[2]), 0);
    atomic_store(&words[0], 41);
    OK(cu.cuStreamSynchronize(s.one));
    assert_int_equal(words[2], 42);
  }
  OK(cu.cuMemFreeHost((void *)words));
}

/* A failed compare-and-swap writes the value that it read.  Sooner or later, this undoes a store of the host. */
STREAMS_TEST(a_failed_swap_may_undo_a_write_by_the_host)
{
  enum { TRIES = 100000000, LOOKS = 4 };
  cuda_address address;
  uint32_t tries = 0;
  _Atomic uint32_t *words = driver_mapped(&address);
  OK(driver_launch("clash", 1, s.one, (void *[]){&address}));
  for (bool is_lost = false; !is_lost && tries < TRIES; tries++) {
    atomic_store(&words[0], tries);
    for (uint32_t i = 0; i < LOOKS; i++)
      is_lost |= atomic_load(&words[0]) != tries;
  }
  atomic_store(&words[1], 1);
  OK(cu.cuStreamSynchronize(s.one));
  assert_true(tries < TRIES);
  OK(cu.cuMemFreeHost((void *)words));
}

STREAMS_TEST(events_measure_time)
{
  cuda_event end = driver_event(), without;
  float milliseconds = -1;
  OK(cu.cuEventCreate(&without, CUDA_EVENT_NO_TIME));
  REFUSED(cu.cuEventElapsedTime(&milliseconds, s.event, end), CUDA_INVALID_HANDLE, "never recorded");
  OK(cu.cuEventRecord(s.event, s.one));
  driver_add(s.memory, WORDS, 1, s.one);
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, s.memory, 4, s.one));
  OK(cu.cuEventRecord(end, s.one));
  assert_int_equal(cu.cuEventElapsedTime(&milliseconds, s.event, end), CUDA_NOT_READY);
  OK(cu.cuEventSynchronize(end));
  OK(cu.cuEventElapsedTime(&milliseconds, s.event, end));
  assert_true(milliseconds > 0);
  OK(cu.cuEventRecord(without, s.one));
  REFUSED(cu.cuEventElapsedTime(&milliseconds, s.event, without), CUDA_INVALID_HANDLE, "without timing");
  OK(cu.cuEventDestroy_v2(end));
  OK(cu.cuEventDestroy_v2(without));
}

STREAMS_TEST(destroying_a_context_with_work_is_reported)
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
  const char *text = cu.messages();
  assert_non_null(strstr(text, "streams of the context still have work"));
  assert_non_null(strstr(text, "64 bytes was not freed"));
  assert_non_null(strstr(text, "was not destroyed before its context"));
  cu.clear();
}

/* ---- graphs -------------------------------------------------------------------------------------------------------------- */

/* Returns the word at that address after the first stream's work. */
static uint32_t
word(cuda_address at)
{
  OK(cu.cuMemcpyDtoHAsync_v2(s.result, at, 4, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  return s.result[0];
}

static void
begin(void)
{
  OK(cu.cuStreamBeginCapture_v2(s.one, CUDA_CAPTURE_THREAD_LOCAL));
}

/* Captures both streams. */
static void
begin_both(void)
{
  begin();
  OK(cu.cuEventRecord(s.event, s.one));
  OK(cu.cuStreamWaitEvent(s.two, s.event, 0));
}

/* The first stream waits for the second one. */
static void
join(void)
{
  OK(cu.cuEventRecord(s.back, s.two));
  OK(cu.cuStreamWaitEvent(s.one, s.back, 0));
}

static cuda_graph_exec
instantiate(void)
{
  cuda_graph graph;
  cuda_graph_exec exec;
  OK(cu.cuStreamEndCapture(s.one, &graph));
  OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cu.cuGraphDestroy(graph));
  return exec;
}

/* Asserts that the first stream's capture is invalid, and ends it without a graph. */
static void
assert_invalid(void)
{
  cuda_graph graph = (cuda_graph)(void *)&graph;
  cuda_capture_status status;
  OK(cu.cuStreamGetCaptureInfo_v2(s.one, &status, NULL, NULL, NULL, NULL));
  assert_int_equal(status, CUDA_CAPTURE_INVALIDATED);
  assert_int_equal(cu.cuMemsetD32Async(s.memory, 1, 1, s.one), CUDA_STREAM_CAPTURE_INVALIDATED);
  assert_int_equal(cu.cuStreamEndCapture(s.one, &graph), CUDA_STREAM_CAPTURE_INVALIDATED);
  assert_null(graph);
  OK(cu.cuStreamSynchronize(s.one));
}

STREAMS_TEST(a_capture_runs_nothing)
{
  s.pinned[0] = 5;
  begin();
  OK(cu.cuMemcpyHtoDAsync_v2(s.memory, s.pinned, 4, s.one));
  driver_add(s.memory, WORDS, 2, s.one); /* the graph copies the parameters */
  OK(cu.cuMemcpyDtoDAsync_v2(s.other, s.memory, 4, s.one));
  const cuda_graph_exec exec = instantiate();
  assert_int_equal(cu.count("run:kernel"), 0);
  assert_int_equal(word(s.memory), 0);
  s.pinned[0] = 6; /* each launch of the graph reads it */
  OK(cu.cuGraphLaunch(exec, s.one));
  assert_int_equal(word(s.other), 8);
  s.pinned[0] = 7;
  OK(cu.cuGraphLaunch(exec, s.one));
  OK(cu.cuGraphLaunch(exec, s.two)); /* launches of one graph run one after the other */
  OK(cu.cuStreamSynchronize(s.two));
  assert_int_equal(word(s.other), 9);
  assert_int_equal(cu.count("run:kernel"), 3);
  assert_int_equal(cu.count("graphs"), 3);
  OK(cu.cuGraphExecDestroy(exec));
}

STREAMS_TEST(launches_of_a_graph_can_be_changed)
{
  cuda_capture_status status;
  cuda_graph graph, same;
  uint64_t id;
  const cuda_graph_node *last;
  size_t count;
  begin();
  driver_add(s.memory, 1, 1, s.one);
  OK(cu.cuStreamGetCaptureInfo_v2(s.one, &status, &id, &graph, &last, &count));
  assert_int_equal(status, CUDA_CAPTURE_ACTIVE);
  assert_int_equal(count, 1);
  const cuda_graph_node launch = last[0];
  OK(cu.cuMemsetD32Async(s.other, 1, 1, s.one));
  OK(cu.cuStreamGetCaptureInfo_v2(s.one, &status, &id, &graph, &last, &count));
  assert_ptr_not_equal(last[0], launch);
  const cuda_graph_node fill = last[0];
  cuda_graph_exec exec;
  OK(cu.cuStreamEndCapture(s.one, &same));
  assert_ptr_equal(same, graph);
  OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cu.cuGraphLaunch(exec, s.one)); /* uses the parameters of this moment */
  uint32_t words = 1, addend = 10;
  void *parameters[] = {&s.memory, &words, &addend};
  cuda_kernel_node node = {driver_kernel("add"), {1, 1, 1}, {64, 1, 1}, 0, parameters, NULL};
  OK(cu.cuGraphExecKernelNodeSetParams(exec, launch, &node));
  addend = 1000;
  OK(cu.cuGraphLaunch(exec, s.one));
  assert_int_equal(word(s.memory), 11);
  REFUSED(cu.cuGraphExecKernelNodeSetParams(exec, fill, &node), CUDA_INVALID_VALUE, "the node is not a launch");
  node.block[0] = 2000;
  REFUSED(cu.cuGraphExecKernelNodeSetParams(exec, launch, &node), CUDA_INVALID_VALUE, "2000 threads");
  OK(cu.cuGraphDestroy(graph));
  REFUSED(cu.cuGraphExecKernelNodeSetParams(exec, launch, &node), CUDA_INVALID_HANDLE, "is already destroyed");
  OK(cu.cuGraphExecDestroy(exec));
}

STREAMS_TEST(graphs_with_freed_memory_are_refused)
{
  const cuda_address freed = driver_memory(64);
  begin();
  OK(cu.cuMemsetD32Async(freed, 1, 16, s.one));
  const cuda_graph_exec exec = instantiate();
  OK(cu.cuGraphLaunch(exec, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  OK(cu.cuMemFree_v2(freed));
  REFUSED(cu.cuGraphLaunch(exec, s.one), CUDA_INVALID_VALUE, "which was freed");
  OK(cu.cuGraphExecDestroy(exec));
}

STREAMS_TEST(some_calls_invalidate_a_capture)
{
  cuda_address address;
  uint32_t plain = 1;
  begin();
  REFUSED(cu.cuStreamSynchronize(s.one), CUDA_STREAM_CAPTURE_UNSUPPORTED, "the stream captures");
  assert_invalid();
  begin();
  REFUSED(cu.cuStreamQuery(s.one), CUDA_STREAM_CAPTURE_UNSUPPORTED, "the stream captures");
  assert_invalid();
  begin();
  REFUSED(cu.cuMemAlloc_v2(&address, 16), CUDA_STREAM_CAPTURE_UNSUPPORTED, "effects that the capture does not record");
  assert_invalid();
  begin();
  REFUSED(cu.cuMemcpyHtoDAsync_v2(s.memory, &plain, 4, s.one), CUDA_STREAM_CAPTURE_UNSUPPORTED, "is not pinned");
  assert_invalid();
  OK(cu.cuStreamBeginCapture_v2(s.one, CUDA_CAPTURE_RELAXED)); /* allows these calls */
  OK(cu.cuMemAlloc_v2(&address, 16));
  OK(cu.cuMemFree_v2(address));
  OK(cu.cuGraphExecDestroy(instantiate()));
}

STREAMS_TEST(captured_events_cannot_be_queried)
{
  begin();
  OK(cu.cuEventRecord(s.event, s.one));
  REFUSED(cu.cuEventQuery(s.event), CUDA_CAPTURED_EVENT, "recorded in a capture");
  assert_invalid();
  OK(cu.cuEventRecord(s.event, s.one)); /* outside of a capture */
  OK(cu.cuEventSynchronize(s.event));
  OK(cu.cuEventRecord(s.event, s.two));
  begin();
  REFUSED(cu.cuStreamWaitEvent(s.one, s.event, 0), CUDA_STREAM_CAPTURE_ISOLATION, "not recorded in the capture");
  assert_invalid();
}

STREAMS_TEST(streams_may_join_a_capture)
{
  cuda_graph graph;
  begin_both();
  driver_add(s.memory, 1, 3, s.one);
  driver_add(s.other, 1, 4, s.two); /* not ordered with the first launch */
  OK(cu.cuEventRecord(s.back, s.two));
  REFUSED(cu.cuStreamEndCapture(s.two, &graph), CUDA_STREAM_CAPTURE_UNMATCHED, "began in another stream");
  assert_invalid();

  begin_both();
  driver_add(s.other, 1, 4, s.two);
  REFUSED(cu.cuStreamEndCapture(s.one, &graph), CUDA_STREAM_CAPTURE_UNJOINED, "work of another stream was not joined");

  begin_both();
  driver_add(s.memory, 1, 3, s.one);
  driver_add(s.other, 1, 4, s.two);
  join();
  OK(cu.cuMemcpyDtoDAsync_v2(s.memory + 4, s.other, 4, s.one));
  const cuda_graph_exec exec = instantiate();
  for (uint32_t i = 1; i <= 10; i++) {
    OK(cu.cuGraphLaunch(exec, s.one));
    assert_int_equal(word(s.memory), 3 * i);
    assert_int_equal(word(s.memory + 4), 4 * i);
  }
  OK(cu.cuGraphExecDestroy(exec));
}

STREAMS_TEST(unordered_nodes_race)
{
  begin_both();
  driver_add(s.memory, 1, 3, s.one);
  driver_add(s.memory, 1, 4, s.two);
  join();
  const cuda_graph_exec exec = instantiate();
  OK(cu.cuGraphLaunch(exec, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  driver_reported("race: nodes 0 and 1");
  OK(cu.cuGraphExecDestroy(exec));
}

STREAMS_TEST(captures_do_not_merge)
{
  cuda_graph graph;
  begin();
  OK(cu.cuStreamBeginCapture_v2(s.two, CUDA_CAPTURE_THREAD_LOCAL));
  REFUSED(cu.cuStreamBeginCapture_v2(s.two, CUDA_CAPTURE_THREAD_LOCAL), CUDA_ILLEGAL_STATE, "captures already");
  OK(cu.cuEventRecord(s.event, s.two));
  REFUSED(cu.cuStreamWaitEvent(s.one, s.event, 0), CUDA_STREAM_CAPTURE_MERGE, "another capture waits");
  assert_int_equal(cu.cuStreamEndCapture(s.two, &graph), CUDA_STREAM_CAPTURE_INVALIDATED);
  assert_invalid();
  REFUSED(cu.cuStreamEndCapture(s.one, &graph), CUDA_ILLEGAL_STATE, "does not capture");
  REFUSED(cu.cuStreamBeginCapture_v2(NULL, CUDA_CAPTURE_RELAXED), CUDA_STREAM_CAPTURE_UNSUPPORTED, "cannot capture");
}

STREAMS_TEST(the_default_stream_invalidates_captures_of_blocking_streams)
{
  cuda_stream blocking;
  cuda_graph graph;
  OK(cu.cuStreamCreate(&blocking, 0));
  OK(cu.cuStreamBeginCapture_v2(blocking, CUDA_CAPTURE_RELAXED));
  REFUSED(cu.cuMemsetD32Async(s.memory, 1, 1, NULL), CUDA_STREAM_CAPTURE_IMPLICIT, "the default stream");
  assert_int_equal(cu.cuStreamEndCapture(blocking, &graph), CUDA_STREAM_CAPTURE_INVALIDATED);
  begin();
  OK(cu.cuMemsetD32Async(s.memory, 1, 1, NULL)); /* does not wait for non-blocking streams */
  OK(cu.cuGraphExecDestroy(instantiate()));
  OK(cu.cuStreamDestroy_v2(blocking));
  OK(cu.cuCtxSynchronize());
}

TEST_MAIN(driver_open, NULL)
