/* The CPU target's own state. The device is the host's processors, memory is the host's, and a sequence runs inside the call that
 * submits it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_CPU_H
#define VYRE_TARGETS_CPU_H

#include "base.h"
#include "vyre/c.h"

enum {
  CPU_MOST_THREADS = 256,
  CPU_MOST_PARTS = 4 * CPU_MOST_THREADS, /* of a step */
  CPU_SUBGROUP = 32,                     /* the default of subgroups in C */
};

/* ---- pool.c -------------------------------------------------------------------------------------------------------------- */

/* Threads that wait for work until the pool is closed. A pool belongs to one thread at a time. */
typedef struct cpu_pool cpu_pool;

/* Opens a pool of at most CPU_MOST_THREADS threads, including the caller's. 0 means one for each processor that the process may
 * use. If a thread cannot be started, the pool has fewer. */
vyre_status cpu_pool_open(const vyre_allocator *allocator, uint32_t threads, cpu_pool **out);
void cpu_pool_close(cpu_pool *pool); /* NULL is ignored */
uint32_t cpu_pool_threads(const cpu_pool *pool);
/* Calls run(user, k) for each k below `parts`, in any order and on several threads, and returns when all calls have returned. */
void cpu_pool_run(cpu_pool *pool, uint32_t parts, void (*run)(void *user, uint32_t part), void *user);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* A binding of a kernel of form VIR: a buffer row of its program to an element of a slot. */
typedef struct cpu_binding {
  uint32_t row, element;
  uint32_t range; /* index of the step's range, or UINT32_MAX for the push constants */
} cpu_binding;

typedef struct cpu_kernel {
  target_kernel base;
  vyre_kernel_form form;
  uint64_t *push; /* owned; the step's push constants, aligned */
  /* Form C: */
  vyre_kernel_function function;
  vyre_c_buffer *buffers;  /* owned; one for each slot: the function's argument */
  vyre_c_buffer *elements; /* owned; one for each range of a step */
  /* Form VIR: */
  vyre_kernel_program program;
  vyre_spec_value *specs; /* owned */
  uint32_t spec_count;
  cpu_binding *bindings; /* owned */
  vyre_binding *bound;   /* owned; the bindings with the step's memory */
  uint32_t binding_count;
} cpu_kernel;

vyre_status cpu_check_kernel(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status cpu_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
vyre_status cpu_release(vyre_target *target, target_kernel *kernel);

/* ---- run.c --------------------------------------------------------------------------------------------------------------- */

typedef struct cpu_memory {
  unsigned char *data;
  size_t size; /* of the block that begins with this struct, or of the struct alone for the caller's memory */
} cpu_memory;

vyre_status cpu_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);

struct vyre_target {
  target_base base;
  cpu_pool *pool;
  bool validate;
};

#endif
