/* Runs of a pipeline over a module that is too large for a device, in parts of whole programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_PARTS_H
#define VYRE_PASSMGR_RUNNER_PARTS_H

#include "vyre/passmgr.h"

/* Runs the pipeline over each part and joins the results, if the module has several programs and more rows than a part for
 * options->device.  Otherwise sets *out_done to false, and the caller must run the pipeline over the whole module.  So it does if
 * options inspect or print the module between passes, or if a part fails or emits a diagnostic.  The module is then unchanged. */
VYRE_MUST_USE vyre_status vyre_parts_run(const vyre_pipeline *pipeline, vyre_module *module, const vyre_pipeline_options *options,
                                         bool *out_done);

#endif
