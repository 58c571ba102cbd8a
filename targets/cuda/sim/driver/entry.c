/* The entry points, by the names that the library exports: each is counted, may be told to fail, and has the lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#define CUDA_SYM(name, parameters) __attribute__((visibility("default"))) cuda_function_##name name;
#include "targets/cuda/api/symbols.def"
#define CUDA_SYM(name, parameters)                     \
  typedef cuda_result cuda_function_##name parameters; \
  __attribute__((visibility("default"))) cuda_function_##name name;
#include "targets/cuda/sim/driver/more_symbols.def"

enum {
  ALWAYS = 0,  /* can be called before cuInit */
  READY = 1,   /* after it */
  CONTEXT = 2, /* with a current context, whose error that sticks it returns */
  UNSAFE = 4,  /* not while a stream captures, unless the capture says so */
};

/* With the lock. */
static cuda_result
enter(sim_call call, unsigned needs)
{
  pthread_mutex_lock(&sim.lock);
  sim_called_now = call;
  const cuda_result told = sim_called(call);
  const sim_context *context = needs & CONTEXT ? sim_context_current() : NULL;
  if (told) {
    if (context)
      sim_context_fail(sim_context_current(), told);
    return told;
  }
  if (needs && !sim.is_ready)
    return SIM_REFUSE(CUDA_NOT_INITIALIZED, "%s: cuInit was not called", sim_call_name(call));
  if (!(needs & CONTEXT))
    return CUDA_OK;
  if (!context)
    return SIM_REFUSE(CUDA_INVALID_CONTEXT, "%s: the thread has no current context", sim_call_name(call));
  if (context->error)
    return context->error;
  return needs & UNSAFE ? sim_capture_unsafe() : CUDA_OK;
}

static cuda_result
leave(cuda_result result)
{
  pthread_mutex_unlock(&sim.lock);
  return result;
}

#define ENTRY(name, needs, parameters, work)            \
  cuda_result name parameters                           \
  {                                                     \
    cuda_result result = enter(SIM_CALL_##name, needs); \
    if (result == CUDA_OK)                              \
      result = work;                                    \
    return leave(result);                               \
  }

/* clang-format off */
ENTRY(cuInit, ALWAYS, (unsigned int flags), sim_init(flags))
ENTRY(cuDriverGetVersion, ALWAYS, (int *version), sim_driver_version(version))
ENTRY(cuGetErrorName, ALWAYS, (cuda_result error, const char **name), sim_error_name(error, name))
ENTRY(cuGetErrorString, ALWAYS, (cuda_result error, const char **text), sim_error_text(error, text))
ENTRY(cuDeviceGetCount, READY, (int *count), sim_device_count(count))
ENTRY(cuDeviceGet, READY, (cuda_device *device, int ordinal), sim_device_get(device, ordinal))
ENTRY(cuDeviceGetName, READY, (char *name, int length, cuda_device device), sim_device_name(name, length, device))
ENTRY(cuDeviceGetUuid_v2, READY, (cuda_uuid *uuid, cuda_device device), sim_device_uuid(uuid, device))
ENTRY(cuDeviceTotalMem_v2, READY, (size_t *bytes, cuda_device device), sim_device_memory(bytes, device))
ENTRY(cuDeviceGetAttribute, READY, (int *value, cuda_device_attribute attribute, cuda_device device),
      sim_device_attribute(value, attribute, device))

ENTRY(cuCtxCreate_v2, READY, (cuda_context *context, unsigned int flags, cuda_device device),
      sim_context_create(context, flags, device))
ENTRY(cuCtxDestroy_v2, READY, (cuda_context context), sim_context_destroy(context))
ENTRY(cuCtxPushCurrent_v2, READY, (cuda_context context), sim_context_push(context))
ENTRY(cuCtxPopCurrent_v2, READY, (cuda_context *context), sim_context_pop(context))
ENTRY(cuCtxGetCurrent, READY, (cuda_context *context), sim_context_get(context))
ENTRY(cuCtxSetCurrent, READY, (cuda_context context), sim_context_set(context))
ENTRY(cuCtxSynchronize, CONTEXT | UNSAFE, (void), sim_context_synchronize())

ENTRY(cuMemGetInfo_v2, CONTEXT, (size_t *left, size_t *total), sim_memory_info(left, total))
ENTRY(cuMemAlloc_v2, CONTEXT | UNSAFE, (cuda_address *address, size_t size), sim_allocate(address, size))
ENTRY(cuMemFree_v2, CONTEXT | UNSAFE, (cuda_address address), sim_free(address))
ENTRY(cuMemHostAlloc, CONTEXT | UNSAFE, (void **memory, size_t size, unsigned int flags),
      sim_host_allocate(memory, size, flags))
ENTRY(cuMemFreeHost, CONTEXT | UNSAFE, (void *memory), sim_host_free(memory))
ENTRY(cuMemHostRegister_v2, CONTEXT | UNSAFE, (void *memory, size_t size, unsigned int flags),
      sim_host_register(memory, size, flags))
ENTRY(cuMemHostUnregister, CONTEXT | UNSAFE, (void *memory), sim_host_unregister(memory))
ENTRY(cuMemHostGetDevicePointer_v2, CONTEXT, (cuda_address *address, void *memory, unsigned int flags),
      sim_host_address(address, memory, flags))
ENTRY(cuMemcpyHtoDAsync_v2, CONTEXT, (cuda_address to, const void *from, size_t size, cuda_stream stream),
      sim_copy_up(to, from, size, stream))
ENTRY(cuMemcpyDtoHAsync_v2, CONTEXT, (void *to, cuda_address from, size_t size, cuda_stream stream),
      sim_copy_down(to, from, size, stream))
ENTRY(cuMemcpyDtoDAsync_v2, CONTEXT, (cuda_address to, cuda_address from, size_t size, cuda_stream stream),
      sim_copy_within(to, from, size, stream))
ENTRY(cuMemcpyHtoD_v2, CONTEXT | UNSAFE, (cuda_address to, const void *from, size_t size), sim_copy_up_now(to, from, size))
ENTRY(cuMemcpyDtoH_v2, CONTEXT | UNSAFE, (void *to, cuda_address from, size_t size), sim_copy_down_now(to, from, size))
ENTRY(cuMemcpyDtoD_v2, CONTEXT | UNSAFE, (cuda_address to, cuda_address from, size_t size),
      sim_copy_within_now(to, from, size))
ENTRY(cuMemsetD8Async, CONTEXT, (cuda_address to, unsigned char value, size_t count, cuda_stream stream),
      sim_fill(to, value, 1, count, stream))
ENTRY(cuMemsetD16Async, CONTEXT, (cuda_address to, unsigned short value, size_t count, cuda_stream stream),
      sim_fill(to, value, 2, count, stream))
ENTRY(cuMemsetD32Async, CONTEXT, (cuda_address to, unsigned int value, size_t count, cuda_stream stream),
      sim_fill(to, value, 4, count, stream))

ENTRY(cuStreamCreate, CONTEXT, (cuda_stream *stream, unsigned int flags), sim_stream_create(stream, flags))
ENTRY(cuStreamDestroy_v2, CONTEXT, (cuda_stream stream), sim_stream_destroy(stream))
ENTRY(cuStreamQuery, CONTEXT, (cuda_stream stream), sim_stream_query(stream))
ENTRY(cuStreamSynchronize, CONTEXT, (cuda_stream stream), sim_stream_synchronize(stream))
ENTRY(cuStreamWaitEvent, CONTEXT, (cuda_stream stream, cuda_event event, unsigned int flags),
      sim_stream_wait(stream, event, flags))
ENTRY(cuEventCreate, CONTEXT, (cuda_event *event, unsigned int flags), sim_event_create(event, flags))
ENTRY(cuEventDestroy_v2, CONTEXT, (cuda_event event), sim_event_destroy(event))
ENTRY(cuEventRecord, CONTEXT, (cuda_event event, cuda_stream stream), sim_event_record(event, stream))
ENTRY(cuEventQuery, CONTEXT, (cuda_event event), sim_event_query(event))
ENTRY(cuEventSynchronize, CONTEXT, (cuda_event event), sim_event_synchronize(event))
ENTRY(cuEventElapsedTime, CONTEXT, (float *milliseconds, cuda_event start, cuda_event end),
      sim_event_elapsed(milliseconds, start, end))

ENTRY(cuModuleLoadDataEx, CONTEXT | UNSAFE,
      (cuda_module *module, const void *image, unsigned int count, cuda_jit_option *options, void **values),
      sim_module_load(module, image, count, options, values))
ENTRY(cuModuleLoadData, CONTEXT | UNSAFE, (cuda_module *module, const void *image),
      sim_module_load(module, image, 0, NULL, NULL))
ENTRY(cuModuleUnload, CONTEXT | UNSAFE, (cuda_module module), sim_module_unload(module))
ENTRY(cuModuleGetFunction, CONTEXT, (cuda_function *function, cuda_module module, const char *name),
      sim_module_function(function, module, name))
ENTRY(cuModuleGetGlobal_v2, CONTEXT, (cuda_address *address, size_t *size, cuda_module module, const char *name),
      sim_module_global(address, size, module, name))
ENTRY(cuFuncGetAttribute, CONTEXT, (int *value, cuda_function_attribute attribute, cuda_function function),
      sim_function_attribute(value, attribute, function))
ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, CONTEXT,
      (int *count, cuda_function function, int block, size_t dynamic_shared),
      sim_function_occupancy(count, function, block, dynamic_shared))
ENTRY(cuLinkCreate_v2, CONTEXT, (unsigned int count, cuda_jit_option *options, void **values, cuda_link *link),
      sim_link_create(count, options, values, link))
ENTRY(cuLinkAddData_v2, CONTEXT, (cuda_link link, cuda_jit_input kind, void *data, size_t size, const char *name,
                                  unsigned int count, cuda_jit_option *options, void **values),
      sim_link_add(link, kind, data, size, name, count, options, values))
ENTRY(cuLinkComplete, CONTEXT, (cuda_link link, void **cubin, size_t *size), sim_link_complete(link, cubin, size))
ENTRY(cuLinkDestroy, CONTEXT, (cuda_link link), sim_link_destroy(link))
ENTRY(cuLaunchKernel, CONTEXT,
      (cuda_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
       unsigned int block_y, unsigned int block_z, unsigned int dynamic_shared, cuda_stream stream, void **parameters,
       void **extra),
      sim_launch(function, (unsigned[]){grid_x, grid_y, grid_z}, (unsigned[]){block_x, block_y, block_z}, dynamic_shared,
                 stream, parameters, extra, false))
ENTRY(cuLaunchCooperativeKernel, CONTEXT,
      (cuda_function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
       unsigned int block_y, unsigned int block_z, unsigned int dynamic_shared, cuda_stream stream, void **parameters),
      sim_launch(function, (unsigned[]){grid_x, grid_y, grid_z}, (unsigned[]){block_x, block_y, block_z}, dynamic_shared,
                 stream, parameters, NULL, true))

ENTRY(cuStreamBeginCapture_v2, CONTEXT, (cuda_stream stream, cuda_capture_mode mode), sim_capture_begin(stream, mode))
ENTRY(cuStreamGetCaptureInfo_v2, CONTEXT,
      (cuda_stream stream, cuda_capture_status *status, uint64_t *id, cuda_graph *graph, const cuda_graph_node **last,
       size_t *last_count),
      sim_capture_info(stream, status, id, graph, last, last_count))
ENTRY(cuStreamEndCapture, CONTEXT, (cuda_stream stream, cuda_graph *graph), sim_capture_end(stream, graph))
ENTRY(cuGraphInstantiateWithFlags, CONTEXT, (cuda_graph_exec *exec, cuda_graph graph, unsigned long long flags),
      sim_graph_instantiate(exec, graph, flags))
ENTRY(cuGraphExecKernelNodeSetParams, CONTEXT,
      (cuda_graph_exec exec, cuda_graph_node node, const cuda_kernel_node *parameters),
      sim_graph_set_launch(exec, node, parameters))
ENTRY(cuGraphLaunch, CONTEXT, (cuda_graph_exec exec, cuda_stream stream), sim_graph_launch(exec, stream))
ENTRY(cuGraphExecDestroy, CONTEXT, (cuda_graph_exec exec), sim_graph_exec_destroy(exec))
ENTRY(cuGraphDestroy, CONTEXT, (cuda_graph graph), sim_graph_destroy(graph))
/* clang-format on */
