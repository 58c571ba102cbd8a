/* An empty graph: a capture of nothing, by the driver's own functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "empty_graph.h"

#include <dlfcn.h>
#include <time.h>

enum { WARM = 3, CAPTURE_OF_THREAD = 1 };

/* The driver's functions that this needs, by their versioned names; each returns 0 or an error. */
static struct {
  int (*cuDeviceGet)(int *device, int number);
  int (*cuCtxCreate_v2)(void **context, unsigned flags, int device);
  int (*cuCtxDestroy_v2)(void *context);
  int (*cuStreamCreate)(void **stream, unsigned flags);
  int (*cuStreamDestroy_v2)(void *stream);
  int (*cuStreamBeginCapture_v2)(void *stream, int mode);
  int (*cuStreamEndCapture)(void *stream, void **graph);
  int (*cuGraphInstantiateWithFlags)(void **exec, void *graph, unsigned long long flags);
  int (*cuGraphLaunch)(void *exec, void *stream);
  int (*cuStreamSynchronize)(void *stream);
  int (*cuGraphExecDestroy)(void *exec);
  int (*cuGraphDestroy)(void *graph);
} call;

static bool
find_all(void *library)
{
  bool found = true;
#define FIND(name) found = (*(void **)(void *)&call.name = dlsym(library, #name)) != NULL && found
  FIND(cuDeviceGet);
  FIND(cuCtxCreate_v2);
  FIND(cuCtxDestroy_v2);
  FIND(cuStreamCreate);
  FIND(cuStreamDestroy_v2);
  FIND(cuStreamBeginCapture_v2);
  FIND(cuStreamEndCapture);
  FIND(cuGraphInstantiateWithFlags);
  FIND(cuGraphLaunch);
  FIND(cuStreamSynchronize);
  FIND(cuGraphExecDestroy);
  FIND(cuGraphDestroy);
#undef FIND
  return found;
}

static uint64_t
now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static int
measure(void *stream, void *exec, uint32_t rounds, uint64_t *times)
{
  int error = 0;
  for (uint32_t i = 0; i < rounds + WARM && !error; i++) {
    const uint64_t start = now();
    error = call.cuGraphLaunch(exec, stream);
    error = error ? error : call.cuStreamSynchronize(stream);
    times[i < WARM ? 0 : i - WARM] = now() - start;
  }
  return error;
}

vyre_status
bench_empty_graph(bool is_simulated, uint32_t device, uint32_t rounds, uint64_t *times)
{
  void *library = dlopen(is_simulated ? "libvyre-cuda-sim.so" : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *context = NULL,
       *stream = NULL, *graph = NULL, *exec = NULL;
  int handle, error;
  if (!library || !find_all(library))
    return VYRE_ERROR(VYRE_CODE_DEVICE, "an empty graph: the driver's library, or a function of it, is not there\n"
                                        "Fix: open the CUDA target first");
  error = call.cuDeviceGet(&handle, (int)device);
  error = error ? error : call.cuCtxCreate_v2(&context, 0, handle);
  error = error ? error : call.cuStreamCreate(&stream, 0);
  error = error ? error : call.cuStreamBeginCapture_v2(stream, CAPTURE_OF_THREAD);
  error = error ? error : call.cuStreamEndCapture(stream, &graph);
  error = error ? error : call.cuGraphInstantiateWithFlags(&exec, graph, 0);
  error = error ? error : measure(stream, exec, rounds, times);
  if (exec)
    call.cuGraphExecDestroy(exec);
  if (graph)
    call.cuGraphDestroy(graph);
  if (stream)
    call.cuStreamDestroy_v2(stream);
  if (context)
    call.cuCtxDestroy_v2(context);
  dlclose(library);
  return error ? VYRE_ERROR(VYRE_CODE_DEVICE, "an empty graph: the driver returns %d\nFix: see what CUresult that is", error)
               : VYRE_OK;
}
