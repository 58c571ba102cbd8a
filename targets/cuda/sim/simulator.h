/* Controls of the simulated driver: environment variables, and functions that tests find by dlsym in CUDA_SIM_LIBRARY (api.h).
 *
 * cuInit reads the environment if no context exists. cuDriverGetVersion reads it if it is called before cuInit.
 *   VYRE_CUDA_SIM_SM          architecture of the devices: 75, 80, 86, 87, 89, 90, 100 or 120; default 80
 *   VYRE_CUDA_SIM_DEVICES     number of devices, at most 8; default 1. With 0, cuInit returns CUDA_ERROR_NO_DEVICE
 *   VYRE_CUDA_SIM_DRIVER      reported driver version, such as 11080 for CUDA 11.8; default 11080, from sm_100 on 12080
 *   VYRE_CUDA_SIM_PROCESSORS  multiprocessors of a device; default 4
 *   VYRE_CUDA_SIM_MEMORY      bytes of a device's memory; default 4 GiB
 *   VYRE_CUDA_SIM_SEED        seed of every order that is drawn; default 1
 *   VYRE_CUDA_SIM_STICKY      `process`: after a sticky error, no context can be created; otherwise one can
 *   VYRE_CUDA_SIM_WATCHDOG    seconds after which a kernel counts as hanging; default 0, for never
 *   VYRE_CUDA_SIM_FAIL        NAME:NUMBER:CODE, the arguments of vyre_cuda_sim_fail
 *
 * Threads: any, also while other threads are in the driver.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_SIMULATOR_H
#define VYRE_CUDA_SIM_SIMULATOR_H

#include "targets/cuda/api/api.h"

#include <stdbool.h>

/* vyre_cuda_sim_fail: makes calls of `name` fail with `code`. They have no other effect. Only the call with that number fails,
 * counted from now with 1 for the next call, or every call if `number` is 0. The names "run:kernel", "run:copy" and "run:fill"
 * stand for the execution of kernels, copies and fills. Sticky codes (700, 716 and so on) stick. If `name` is NULL or "", no call
 * fails. Returns false if the name is unknown. */
typedef bool vyre_cuda_sim_fail_function(const char *name, uint64_t number, cuda_result code);
/* vyre_cuda_sim_has_failed: returns whether a call failed because of the last vyre_cuda_sim_fail. */
typedef bool vyre_cuda_sim_has_failed_function(void);

/* vyre_cuda_sim_count: returns a counter since vyre_cuda_sim_clear. `name` is a name of vyre_cuda_sim_fail, whose calls are counted
 * with failed ones, or a name in driver/counters.def. Returns UINT64_MAX if the name is unknown. */
typedef uint64_t vyre_cuda_sim_count_function(const char *name);

/* vyre_cuda_sim_messages: returns the messages since vyre_cuda_sim_clear, a line each, or "" if there are none. The text is valid
 * until the next call of either function. Streams may add messages later. Messages are also written to the error stream. */
typedef const char *vyre_cuda_sim_messages_function(void);
typedef void vyre_cuda_sim_clear_function(void);

/* vyre_cuda_sim_blocks: returns the number of blocks that a multiprocessor of that architecture holds at once. `registers` is for
 * each thread; `threads` and `shared` bytes are for each block. Returns 0 if no block fits or the architecture is unknown. */
typedef uint32_t vyre_cuda_sim_blocks_function(uint32_t sm, uint32_t registers, uint32_t threads, uint32_t shared);

#endif
