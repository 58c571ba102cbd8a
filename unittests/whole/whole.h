/* All steps of a module, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEST_WHOLE_H
#define VYRE_TEST_WHOLE_H

#include "vyre/vyre.h"

typedef struct whole {
  const char *path;                /* of the input */
  const vyre_allocator *allocator; /* NULL for the default */
  const vyre_pipeline *shared;     /* borrowed; if NULL, the steps make a pipeline */
  vyre_diagnostics diagnostics;
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  vyre_module *module, *copy, *read;
  vyre_bytes file; /* VIR0 */
  vyre_bytes out;  /* output of all steps, in their order */
} whole;

typedef struct whole_step {
  const char *name;
  vyre_status (*run)(whole *w);
} whole_step;

/* The steps in their order.  Each step needs all earlier ones. */
extern const whole_step whole_steps[];
extern const unsigned whole_step_count;

vyre_status whole_run(whole *w); /* runs all steps; the error names the step */
void whole_free(whole *w);

#endif
