/* The simulator's PTX: parses a text to a module, and interprets its kernels over the caller's memory.
 *
 * The only source is NVIDIA's PTX ISA document. Unknown PTX, and PTX that `.version` or `.target` does not allow, is rejected with
 * its name and line. The order of lanes, blocks and weak accesses is drawn from a seed. Registers and shared memory start poisoned
 * (README.md in this folder).
 *
 * Threads: launches do not change a module, and may run at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_H
#define VYRE_CUDA_SIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

/* Parses and checks a text for a device of architecture `sm` (75, 80, ...) and a driver that supports PTX up to `version`
 * (major * 10 + minor). Returns NULL on an error and stores "line N: ..." in `log`, at most `log_size` bytes with the
 * terminator. */
ptx_module *ptx_module_parse(const char *text, size_t size, uint32_t sm, uint32_t version, char *log, size_t log_size);
void ptx_module_free(ptx_module *module);

/* A `.global` or `.const` variable of the module. The caller provides its memory for launches. */
typedef struct ptx_global {
  const char *name;
  uint64_t size, align;
  const void *initial; /* `size` bytes, or NULL for zeros */
  bool is_const;
} ptx_global;
uint32_t ptx_global_count(const ptx_module *module);
const ptx_global *ptx_global_get(const ptx_module *module, uint32_t index);

const ptx_kernel *ptx_kernel_find(const ptx_module *module, const char *name);

typedef struct ptx_kernel_info {
  const char *name;
  uint32_t parameter_count, parameter_bytes; /* bytes include the padding for alignment */
  uint32_t required[3];                      /* .reqntid, or 0 for any */
  uint32_t most_threads;                     /* product of .maxntid, or 0 for any */
  uint32_t shared_bytes;                     /* static shared memory of a block */
  uint32_t local_bytes;                      /* local memory of a thread */
  uint32_t registers;                        /* estimated 32-bit registers of a thread */
  bool uses_dynamic_shared;
} ptx_kernel_info;
void ptx_kernel_describe(const ptx_kernel *kernel, ptx_kernel_info *out);
/* Stores a parameter's offset and size. */
void ptx_kernel_parameter(const ptx_kernel *kernel, uint32_t index, uint32_t *out_offset, uint32_t *out_size);

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

typedef enum ptx_fault_kind {
  PTX_FAULT_NONE,
  PTX_FAULT_ADDRESS, /* outside of memory, or outside of a branch table */
  PTX_FAULT_MISALIGNED,
  PTX_FAULT_TRAP,     /* a trap or brkpt instruction */
  PTX_FAULT_DIVERGED, /* a barrier or .sync instruction that some of its lanes do not reach */
  PTX_FAULT_RACE,     /* on shared memory */
  PTX_FAULT_HANG,     /* no progress, such as a wait for a block that is not resident; also out of host memory */
  PTX_FAULT_POISON,   /* a guard, an address, a store or a barrier depends on data that was never written */
  PTX_FAULT_STOPPED,  /* by the caller */
} ptx_fault_kind;

typedef struct ptx_fault {
  ptx_fault_kind kind;
  uint32_t line; /* line of the text */
  uint32_t block[3], thread[3];
  uint64_t address;
  char text[256];
} ptx_fault;

/* Device memory of a launch. Device addresses are below 2^60; generic addresses above are shared, local and parameter memory. */
typedef struct ptx_memory {
  void *user;
  /* Returns the host address of `size` bytes at a device address. Returns NULL unless all are in one live allocation that the
   * launch may access this way. Called only from the launch's thread. */
  void *(*find)(void *user, uint64_t address, uint64_t size, bool is_write);
  /* Returns whether the host shares the memory that `find` returned last. If NULL, it shares none. */
  bool (*is_common)(void *user);
  /* Device addresses of the module's variables, in their order. */
  const uint64_t *globals;
  /* Receives each access to memory that `find` returned, or NULL. Strong: atomic, volatile, relaxed, acquire or release. */
  void (*note)(void *user, uint64_t address, uint64_t size, bool is_write, bool is_strong);
} ptx_memory;

typedef struct ptx_launch {
  const ptx_kernel *kernel;
  uint32_t grid[3], block[3], dynamic_shared;
  const void *parameters; /* parameter_bytes */
  ptx_memory memory;
  bool is_cooperative; /* all blocks are resident, and may wait for each other */
  uint32_t resident;   /* otherwise, blocks that are resident at once, in an order drawn from the seed; 0 for 2 */
  uint64_t seed;
  uint64_t clock_hz; /* frequency for %globaltimer, or 0 for 1 GHz; each instruction is a tick */
  /* Returns whether to continue. Called at intervals with the memory's user, so that the caller can stop the launch. `spins`: all
   * lanes wait, and only a change of memory by the host can end their loops. Then false ends the launch with PTX_FAULT_HANG,
   * otherwise with PTX_FAULT_STOPPED. If NULL, the launch continues until it spins. */
  bool (*goes_on)(void *user, bool spins);
} ptx_launch;

typedef struct ptx_counts {
  uint64_t instructions; /* counted for each lane */
  uint64_t loads, stores, atomics, barriers;
} ptx_counts;

/* Runs a launch to its end on the calling thread. On a fault, returns false and stores it. */
bool ptx_run(const ptx_launch *launch, ptx_counts *counts, ptx_fault *fault);

#endif
