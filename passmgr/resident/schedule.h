/* Which neighbouring passes are one sequence on a device: as many as can see the table as they would if each ran alone.
 *
 * A pass follows others in a sequence if what it reads is there without the host: analyses that those before it preserve, columns
 * that a pass of the sequence provides, contents of its own memory that do not depend on what they wrote
 * (VYRE_PASS_PREPARES_EARLY), and an order of rows that still holds.  docs/gpu-passes.md, "In a sequence", has the rules for
 * authors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_SCHEDULE_H
#define VYRE_PASSMGR_RESIDENT_SCHEDULE_H

#include "passmgr/pipeline/pipeline.h"

enum { SCHEDULE_MOST = 32 }; /* passes of a sequence */

typedef struct schedule_member {
  const vyre_pass_record *record;
  uint32_t node; /* of the pipeline; 0: it provides a column that a later one requires */
  /* Of one that provides a column: what is before it leaves the column as it was, so that it is not needed where that holds. */
  bool unless_fresh;
} schedule_member;

typedef struct schedule {
  schedule_member members[SCHEDULE_MOST];
  uint32_t count, passes; /* passes: those of the pipeline */
} schedule;

/* Whether its phases can run there: on a device, or on the host's processors. */
bool vyre_schedule_fits(const vyre_pass_record *record, const vyre_schedule_options *where);
/* Analyses and columns that it requires there. */
uint32_t vyre_schedule_requirements(const vyre_pass_record *record, bool on_host);
/* The sequence that begins with this node and has as many of those after it as can be, `most` nodes at most; count 0: its pass has
 * no phases that can run there. */
void vyre_schedule_make(const vyre_pipeline *pipeline, uint32_t node, uint32_t most, vyre_schedule_options options, schedule *out);

#endif
