/* -target=auto: where a sequence runs is chosen by what it would cost here and there.
 *
 * Here a pass costs so many nanoseconds a row as when it last ran.  There a sequence costs a wait, its launches, the bytes that go
 * up and come down, and a little for each row that a phase visits: constants of the device, which are measured when it is opened,
 * the last one again with each sequence.  The device is opened when work that it could have had has taken as long here as opening
 * one may take.  So where there is none, or where modules are small, nothing is lost; and never more than twice the least.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_CHOOSE_H
#define VYRE_PASSMGR_RESIDENT_CHOOSE_H

#include "passmgr/registry/registry.h"
#include "resident.h"
#include "vyre/view.h"

/* Whether it may pay to run the passes, as one sequence, on the device, which it may open. */
bool vyre_choose_may(vyre_device *device, const vyre_pass_record *const *passes, uint32_t count, const vyre_view *view);
/* Then, whether it does.  The view has levels. */
bool vyre_choose(vyre_device *device, const vyre_pass_record *const *passes, uint32_t count, const vyre_view *view);
/* What a pass took here, and what the sequence took that was chosen last.  If memory runs out that is lost, and nothing fails. */
void vyre_choose_learn_here(vyre_device *device, const vyre_pass_record *record, uint32_t rows, uint64_t ns);
void vyre_choose_learn_there(vyre_device *device, uint64_t ns);

#endif
