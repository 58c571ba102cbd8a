/* Runs GPU passes as one sequence on a device: uploads their input, runs all steps, and reads changed memory back.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_SEQUENCE_H
#define VYRE_PASSMGR_RESIDENT_SEQUENCE_H

#include "passmgr/registry/context.h"
#include "resident.h"

enum { SEQUENCE_ROUNDS = 32 };

/* Rounds of a sequence: the same passes, several times. */
typedef struct sequence_rounds {
  uint32_t count;                 /* at least 1 */
  uint32_t ends[SEQUENCE_ROUNDS]; /* number of contexts up to the end of each round */
  bool until_unchanged;           /* a program leaves the rounds after one that does not change it */
  bool checks_versions;           /* the rounds end after one that lost versions */
  uint32_t *changed;              /* borrowed; an output with until_unchanged: by program, the number of rounds that changed it */
  uint32_t lost;                  /* an output with checks_versions: the round, from 1, that lost versions, or 0 */
} sequence_rounds;

/* Runs the contexts' passes in this order.  `rounds` is NULL for one round.  The caller must call vyre_phases_begin for each pass
 * before, and vyre_phases_end after. If the device is lost, recovers it once and starts again.  *out_fits is false, and the module
 * is unchanged, in two cases.  The device has no room for the rows, or a device that was chosen by cost was lost twice, which
 * closes the device. */
VYRE_MUST_USE vyre_status vyre_sequence_run(vyre_device *device, vyre_context *contexts, uint32_t count, sequence_rounds *rounds,
                                            vyre_module *module, bool *out_fits);

/* The gate to columns that the device provided and the host has not read back: reads those of `analyses`.  *out_missing are those
 * that the device no longer has, also because it is lost.  The caller must compute these again, without reporting. */
VYRE_MUST_USE vyre_status vyre_sequence_fetch(vyre_device *device, vyre_module *module, uint32_t analyses, vyre_report *report,
                                              uint32_t *out_missing);

#endif
