/* The forms of GPU passes: what runs them, and what comes of a module in each; for tests that compare them with plain C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_KERNEL_FORMS_H
#define VYRE_UNITTESTS_KERNEL_FORMS_H

#include "../pipeline.h"

#include "passmgr/resident/resident.h"

/* The target of the device that a test is of: FORMS_TARGET says another one than Vulkan, of which it is the simulator's. */
#ifndef FORMS_TARGET
#define FORMS_TARGET vyre_target_vulkan
#endif
/* A device of it, under its checks where they are to be had. */
vyre_target_options forms_options(const vyre_target_ops *target);

enum { FORMS_BOUND = 65535 };

typedef struct form {
  const char *name;
  const vyre_target_ops *target;
  uint32_t threads;
  bool fused;
  bool by_program;     /* also where the driver bounds iterations, which small programs do not come to */
  bool by_level;       /* also where the driver bounds none, by a bound that is lavapipe's */
  uint32_t workgroup;  /* of kernels by program; 0: as it is */
  uint64_t room;       /* bytes that the device takes; 0: all that it can */
  vyre_device *device; /* from forms_open */
} form;

/* Pipelines of GPU passes, alone and with others between them; NULL after the last one. */
extern const char *const forms_pipelines[];
enum { FORMS_PIPELINES = 19 };

/* Loads the core passes and those of the sweeps plugin, and opens the devices. */
void forms_open(form *forms, uint32_t count);
void forms_close(form *forms, uint32_t count);
const vyre_registry *forms_registry(void);

/* The module after the pipeline in its binary form, or the error; and the counts, but for a device's.  NULL: as plain C. */
vyre_bytes forms_run(const vyre_bytes *input, const char *text, const form *f);
/* Each form leaves what plain C leaves.  Returns whether that changed the module. */
bool forms_compare(const char *what, uint32_t seed, const vyre_bytes *input, const char *text, const form *forms, uint32_t count);

/* So many random programs; and programs of so many rows until there are so many in all.  Modules in their binary form. */
vyre_bytes forms_random(uint32_t seed, uint32_t programs);
vyre_bytes forms_grown(uint32_t rows, uint32_t rows_a_program);

#endif
