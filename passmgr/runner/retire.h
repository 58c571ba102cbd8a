/* Removes programs without further changes from the module until the fixpoint ends, so the result for a program does not depend on
 * the other programs of the module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_RETIRE_H
#define VYRE_PASSMGR_RUNNER_RETIRE_H

#include "run.h"

typedef struct vyre_retirement {
  run *r;
  bool by_branches;        /* a program is done if it has no branch on a constant, otherwise if the round did not change it */
  uint32_t programs, left; /* programs of the module; programs that are not done */
  bool *done, *leaves;     /* owned; by program: done; done since this round */
  uint64_t *hashes;        /* owned; by program: the hash of its rows after the last round; NULL with by_branches */
  run_aside *outer;        /* r->aside at the begin */
} vyre_retirement;

/* Begins a fixpoint over the sealed module.  vyre_retirement_end must follow if the status is VYRE_OK. */
VYRE_MUST_USE vyre_status vyre_retirement_begin(run *r, bool by_branches, vyre_retirement *out);
/* Finds the programs that are done after a round.  *out_again is whether some are not.  If `leave` is set, sets the others aside.
 */
VYRE_MUST_USE vyre_status vyre_retirement_end_round(vyre_retirement *t, bool leave, bool *out_again);
/* Puts all programs back, unless a pass failed. */
VYRE_MUST_USE vyre_status vyre_retirement_end(vyre_retirement *t, bool is_good);

#endif
