/* The list of targets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/target.h"

#define TARGET(name) &vyre_target_##name,
const vyre_target_ops *const vyre_targets[] = {VYRE_TARGET_LIST NULL}; /* from CMakeLists.txt */

const vyre_target_ops *
vyre_target_find(const char *name)
{
  for (const vyre_target_ops *const *at = vyre_targets; *at; at++)
    if (strcmp((*at)->name, name) == 0)
      return *at;
  return NULL;
}
