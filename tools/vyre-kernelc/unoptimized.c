/* The first stage of vyre-kernelc, which builds the passes that the second stage optimizes with.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "optimize.h"

vyre_status
kernelc_optimize_begin(const name_list *plugins)
{
  (void)plugins;
  return VYRE_OK;
}

vyre_status
kernelc_optimize(vyre_module *module)
{
  (void)module;
  return VYRE_OK;
}

void
kernelc_optimize_end(void)
{
}
