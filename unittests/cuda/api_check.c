/* Compares api.h and symbols.def to NVIDIA's cuda.h if it is installed.  This file is compiled and never linked.
 *
 * Macros replace our types by the types of the API.  Each function's type must then be the one that cuda.h declares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define __CUDA_API_VERSION_INTERNAL 1 /* declares all versions of each function */
#include <cuda.h>

#include "targets/cuda/api/api.h"

#define SAME_SIZE(ours, theirs) \
  _Static_assert(sizeof(ours) == sizeof(theirs) && _Alignof(ours) == _Alignof(theirs), #ours " differs from " #theirs)
#define SAME_VALUE(ours, theirs) _Static_assert((unsigned)(ours) == (unsigned)(theirs), #ours " is not " #theirs)
#define SAME_PLACE(ours, theirs)                                                                   \
  _Static_assert(offsetof(cuda_kernel_node, ours) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, theirs), \
                 "a kernel node's " #ours " has another offset than " #theirs)

SAME_SIZE(cuda_device, CUdevice);
SAME_SIZE(cuda_address, CUdeviceptr);
SAME_SIZE(cuda_uuid, CUuuid);
SAME_SIZE(cuda_result, CUresult);
SAME_SIZE(cuda_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1);
SAME_PLACE(function, func);
SAME_PLACE(grid, gridDimX);
SAME_PLACE(block, blockDimX);
SAME_PLACE(dynamic_shared, sharedMemBytes);
SAME_PLACE(parameters, kernelParams);
SAME_PLACE(extra, extra);

SAME_VALUE(CUDA_OK, CUDA_SUCCESS);
#define SIM_ERROR(name, text) SAME_VALUE(CUDA_##name, CUDA_ERROR_##name);
#include "targets/cuda/sim/driver/errors.def"
SAME_VALUE(CUDA_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(CUDA_MAX_BLOCK_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME_VALUE(CUDA_MAX_BLOCK_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
SAME_VALUE(CUDA_MAX_BLOCK_Z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME_VALUE(CUDA_MAX_GRID_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME_VALUE(CUDA_MAX_GRID_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME_VALUE(CUDA_MAX_GRID_Z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME_VALUE(CUDA_MAX_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME_VALUE(CUDA_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME_VALUE(CUDA_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(CUDA_MEMORY_CLOCK, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_VALUE(CUDA_MEMORY_BUS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_VALUE(CUDA_L2_CACHE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(CUDA_REGISTERS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME_VALUE(CUDA_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME_VALUE(CUDA_CAN_MAP_HOST_MEMORY, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
SAME_VALUE(CUDA_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
SAME_VALUE(CUDA_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
SAME_VALUE(CUDA_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(CUDA_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(CUDA_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME_VALUE(CUDA_HOST_REGISTER_SUPPORTED, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
SAME_VALUE(CUDA_MODE_DEFAULT, CU_COMPUTEMODE_DEFAULT);
SAME_VALUE(CUDA_MODE_PROHIBITED, CU_COMPUTEMODE_PROHIBITED);
SAME_VALUE(CUDA_MODE_EXCLUSIVE_PROCESS, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
SAME_VALUE(CUDA_FUNCTION_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(CUDA_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(CUDA_FUNCTION_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(CUDA_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(CUDA_JIT_INFO_LOG, CU_JIT_INFO_LOG_BUFFER);
SAME_VALUE(CUDA_JIT_INFO_LOG_SIZE, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(CUDA_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(CUDA_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(CUDA_JIT_INPUT_CUBIN, CU_JIT_INPUT_CUBIN);
SAME_VALUE(CUDA_JIT_INPUT_PTX, CU_JIT_INPUT_PTX);
SAME_VALUE(CUDA_CAPTURE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME_VALUE(CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME_VALUE(CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_VALUE(CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(CUDA_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME_VALUE(CUDA_CAPTURE_INVALIDATED, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME_VALUE(CUDA_CONTEXT_AUTO, CU_CTX_SCHED_AUTO);
SAME_VALUE(CUDA_CONTEXT_MAP_HOST, CU_CTX_MAP_HOST);
SAME_VALUE(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME_VALUE(CUDA_EVENT_DEFAULT, CU_EVENT_DEFAULT);
SAME_VALUE(CUDA_EVENT_NO_TIME, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(CUDA_HOST_ALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME_VALUE(CUDA_HOST_ALLOC_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
SAME_VALUE(CUDA_HOST_REGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE);
SAME_VALUE(CUDA_HOST_REGISTER_MAPPED, CU_MEMHOSTREGISTER_DEVICEMAP);

#define cuda_result             CUresult
#define cuda_device             CUdevice
#define cuda_address            CUdeviceptr
#define cuda_context            CUcontext
#define cuda_module             CUmodule
#define cuda_function           CUfunction
#define cuda_link               CUlinkState
#define cuda_stream             CUstream
#define cuda_event              CUevent
#define cuda_graph              CUgraph
#define cuda_graph_node         CUgraphNode
#define cuda_graph_exec         CUgraphExec
#define cuda_uuid               CUuuid
#define cuda_device_attribute   CUdevice_attribute
#define cuda_function_attribute CUfunction_attribute
#define cuda_jit_option         CUjit_option
#define cuda_jit_input          CUjitInputType
#define cuda_capture_mode       CUstreamCaptureMode
#define cuda_capture_status     CUstreamCaptureStatus
#define cuda_kernel_node        CUDA_KERNEL_NODE_PARAMS_v1
#define uint64_t                cuuint64_t
#define CUDA_SYM(name, parameters) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(name), CUresult CUDAAPI parameters), #name " has another type");
#include "targets/cuda/api/symbols.def"
#define CUDA_SYM(name, parameters) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(name), CUresult CUDAAPI parameters), #name " has another type");
#include "targets/cuda/sim/driver/more_symbols.def"
