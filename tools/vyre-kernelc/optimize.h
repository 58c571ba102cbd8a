/* The optimizer of kernels for devices.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_KERNELC_OPTIMIZE_H
#define VYRE_KERNELC_OPTIMIZE_H

#include "cli/options/option_table.h"
#include "vyre/ir.h"

/* Loads the plugins, or the core passes if the list is empty. */
VYRE_MUST_USE vyre_status kernelc_optimize_begin(const name_list *plugins);
/* Runs default<O2> on the module, with the passes that were loaded. */
VYRE_MUST_USE vyre_status kernelc_optimize(vyre_module *module);
void kernelc_optimize_end(void);

#endif
