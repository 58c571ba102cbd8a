/* Groups neighbouring passes into sequences for a device.  Each pass of a sequence must see the table as if it ran alone.
 *
 * A pass can follow passes that write the table if the device has all of its input without the host.  The earlier passes must
 * preserve its analyses and its order of rows, and a pass of the sequence may provide its columns.  Its `prepare` must not depend
 * on their writes (VYRE_PASS_PREPARES_EARLY).  A verdict ends a sequence.  docs/gpu-passes.md, "In a sequence", has the rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_SCHEDULE_H
#define VYRE_PASSMGR_RESIDENT_SCHEDULE_H

#include "passmgr/pipeline/pipeline.h"

enum { SCHEDULE_MOST = 32 }; /* passes of a sequence */

typedef struct schedule_member {
  const vyre_pass_record *record;
  uint32_t node; /* of the pipeline; 0 for a pass that provides a column to a later one */
  /* For such a pass: earlier members preserve the column, so the pass is skipped if the column is fresh at the start. */
  bool unless_fresh;
  uint32_t round; /* from 0 */
} schedule_member;

typedef struct schedule {
  schedule_member members[SCHEDULE_MOST];
  uint32_t count, passes; /* members; members that are nodes of the pipeline */
  uint32_t rounds;
  bool checks_versions; /* rounds may lose the versions that later ones require, which the device must check */
} schedule;

/* Returns whether the phases of the pass can run on the device or CPU that `where` describes. */
bool vyre_schedule_fits(const vyre_pass_record *record, const vyre_schedule_options *where);
/* Returns the analyses and columns that the pass requires on the CPU or on a device. */
uint32_t vyre_schedule_requirements(const vyre_pass_record *record, bool on_host);
/* Makes a sequence of at most `most` rounds of the node's children.  Its rounds are 0 if fewer than two can run in one sequence.
 * The first round is the sequence that vyre_schedule_make makes. */
void vyre_schedule_rounds(const vyre_pipeline *pipeline, uint32_t node, uint32_t most, vyre_schedule_options options,
                          schedule *out);
/* Returns the most rounds of a repeat or fixpoint that may run in one sequence. */
uint32_t vyre_schedule_most_rounds(const vyre_pipeline *pipeline, uint32_t node);
/* Makes the longest sequence that begins with this node, with at most `most` nodes.  Its count is 0 if the node is not a pass with
 * phases that can run there. */
void vyre_schedule_make(const vyre_pipeline *pipeline, uint32_t node, uint32_t most, vyre_schedule_options options, schedule *out);

#endif
