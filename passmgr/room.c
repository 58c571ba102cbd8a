/* How large a module may be for a device to have it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "resident.h"

/* Over all rows, which a phase may take for a row that nothing else settles; as arena.c has it. */
#define FEW_WALKS 4u

uint32_t
vyre_device_most_rows(const vyre_device *device)
{
  return device->info.max_iterations ? device->info.max_iterations / FEW_WALKS : UINT32_MAX;
}
