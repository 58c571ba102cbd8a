/* Reduction: shrinks the program and the pipeline of a failure while it persists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_REDUCE_H
#define VYRE_TOOLS_RUN_REDUCE_H

#include "vyre/ir.h"
#include "vyre/passmgr.h"

enum { REDUCE_MOST_PIPELINE = 4096 };

typedef struct reduction {
  const vyre_registry *registry;
  /* Returns whether the failure is the same.  The program is sealed, and may be invalid. */
  bool (*fails)(void *user, const vyre_module *program, const char *pipeline);
  void *user;
} reduction;

/* Reduces *program and the text of the pipeline.  Both must fail together, and the smaller ones fail, too.  The text may become
 * empty.  Makes at most 50,000 attempts. */
VYRE_MUST_USE vyre_status vyre_reduce(const reduction *how, vyre_module **program, char pipeline[REDUCE_MOST_PIPELINE]);

#endif
