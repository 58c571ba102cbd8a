/* The simulator's PTX: text becomes a module, whose kernels run instruction by instruction over memory that the caller has.
 *
 * Written from NVIDIA's PTX ISA document and from nothing else; what it does not know is refused by name and line, and so is what
 * `.version` or `.target` does not have.  It is not kind (README.md in this folder): the order of lanes, blocks and weak accesses
 * is drawn from a seed, registers and shared memory start poisoned.
 *
 * Threads: a module is not changed by launches, which may run at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_H
#define VYRE_CUDA_SIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

/* Parses and checks the text for a device of that architecture (75, 80, ...) and a driver that knows PTX to that version
 * (major * 10 + minor).  NULL: it is refused, and `log`, of `log_size` bytes with its end, says "line N: ..." of the first thing
 * that is wrong. */
ptx_module *ptx_module_parse(const char *text, size_t size, uint32_t sm, uint32_t version, char *log, size_t log_size);
void ptx_module_free(ptx_module *module);

/* Variables of the module's, which are the caller's memory at launches: `.global` and `.const` ones, one after the other as
 * aligned. */
typedef struct ptx_global {
  const char *name;
  uint64_t size, align;
  const void *initial; /* `size` bytes; NULL: zero */
  bool is_const;
} ptx_global;
uint32_t ptx_global_count(const ptx_module *module);
const ptx_global *ptx_global_get(const ptx_module *module, uint32_t index);

const ptx_kernel *ptx_kernel_find(const ptx_module *module, const char *name);

typedef struct ptx_kernel_info {
  const char *name;
  uint32_t parameter_count, parameter_bytes;     /* as laid out by their sizes and alignments */
  uint32_t required[3];                          /* .reqntid; 0: any */
  uint32_t most_threads;                         /* .maxntid's product; 0: any */
  uint32_t shared_bytes, local_bytes, registers; /* static ones, of a block; of a thread; 32-bit ones of a thread, roughly */
  bool uses_dynamic_shared;
} ptx_kernel_info;
void ptx_kernel_describe(const ptx_kernel *kernel, ptx_kernel_info *out);
/* Of the parameter of that number. */
void ptx_kernel_parameter(const ptx_kernel *kernel, uint32_t index, uint32_t *out_offset, uint32_t *out_size);

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

typedef enum ptx_fault_kind {
  PTX_FAULT_NONE,
  PTX_FAULT_ADDRESS, /* outside what is there */
  PTX_FAULT_MISALIGNED,
  PTX_FAULT_TRAP,     /* the trap instruction */
  PTX_FAULT_DIVERGED, /* a barrier or .sync instruction that not all come to that it waits for */
  PTX_FAULT_RACE,     /* on shared memory */
  PTX_FAULT_HANG,     /* nothing goes on: a barrier for blocks that are not resident, a wait for nobody */
  PTX_FAULT_POISON,   /* a branch, an address or a store of what was never written */
  PTX_FAULT_STOPPED,  /* the caller wanted so */
} ptx_fault_kind;

typedef struct ptx_fault {
  ptx_fault_kind kind;
  uint32_t line; /* of the text */
  uint32_t block[3], thread[3];
  uint64_t address;
  char text[256];
} ptx_fault;

/* What a launch sees of device memory, whose addresses are below 2^60: what is above are shared and local memory as generic
 * addresses.  `find` gives where the caller has the `size` bytes at a device address, or NULL where
 * not all of them are of one live allocation that the launch may use so; it may be called from the launch's thread alone. */
typedef struct ptx_memory {
  void *user;
  void *(*find)(void *user, uint64_t address, uint64_t size, bool is_write);
  /* Whether the host has in common with the device what `find` gave last.  NULL: nothing is. */
  bool (*is_common)(void *user);
  /* Device addresses of the module's variables, in their order. */
  const uint64_t *globals;
  /* Told of each access to what `find` gave; strong: atomic, volatile, relaxed, acquire or release.  NULL: nobody asks. */
  void (*note)(void *user, uint64_t address, uint64_t size, bool is_write, bool is_strong);
} ptx_memory;

typedef struct ptx_launch {
  const ptx_kernel *kernel;
  uint32_t grid[3], block[3], dynamic_shared;
  const void *parameters; /* parameter_bytes */
  ptx_memory memory;
  bool is_cooperative; /* all blocks are resident, and may wait for each other */
  uint32_t resident;   /* else so many blocks at once, in an order of the seed's; 0: 2 */
  uint64_t seed;
  uint64_t clock_hz; /* of %globaltimer and %clock64; 0: 1 GHz, one instruction a tick */
  /* Asked now and then while it runs, with the memory's user, so that a host thread can go on or stop it.  `spins`: all lanes that
   * are left wait, some of them in loops that end only if memory changes, which only the host can do: false then is PTX_FAULT_HANG,
   * else PTX_FAULT_STOPPED.  NULL: it goes on unless it spins. */
  bool (*goes_on)(void *user, bool spins);
} ptx_launch;

typedef struct ptx_counts {
  uint64_t instructions; /* of single lanes */
  uint64_t loads, stores, atomics, barriers;
} ptx_counts;

/* Runs all of it, on the calling thread.  False: `fault` says why it ended. */
bool ptx_run(const ptx_launch *launch, ptx_counts *counts, ptx_fault *fault);

#endif
