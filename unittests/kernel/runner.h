/* Sequences of kernel files on the Vulkan target.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_RUNNER_H
#define VYRE_UNITTESTS_RUNNER_H

#include "plan.h"
#include "vyre/target.h"

/* What runs kernels: a device; or the interpreter, which stops at data races and at accesses out of bounds. */
typedef struct runner {
  vyre_target *target; /* NULL: the interpreter */
  kernel_device order;
  vyre_kernel kernels[ORDER__COUNT];
} runner;

typedef struct runner_pass {
  const phases *p;
  kernel_device device;
  vyre_kernel *kernels; /* by kernel of the device */
} runner_pass;

typedef struct runner_figures {
  uint32_t submits, launches;
  uint64_t device_ns, host_ns;
} runner_figures;

/* `options` NULL: the interpreter. */
void runner_open(runner *r, const vyre_target_options *options);
void runner_close(runner *r);
void runner_load(runner *r, phases *p, runner_pass *out);
void runner_unload(runner *r, runner_pass *pass);
/* Runs the sequence on that memory, which becomes what the device made of it; `v` has levels. */
void runner_run(runner *r, const runner_pass *pass, phases_memory *m, const vyre_view *v, bool by_program, runner_figures *figures);
/* Makes the order alone (BY_DEPTH, BY_PROGRAM), for a test to look at: to be freed; `out_order` and `out_starts` have an element a
 * row and one more, `out_firsts` one a program and one more. */
void runner_order(runner *r, const vyre_view *v, uint32_t which, uint32_t **out_order, uint32_t **out_starts,
                  uint32_t **out_firsts);

#endif
