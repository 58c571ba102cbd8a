/* Saves and restores the state of the process around calls of foreign code, such as plugins.  Windows has only the floating-point
 * environment: it has no signal masks, and no umask for the modes of files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"

void
vyre_foreign_begin(vyre_foreign_call *out)
{
  vyre_environment_enter(&out->floats);
}

void
vyre_foreign_end(const vyre_foreign_call *call)
{
  vyre_environment_leave(&call->floats);
}

uint64_t
vyre_foreign_mark(void)
{
  return 0;
}

bool
vyre_foreign_umask(uint64_t mark, uint32_t *out_umask)
{
  (void)mark;
  *out_umask = 0;
  return false;
}
