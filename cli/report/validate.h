/* -tv: whether each run of a pass leaves what the module computes, found by running it before and after on generated inputs.
 *
 * That proves nothing, so each verdict says on how many inputs it is.  What the source language leaves open is no fault of a pass:
 * where the module did something undefined, met a data race or did not end on an input before the run, and where the result may
 * depend on the order of atomics, the verdict on that input is "unproved".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_VALIDATE_H
#define VYRE_CLI_REPORT_VALIDATE_H

#include "cli/tool_options.h"

/* Of one run of the pipeline.  validator_end frees what it keeps. */
typedef struct validator {
  uint64_t inputs;     /* so many */
  vyre_bytes *said;    /* as process_say has it */
  vyre_module *before; /* owned: a copy of the module as it was last */
} validator;

/* At the start, and after each run that changed something.  INPUT: the run is incorrect. */
VYRE_MUST_USE vyre_status validator_look(validator *v, const vyre_look *at);
void validator_end(validator *v);

#endif
