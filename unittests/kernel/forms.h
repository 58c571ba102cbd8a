/* Forms of GPU passes, that is ways to run them.  Tests compare each form to plain C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_KERNEL_FORMS_H
#define VYRE_UNITTESTS_KERNEL_FORMS_H

#include "../pipeline.h"

#include "passmgr/resident/resident.h"

/* The target of the tested device. */
#ifndef FORMS_TARGET
#define FORMS_TARGET vyre_target_vulkan
#endif
/* Returns the options of a device of the target, with validation if it is available.  For CUDA, this is the simulator's device. */
vyre_target_options forms_options(const vyre_target_ops *target);

enum { FORMS_BOUND = 65535 };

typedef struct form {
  const char *name;
  const vyre_target_ops *target;
  uint32_t threads;
  bool fused;
  bool by_program;     /* runs kernels by program, ignoring the driver's bound on iterations, which small programs do not reach */
  bool lazy;           /* reads columns back late, for any size */
  bool by_level;       /* runs kernels by level, with lavapipe's bound on iterations if the driver has no bound */
  uint32_t workgroup;  /* invocations of kernels by program; 0 for the default */
  uint64_t room;       /* most bytes of storage on the device; 0 for its limit */
  vyre_device *device; /* owned; opened by forms_open */
} form;

/* Pipelines of GPU passes, alone and with other passes between them.  The last element is NULL. */
extern const char *const forms_pipelines[];
enum { FORMS_PIPELINES = 22 };

/* Loads the core passes and the plugins sweeps and rounds, and opens the devices. */
void forms_open(form *forms, uint32_t count);
void forms_close(form *forms, uint32_t count);
const vyre_registry *forms_registry(void);

/* Returns the module after the pipeline in its binary form, or the error, followed by all counts other than the device's.  Runs
 * plain C if `f` is NULL. */
vyre_bytes forms_run(const vyre_bytes *input, const char *text, const form *f);
/* Asserts that each form has the module, the error and the counts of plain C.  Returns whether the pipeline changed the module. */
bool forms_compare(const char *what, uint32_t seed, const vyre_bytes *input, const char *text, const form *forms, uint32_t count);

/* Runs pipelines with fixpoints over random modules, alone as plain C and in batches in each form.  Asserts that they have the same
 * results, and that programs retired. */
void forms_compare_batches(uint32_t modules, const form *forms, uint32_t count);
/* Returns the first of these modules whose result in a batch differs from its result alone, as plain C, or `count`.  Runs the batch
 * as plain C if `f` is NULL.  Adds the number of retired programs to *retired. */
uint32_t forms_find_neighbour(const vyre_registry *passes, const vyre_bytes *inputs, uint32_t count, const char *text,
                              const form *f, uint64_t *retired);

/* Returns a module of random programs in its binary form. */
vyre_bytes forms_random(uint32_t seed, uint32_t programs);
/* Returns a module of generated programs in its binary form.  The module has `rows` rows or a few more. */
vyre_bytes forms_grown(uint32_t rows, uint32_t rows_a_program);

#endif
