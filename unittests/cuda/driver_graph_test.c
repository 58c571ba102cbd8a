/* Graphs and capture of the simulated driver.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

enum { WORDS = 100 };

static cuda_stream one, two;
static cuda_event event, back;
static cuda_address memory, other;
static uint32_t *pinned, *result;

static int
setup(void **state)
{
  driver_setup(state);
  one = driver_stream();
  two = driver_stream();
  event = driver_event();
  back = driver_event();
  memory = driver_memory(WORDS * 4);
  other = driver_memory(WORDS * 4);
  pinned = driver_pinned(WORDS * 4);
  result = driver_pinned(WORDS * 4);
  OK(cu.cuMemsetD32Async(memory, 0, WORDS, one));
  OK(cu.cuMemsetD32Async(other, 0, WORDS, one));
  OK(cu.cuStreamSynchronize(one));
  cu.clear();
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
  OK(cu.cuEventDestroy_v2(back));
  OK(cu.cuMemFree_v2(memory));
  OK(cu.cuMemFree_v2(other));
  OK(cu.cuMemFreeHost(pinned));
  OK(cu.cuMemFreeHost(result));
  return driver_teardown(state);
}

static uint32_t
word(cuda_address at)
{
  OK(cu.cuMemcpyDtoHAsync_v2(result, at, 4, one));
  OK(cu.cuStreamSynchronize(one));
  return result[0];
}

static void
begin(void)
{
  OK(cu.cuStreamBeginCapture_v2(one, CUDA_CAPTURE_THREAD_LOCAL));
}

static cuda_graph_exec
instantiate(void)
{
  cuda_graph graph;
  cuda_graph_exec exec;
  OK(cu.cuStreamEndCapture(one, &graph));
  OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cu.cuGraphDestroy(graph));
  return exec;
}

/* The capture ends, and has no graph. */
static void
assert_invalid(void)
{
  cuda_graph graph = (cuda_graph)(void *)&graph;
  cuda_capture_status status;
  OK(cu.cuStreamGetCaptureInfo_v2(one, &status, NULL, NULL, NULL, NULL));
  assert_int_equal(status, CUDA_CAPTURE_INVALIDATED);
  assert_int_equal(cu.cuMemsetD32Async(memory, 1, 1, one), CUDA_STREAM_CAPTURE_INVALIDATED);
  assert_int_equal(cu.cuStreamEndCapture(one, &graph), CUDA_STREAM_CAPTURE_INVALIDATED);
  assert_null(graph);
  OK(cu.cuStreamSynchronize(one));
}

TEST_WITH(a_capture_runs_nothing, setup, teardown)
{
  pinned[0] = 5;
  begin();
  OK(cu.cuMemcpyHtoDAsync_v2(memory, pinned, 4, one));
  driver_add(memory, WORDS, 2, one); /* whose parameters are gone then */
  OK(cu.cuMemcpyDtoDAsync_v2(other, memory, 4, one));
  const cuda_graph_exec exec = instantiate();
  assert_int_equal(cu.count("run:kernel"), 0);
  assert_int_equal(word(memory), 0);
  pinned[0] = 6; /* which is read whenever it runs */
  OK(cu.cuGraphLaunch(exec, one));
  assert_int_equal(word(other), 8);
  pinned[0] = 7;
  OK(cu.cuGraphLaunch(exec, one));
  OK(cu.cuGraphLaunch(exec, two)); /* after the first, for it is the same one */
  OK(cu.cuStreamSynchronize(two));
  assert_int_equal(word(other), 9);
  assert_int_equal(cu.count("run:kernel"), 3);
  assert_int_equal(cu.count("graphs"), 3);
  OK(cu.cuGraphExecDestroy(exec));
}

TEST_WITH(launches_of_a_graph_are_changed, setup, teardown)
{
  cuda_capture_status status;
  cuda_graph graph, same;
  uint64_t id;
  const cuda_graph_node *last;
  size_t count;
  begin();
  driver_add(memory, 1, 1, one);
  OK(cu.cuStreamGetCaptureInfo_v2(one, &status, &id, &graph, &last, &count));
  assert_int_equal(status, CUDA_CAPTURE_ACTIVE);
  assert_int_equal(count, 1);
  const cuda_graph_node launch = last[0];
  OK(cu.cuMemsetD32Async(other, 1, 1, one));
  OK(cu.cuStreamGetCaptureInfo_v2(one, &status, &id, &graph, &last, &count));
  assert_ptr_not_equal(last[0], launch);
  const cuda_graph_node fill = last[0];
  cuda_graph_exec exec;
  OK(cu.cuStreamEndCapture(one, &same));
  assert_ptr_equal(same, graph);
  OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cu.cuGraphLaunch(exec, one)); /* as it is now, whenever it runs */
  uint32_t words = 1, addend = 10;
  void *parameters[] = {&memory, &words, &addend};
  cuda_kernel_node node = {driver_kernel("add"), {1, 1, 1}, {64, 1, 1}, 0, parameters, NULL};
  OK(cu.cuGraphExecKernelNodeSetParams(exec, launch, &node));
  addend = 1000;
  OK(cu.cuGraphLaunch(exec, one));
  assert_int_equal(word(memory), 11);
  assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, fill, &node), CUDA_INVALID_VALUE);
  driver_told("the node is no launch");
  node.block[0] = 2000;
  assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, launch, &node), CUDA_INVALID_VALUE);
  driver_told("2000 threads");
  OK(cu.cuGraphDestroy(graph));
  assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, launch, &node), CUDA_INVALID_HANDLE);
  driver_told("was destroyed before");
  OK(cu.cuGraphExecDestroy(exec));
}

TEST_WITH(graphs_use_memory_that_is_there, setup, teardown)
{
  const cuda_address gone = driver_memory(64);
  begin();
  OK(cu.cuMemsetD32Async(gone, 1, 16, one));
  const cuda_graph_exec exec = instantiate();
  OK(cu.cuGraphLaunch(exec, one));
  OK(cu.cuStreamSynchronize(one));
  OK(cu.cuMemFree_v2(gone));
  assert_int_equal(cu.cuGraphLaunch(exec, one), CUDA_INVALID_VALUE);
  driver_told("which was freed");
  OK(cu.cuGraphExecDestroy(exec));
}

TEST_WITH(some_calls_end_a_capture, setup, teardown)
{
  cuda_address address;
  begin();
  assert_int_equal(cu.cuStreamSynchronize(one), CUDA_STREAM_CAPTURE_UNSUPPORTED);
  driver_told("the stream captures");
  assert_invalid();
  begin();
  assert_int_equal(cu.cuStreamQuery(one), CUDA_STREAM_CAPTURE_UNSUPPORTED);
  driver_told("the stream captures");
  assert_invalid();
  begin();
  assert_int_equal(cu.cuMemAlloc_v2(&address, 16), CUDA_STREAM_CAPTURE_UNSUPPORTED);
  driver_told("may do what no capture sees");
  assert_invalid();
  begin();
  uint32_t plain = 1;
  assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, &plain, 4, one), CUDA_STREAM_CAPTURE_UNSUPPORTED);
  driver_told("is not pinned");
  assert_invalid();
  OK(cu.cuStreamBeginCapture_v2(one, CUDA_CAPTURE_RELAXED)); /* which allows this */
  OK(cu.cuMemAlloc_v2(&address, 16));
  OK(cu.cuMemFree_v2(address));
  OK(cu.cuGraphExecDestroy(instantiate()));
}

TEST_WITH(captured_events_are_no_real_ones, setup, teardown)
{
  begin();
  OK(cu.cuEventRecord(event, one));
  assert_int_equal(cu.cuEventQuery(event), CUDA_CAPTURED_EVENT);
  driver_told("recorded in a capture");
  assert_invalid();
  OK(cu.cuEventRecord(event, one)); /* again, and really */
  OK(cu.cuEventSynchronize(event));
  OK(cu.cuEventRecord(event, two));
  begin();
  assert_int_equal(cu.cuStreamWaitEvent(one, event, 0), CUDA_STREAM_CAPTURE_ISOLATION);
  driver_told("not recorded in the capture");
  assert_invalid();
}

TEST_WITH(streams_join_a_capture, setup, teardown)
{
  cuda_graph graph;
  begin();
  OK(cu.cuEventRecord(event, one));
  OK(cu.cuStreamWaitEvent(two, event, 0));
  driver_add(memory, 1, 3, one);
  driver_add(other, 1, 4, two); /* beside it */
  OK(cu.cuEventRecord(back, two));
  assert_int_equal(cu.cuStreamEndCapture(two, &graph), CUDA_STREAM_CAPTURE_UNMATCHED);
  driver_told("began in another stream");
  assert_invalid();

  begin();
  OK(cu.cuEventRecord(event, one));
  OK(cu.cuStreamWaitEvent(two, event, 0));
  driver_add(other, 1, 4, two);
  assert_int_equal(cu.cuStreamEndCapture(one, &graph), CUDA_STREAM_CAPTURE_UNJOINED);
  driver_told("was not waited for");

  begin();
  OK(cu.cuEventRecord(event, one));
  OK(cu.cuStreamWaitEvent(two, event, 0));
  driver_add(memory, 1, 3, one);
  driver_add(other, 1, 4, two);
  OK(cu.cuEventRecord(back, two));
  OK(cu.cuStreamWaitEvent(one, back, 0));
  OK(cu.cuMemcpyDtoDAsync_v2(memory + 4, other, 4, one));
  const cuda_graph_exec exec = instantiate();
  for (uint32_t i = 1; i <= 10; i++) {
    OK(cu.cuGraphLaunch(exec, one));
    assert_int_equal(word(memory), 3 * i);
    assert_int_equal(word(memory + 4), 4 * i);
  }
  OK(cu.cuGraphExecDestroy(exec));
}

TEST_WITH(nodes_that_nothing_orders_race, setup, teardown)
{
  begin();
  OK(cu.cuEventRecord(event, one));
  OK(cu.cuStreamWaitEvent(two, event, 0));
  driver_add(memory, 1, 3, one);
  driver_add(memory, 1, 4, two);
  OK(cu.cuEventRecord(back, two));
  OK(cu.cuStreamWaitEvent(one, back, 0));
  const cuda_graph_exec exec = instantiate();
  OK(cu.cuGraphLaunch(exec, one));
  OK(cu.cuStreamSynchronize(one));
  driver_told("race: nodes 0 and 1");
  OK(cu.cuGraphExecDestroy(exec));
}

TEST_WITH(captures_do_not_merge, setup, teardown)
{
  cuda_graph graph;
  begin();
  OK(cu.cuStreamBeginCapture_v2(two, CUDA_CAPTURE_THREAD_LOCAL));
  assert_int_equal(cu.cuStreamBeginCapture_v2(two, CUDA_CAPTURE_THREAD_LOCAL), CUDA_ILLEGAL_STATE);
  driver_told("captures already");
  OK(cu.cuEventRecord(event, two));
  assert_int_equal(cu.cuStreamWaitEvent(one, event, 0), CUDA_STREAM_CAPTURE_MERGE);
  driver_told("another capture waits");
  assert_int_equal(cu.cuStreamEndCapture(two, &graph), CUDA_STREAM_CAPTURE_INVALIDATED);
  assert_invalid();
  assert_int_equal(cu.cuStreamEndCapture(one, &graph), CUDA_ILLEGAL_STATE);
  driver_told("does not capture");
  assert_int_equal(cu.cuStreamBeginCapture_v2(NULL, CUDA_CAPTURE_RELAXED), CUDA_STREAM_CAPTURE_UNSUPPORTED);
  driver_told("cannot capture");
}

TEST_WITH(blocking_streams_capture_alone, setup, teardown)
{
  cuda_stream blocking;
  cuda_graph graph;
  OK(cu.cuStreamCreate(&blocking, 0));
  OK(cu.cuStreamBeginCapture_v2(blocking, CUDA_CAPTURE_RELAXED));
  assert_int_equal(cu.cuMemsetD32Async(memory, 1, 1, NULL), CUDA_STREAM_CAPTURE_IMPLICIT);
  driver_told("the stream without a handle");
  assert_int_equal(cu.cuStreamEndCapture(blocking, &graph), CUDA_STREAM_CAPTURE_INVALIDATED);
  begin();
  OK(cu.cuMemsetD32Async(memory, 1, 1, NULL)); /* which waits for no stream that does not block */
  OK(cu.cuGraphExecDestroy(instantiate()));
  OK(cu.cuStreamDestroy_v2(blocking));
  OK(cu.cuCtxSynchronize());
}

TEST_MAIN(driver_open, NULL)
