/* What tests and users tell the simulated driver, and ask it, beside the driver's own entry points: found by dlsym in
 * CUDA_SIM_LIBRARY (api.h), as a target finds those.
 *
 * Read from the environment when cuInit is called and no context is there:
 *   VYRE_CUDA_SIM_SM          75, 80, 86, 87, 89, 90, 100 or 120: what the devices are; 80
 *   VYRE_CUDA_SIM_DEVICES     how many there are, at most 8; 1.  Of 0 cuInit says that there is no device
 *   VYRE_CUDA_SIM_DRIVER      the version that the driver says, as 11080 (CUDA 11.8); what the device needs, 11.8 at least
 *   VYRE_CUDA_SIM_PROCESSORS  multiprocessors of a device; 4
 *   VYRE_CUDA_SIM_MEMORY      bytes of a device's memory; 4 GiB
 *   VYRE_CUDA_SIM_SEED        of every order that is drawn; 1
 *   VYRE_CUDA_SIM_STICKY      `process`: after a sticky error no new context can be had; `context`, the default: one can
 *   VYRE_CUDA_SIM_WATCHDOG    seconds after which a kernel counts as hanging; 0, the default: never
 *   VYRE_CUDA_SIM_FAIL        NAME:NUMBER:CODE, as vyre_cuda_sim_fail has them
 *
 * Threads: any, also while others are in the driver.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_SIMULATOR_H
#define VYRE_CUDA_SIM_SIMULATOR_H

#include "targets/cuda/api/api.h"

#include <stdbool.h>

/* vyre_cuda_sim_fail: the call of that name fails with this code: the one of that number, counted from now from 1 on, or each one
 * for 0.  It does nothing then.  What kernels, copies and fills come to when they run are the names "run:kernel", "run:copy" and
 * "run:fill".  Errors that stick (700, 716 and so on) stick when they are told so, too.  name NULL or "": none fails.  False: there
 * is no such name. */
typedef bool vyre_cuda_sim_fail_function(const char *name, uint64_t number, cuda_result code);
/* vyre_cuda_sim_has_failed: a call failed because it was told so, since vyre_cuda_sim_fail. */
typedef bool vyre_cuda_sim_has_failed_function(void);

/* vyre_cuda_sim_count: since vyre_cuda_sim_clear, calls of that entry point or name of vyre_cuda_sim_fail, also those that failed,
 * or what sim/counters.def has; UINT64_MAX: there is no such name. */
typedef uint64_t vyre_cuda_sim_count_function(const char *name);

/* vyre_cuda_sim_messages: what was done wrong since vyre_cuda_sim_clear: lines of text, each with the rule that was broken; "":
 * nothing.  They are on the error stream, too.  The text stays until the next call of these two; what streams do only afterwards is
 * not in it. */
typedef const char *vyre_cuda_sim_messages_function(void);
typedef void vyre_cuda_sim_clear_function(void);

/* vyre_cuda_sim_blocks: how many blocks of so many threads with so many registers each, and with so many bytes of shared memory, a
 * multiprocessor of that architecture holds at once.  0: none, or the simulator does not know the architecture. */
typedef uint32_t vyre_cuda_sim_blocks_function(uint32_t sm, uint32_t registers, uint32_t threads, uint32_t shared);

#endif
