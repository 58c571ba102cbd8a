/* -target=auto: chooses by estimated cost whether a sequence runs as plain C on the CPU or on the device.
 *
 * On the CPU a pass costs as many nanoseconds a row as in its last run.  On the device a sequence costs a wait, its launches, its
 * uploads and readbacks, levels if they are not valid, and a constant for each row that a phase visits.  The constants are measured
 * when the device is opened, and the last one again after each sequence.  Sequences that are estimated at less than 1 ms always run
 * on the CPU.  The device is opened when the estimates of the others add up to the time that opening a device may take.  So small
 * modules do not pay for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_CHOOSE_H
#define VYRE_PASSMGR_RESIDENT_CHOOSE_H

#include "passmgr/registry/registry.h"
#include "resident.h"
#include "vyre/view.h"

/* The passes of a sequence, those of all its rounds.  All rounds are assumed to run in either place. */
typedef struct choice {
  const vyre_pass_record *const *passes;
  uint32_t count, rounds;
} choice;

/* Returns whether the device can run the passes as one sequence, and may be faster.  May open the device.  `has_levels` is whether
 * the module has valid levels.  If not, the estimate has their cost and assumes one level, so levels are only computed if the
 * device may win. */
bool vyre_choose_may(vyre_device *device, const choice *what, vyre_module *module, bool has_levels);
/* Returns whether to run the passes on the device, after vyre_choose_may returned true.  The view must have levels. */
bool vyre_choose(vyre_device *device, const choice *what, vyre_module *module);
/* Record the nanoseconds that a pass needed on the CPU, and that the sequence of the last vyre_choose needed on the device.  A
 * failed allocation loses the measurement. */
void vyre_choose_learn_here(vyre_device *device, const vyre_pass_record *record, uint32_t rows, uint64_t ns);
void vyre_choose_learn_there(vyre_device *device, uint64_t ns);

#endif
