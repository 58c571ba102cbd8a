/* The CPU target's own state.  A device is the host's processors, memory is the host's, and a sequence runs within the call that
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
  CPU_SUBGROUP = 32,                     /* as C is written, unless its options say otherwise */
};

/* ---- pool.c -------------------------------------------------------------------------------------------------------------- */

/* Threads that wait for work until the pool is closed.  It belongs to one thread at a time. */
typedef struct cpu_pool cpu_pool;

/* So many threads, the caller's among them; 0: one a processor that the process may use. */
vyre_status cpu_pool_open(const vyre_allocator *allocator, uint32_t threads, cpu_pool **out);
void cpu_pool_close(cpu_pool *pool); /* NULL is ignored */
uint32_t cpu_pool_threads(const cpu_pool *pool);
/* Calls run(user, k) for each k below `parts`, in any order and several at once, and returns when all are done. */
void cpu_pool_run(cpu_pool *pool, uint32_t parts, void (*run)(void *user, uint32_t part), void *user);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* What a kernel of form VIR binds: a buffer row of its program to an element of a slot. */
typedef struct cpu_binding {
  uint32_t row, element;
  uint32_t range; /* of the step's; UINT32_MAX: the push constants */
} cpu_binding;

typedef struct cpu_kernel {
  target_kernel base;
  vyre_kernel_form form;
  uint64_t *push; /* owned; the step's push constants, aligned */
  /* Form C: */
  vyre_kernel_function function;
  vyre_c_buffer *buffers;  /* owned; one for each slot, as the function is given them */
  vyre_c_buffer *elements; /* owned; one for each range: of slots that are arrays */
  /* Form VIR: */
  vyre_kernel_program program;
  vyre_spec_value *specs; /* owned */
  uint32_t spec_count;
  cpu_binding *bindings; /* owned */
  vyre_binding *bound;   /* owned; the same, with the step's memory */
  uint32_t binding_count;
} cpu_kernel;

vyre_status cpu_check_kernel(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status cpu_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
vyre_status cpu_release(vyre_target *target, target_kernel *kernel);

/* ---- run.c --------------------------------------------------------------------------------------------------------------- */

typedef struct cpu_memory {
  unsigned char *data;
  size_t size; /* of the block that this struct begins; of the caller's memory: of the struct alone */
} cpu_memory;

vyre_status cpu_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);

struct vyre_target {
  target_base base;
  cpu_pool *pool;
  bool validate;
  uint32_t timeout; /* seconds; 0: no limit */
};

#endif
