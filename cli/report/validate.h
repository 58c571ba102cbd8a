/* Translation validation (-tv): executes the module before and after each run of a pass on generated inputs, and compares the
 * results.
 *
 * Agreement is not a proof, so each verdict names the number of inputs.  Behaviour that the source language leaves undefined is not
 * a fault of a pass.  The verdict on an input is "unproved" if the module before the run has undefined behaviour or a data race,
 * does not end, or may depend on the order of atomics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_VALIDATE_H
#define VYRE_CLI_REPORT_VALIDATE_H

#include "cli/tool_options.h"

/* The state of one run of the pipeline.  validator_end frees it. */
typedef struct validator {
  uint64_t inputs;     /* number of inputs */
  vyre_bytes *said;    /* for process_print */
  vyre_module *before; /* owned copy of the module before the run */
} validator;

/* Call it at the start and after each run.  Returns INPUT if the run is incorrect. */
VYRE_MUST_USE vyre_status validator_observe(validator *v, const vyre_observation *at);
void validator_end(validator *v);

#endif
