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
  bool is_hashed;          /* the hashes are those of the module */
  bool *done, *leaves;     /* owned; by program: done; done since this round */
  uint64_t *hashes;        /* owned; by program: the hash of its rows before the round; NULL with by_branches */
  uint32_t *changed;       /* owned; by program: the number of changing rounds of a sequence */
  run_aside *outer;        /* r->aside at the begin */
} vyre_retirement;

/* Begins a fixpoint.  Seals the module, unless by_branches.  vyre_retirement_end must follow if the status is VYRE_OK. */
VYRE_MUST_USE vyre_status vyre_retirement_begin(run *r, bool by_branches, vyre_retirement *out);
/* Hashes the programs before a round.  Must be called before each round that vyre_retirement_end_round ends. */
void vyre_retirement_begin_round(vyre_retirement *retirement);
/* Does the same as vyre_retirement_end_round after each of the rounds of a sequence.  retirement->changed has the number of rounds
 * that changed each program.  `leave` applies to the last round. */
VYRE_MUST_USE vyre_status vyre_retirement_end_rounds(vyre_retirement *retirement, uint32_t rounds, bool again, bool leave,
                                                     bool *out_again);
/* Finds the programs that are done after a round, or before the first one with by_branches.  *out_again is whether some are not. If
 * `leave` is set, sets the others aside.
 */
VYRE_MUST_USE vyre_status vyre_retirement_end_round(vyre_retirement *t, bool leave, bool *out_again);
/* Puts all programs back, unless a pass failed. */
VYRE_MUST_USE vyre_status vyre_retirement_end(vyre_retirement *t, bool is_good);

#endif
