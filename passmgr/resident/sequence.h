/* A run of GPU passes as one sequence on a device: what the device needs goes up, all their steps run, what they changed comes
 * down.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_SEQUENCE_H
#define VYRE_PASSMGR_RESIDENT_SEQUENCE_H

#include "passmgr/registry/context.h"
#include "resident.h"

/* The contexts' passes, in this order: all of them are prepared (vyre_phases_begin), and are to be finished when this is done.
 * A device that is lost is made anew, once, and all begins again.  *out_fits is false where the device has no room for so many
 * rows, or where it was chosen and lost twice, and is closed: then nothing was done. */
VYRE_MUST_USE vyre_status vyre_sequence_run(vyre_device *device, vyre_context *contexts, uint32_t count, const vyre_module *module,
                                            bool *out_fits);

#endif
