/* The way of a module through everything that takes one, step by step.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEST_WHOLE_H
#define VYRE_TEST_WHOLE_H

#include "vyre/vyre.h"

typedef struct whole {
  const char *path;                /* of the input */
  const vyre_allocator *allocator; /* NULL: the default */
  const vyre_pipeline *shared;     /* another owner's; NULL: the steps make one */
  vyre_diagnostics diagnostics;
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  vyre_module *module, *copy, *read;
  vyre_bytes file; /* VIR0 */
  vyre_bytes out;  /* what all steps made, one after the other */
} whole;

typedef struct whole_step {
  const char *name;
  vyre_status (*run)(whole *w);
} whole_step;

/* In this order; each needs those before it. */
extern const whole_step whole_steps[];
extern const unsigned whole_step_count;

vyre_status whole_run(whole *w); /* all of them; the error says in which one */
void whole_free(whole *w);

#endif
