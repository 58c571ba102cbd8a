/* Reduction: a failure stays, its program and pipeline shrink.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_REDUCE_H
#define VYRE_TOOLS_RUN_REDUCE_H

#include "vyre/ir.h"
#include "vyre/passmgr.h"

enum { REDUCE_MOST_PIPELINE = 4096 };

typedef struct reduction {
  const vyre_registry *registry;
  /* Whether it is the same failure.  The program is sealed, and need not verify. */
  bool (*fails)(void *user, const vyre_module *program, const char *pipeline);
  void *user;
} reduction;

/* *program fails with the pipeline of that text, and is replaced by one that does, too; so is the text, which may be empty then.
 * Ends after 50,000 attempts at the latest. */
VYRE_MUST_USE vyre_status vyre_reduce(const reduction *how, vyre_module **program, char pipeline[REDUCE_MOST_PIPELINE]);

#endif
