/* The part of the CUDA driver API that the target uses and the simulator implements. Types and numbers are those of a 64-bit
 * host, with the ABI of drivers for CUDA 11.8 and later.
 *
 * The declarations are vyre's own, so that a build needs no file of NVIDIA. If CMake finds cuda.h, unittests/cuda/api_check.c
 * compares both. Except for functions, the names differ from NVIDIA's, so that both headers can be included together. symbols.def
 * lists the functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_CUDA_API_API_H
#define VYRE_TARGETS_CUDA_API_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_device; /* an ordinal, not an object */
typedef uint64_t cuda_address;
typedef struct cuda_context_object *cuda_context;
typedef struct cuda_module_object *cuda_module;
typedef struct cuda_function_object *cuda_function;
typedef struct cuda_link_object *cuda_link;
typedef struct cuda_stream_object *cuda_stream;
typedef struct cuda_event_object *cuda_event;
typedef struct cuda_graph_object *cuda_graph;
typedef struct cuda_graph_node_object *cuda_graph_node; /* exists as long as its graph */
typedef struct cuda_graph_exec_object *cuda_graph_exec;

typedef struct cuda_uuid {
  char bytes[16];
} cuda_uuid;

/* The codes that the target or the simulator uses; a driver has more. */
typedef enum cuda_result {
  CUDA_OK = 0,
  CUDA_INVALID_VALUE = 1,
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_NOT_INITIALIZED = 3,
  CUDA_DEINITIALIZED = 4,
  CUDA_STUB_LIBRARY = 34,
  CUDA_CALL_REQUIRES_NEWER_DRIVER = 36,
  CUDA_DEVICE_UNAVAILABLE = 46,
  CUDA_NO_DEVICE = 100,
  CUDA_INVALID_DEVICE = 101,
  CUDA_INVALID_IMAGE = 200,
  CUDA_INVALID_CONTEXT = 201,
  CUDA_MAP_FAILED = 205,
  CUDA_NO_BINARY_FOR_GPU = 209,
  CUDA_NOT_MAPPED = 211,
  CUDA_ECC_UNCORRECTABLE = 214,
  CUDA_UNSUPPORTED_LIMIT = 215,
  CUDA_INVALID_PTX = 218,
  CUDA_JIT_COMPILER_NOT_FOUND = 221,
  CUDA_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_JIT_COMPILATION_DISABLED = 223,
  CUDA_INVALID_SOURCE = 300,
  CUDA_OPERATING_SYSTEM = 304,
  CUDA_INVALID_HANDLE = 400,
  CUDA_ILLEGAL_STATE = 401,
  CUDA_NOT_FOUND = 500,
  CUDA_NOT_READY = 600,
  CUDA_ILLEGAL_ADDRESS = 700,
  CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_LAUNCH_TIMEOUT = 702,
  CUDA_CONTEXT_IS_DESTROYED = 709,
  CUDA_ASSERT = 710,
  CUDA_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_HARDWARE_STACK_ERROR = 714,
  CUDA_ILLEGAL_INSTRUCTION = 715,
  CUDA_MISALIGNED_ADDRESS = 716,
  CUDA_INVALID_ADDRESS_SPACE = 717,
  CUDA_INVALID_PC = 718,
  CUDA_LAUNCH_FAILED = 719,
  CUDA_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_NOT_PERMITTED = 800,
  CUDA_NOT_SUPPORTED = 801,
  CUDA_SYSTEM_NOT_READY = 802,
  CUDA_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
  CUDA_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_STREAM_CAPTURE_MERGE = 902,
  CUDA_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_STREAM_CAPTURE_ISOLATION = 905,
  CUDA_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_CAPTURED_EVENT = 907,
  CUDA_STREAM_CAPTURE_WRONG_THREAD = 908,
  CUDA_TIMEOUT = 909,
  CUDA_GRAPH_EXEC_UPDATE_FAILURE = 910,
  CUDA_UNKNOWN = 999,
} cuda_result;

typedef enum cuda_device_attribute {
  CUDA_MAX_THREADS_PER_BLOCK = 1,
  CUDA_MAX_BLOCK_X = 2,
  CUDA_MAX_BLOCK_Y = 3,
  CUDA_MAX_BLOCK_Z = 4,
  CUDA_MAX_GRID_X = 5,
  CUDA_MAX_GRID_Y = 6,
  CUDA_MAX_GRID_Z = 7,
  CUDA_MAX_SHARED_PER_BLOCK = 8, /* without opting in to more */
  CUDA_WARP_SIZE = 10,
  CUDA_MULTIPROCESSORS = 16,
  CUDA_INTEGRATED = 18,
  CUDA_CAN_MAP_HOST_MEMORY = 19,
  CUDA_COMPUTE_MODE = 20,
  CUDA_MEMORY_CLOCK = 36, /* kHz; 0 if the driver does not report it */
  CUDA_MEMORY_BUS = 37,   /* bits */
  CUDA_L2_CACHE = 38,     /* bytes */
  CUDA_UNIFIED_ADDRESSING = 41,
  CUDA_CAPABILITY_MAJOR = 75,
  CUDA_CAPABILITY_MINOR = 76,
  CUDA_REGISTERS_PER_MULTIPROCESSOR = 82,
  CUDA_COOPERATIVE_LAUNCH = 95,
  CUDA_HOST_REGISTER_SUPPORTED = 99,
} cuda_device_attribute;

typedef enum cuda_compute_mode {
  CUDA_MODE_DEFAULT = 0,
  CUDA_MODE_PROHIBITED = 2,
  CUDA_MODE_EXCLUSIVE_PROCESS = 3
} cuda_compute_mode;

typedef enum cuda_function_attribute {
  CUDA_FUNCTION_MAX_THREADS = 0, /* of a block, limited by the function's registers */
  CUDA_FUNCTION_SHARED = 1,      /* bytes, static */
  CUDA_FUNCTION_LOCAL = 3,       /* bytes of a thread */
  CUDA_FUNCTION_REGISTERS = 4,   /* of a thread */
} cuda_function_attribute;

/* How the value of a JIT option is passed: as a pointer, or as a number in the pointer's bits. */
typedef enum cuda_jit_option {
  CUDA_JIT_INFO_LOG = 3,       /* char * */
  CUDA_JIT_INFO_LOG_SIZE = 4,  /* number; output: written bytes */
  CUDA_JIT_ERROR_LOG = 5,      /* char * */
  CUDA_JIT_ERROR_LOG_SIZE = 6, /* number; output: written bytes */
} cuda_jit_option;

typedef enum cuda_jit_input { CUDA_JIT_INPUT_CUBIN = 0, CUDA_JIT_INPUT_PTX = 1 } cuda_jit_input;

typedef enum cuda_capture_mode {
  CUDA_CAPTURE_GLOBAL = 0,
  CUDA_CAPTURE_THREAD_LOCAL = 1,
  CUDA_CAPTURE_RELAXED = 2
} cuda_capture_mode;

typedef enum cuda_capture_status {
  CUDA_CAPTURE_NONE = 0,
  CUDA_CAPTURE_ACTIVE = 1,
  CUDA_CAPTURE_INVALIDATED = 2
} cuda_capture_status;

enum {
  CUDA_CONTEXT_AUTO = 0,        /* of cuCtxCreate_v2: waiting spins or yields, depending on the host's load */
  CUDA_CONTEXT_MAP_HOST = 8,    /* implied since CUDA 11.0 */
  CUDA_STREAM_NON_BLOCKING = 1, /* of cuStreamCreate */
  CUDA_EVENT_DEFAULT = 0,       /* of cuEventCreate: with timing */
  CUDA_EVENT_NO_TIME = 2,       /* of cuEventCreate: without timing */
  CUDA_HOST_ALLOC_PORTABLE = 1, /* of cuMemHostAlloc: pinned in every context */
  CUDA_HOST_ALLOC_MAPPED = 2,   /* of cuMemHostAlloc: accessible to kernels */
  CUDA_HOST_REGISTER_PORTABLE = 1,
  CUDA_HOST_REGISTER_MAPPED = 2,
};

/* A launch in a graph (CUDA_KERNEL_NODE_PARAMS_v1). The call copies the values that `parameters` points to. */
typedef struct cuda_kernel_node {
  cuda_function function;
  unsigned int grid[3], block[3];
  unsigned int dynamic_shared;
  void **parameters;
  void **extra;
} cuda_kernel_node;

/* Types of the functions: cuda_function_cuInit and so on. */
#define CUDA_SYM(name, parameters) typedef cuda_result cuda_function_##name parameters;
#include "symbols.def"

/* Pointers to the functions, by name. */
typedef struct cuda_api {
#define CUDA_SYM(name, parameters) cuda_function_##name *name;
#include "symbols.def"
} cuda_api;

/* The simulator: its file beside vyre's own library, and a symbol that identifies it, because no driver has it. */
#define CUDA_SIM_LIBRARY "libvyre-cuda-sim.so"
#define CUDA_SIM_SYMBOL  "vyre_cuda_sim_is_here"

#endif
