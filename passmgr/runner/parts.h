/* A module that has too many rows for a device, in parts of whole programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_PARTS_H
#define VYRE_PASSMGR_RUNNER_PARTS_H

#include "vyre/passmgr.h"

/* Runs the pipeline over each part and puts them together again, where the module has more rows than options->device takes, and
 * more programs than one.  *out_done false: nothing was done, and it is to run over the module as it is; so it is where somebody
 * looks at the module meanwhile, and where there would be something to say of a part, which is to be said of the whole. */
VYRE_MUST_USE vyre_status vyre_parts_run(const vyre_pipeline *pipeline, vyre_module *module, const vyre_pipeline_options *options,
                                         bool *out_done);

#endif
