/* The list of targets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/target.h"

#ifdef _WIN32 /* docs/windows.md */
const vyre_target_ops *const vyre_targets[] = {&vyre_target_cpu, NULL};
#else
const vyre_target_ops *const vyre_targets[] = {&vyre_target_cpu, &vyre_target_vulkan, &vyre_target_cuda, NULL};
#endif

const vyre_target_ops *
vyre_target_find(const char *name)
{
  for (const vyre_target_ops *const *at = vyre_targets; *at; at++)
    if (strcmp((*at)->name, name) == 0)
      return *at;
  return NULL;
}
