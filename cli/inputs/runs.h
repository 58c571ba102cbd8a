/* The choice of a pipeline's runs to execute: runs by number, and passes to skip by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_RUNS_H
#define VYRE_CLI_INPUTS_RUNS_H

#include "vyre/passmgr.h"

enum { RUNS_MOST_RANGES = 64 };

typedef struct run_range {
  uint64_t first, last; /* inclusive */
} run_range;

typedef struct run_choice {
  run_range ranges[RUNS_MOST_RANGES];
  uint32_t range_count;     /* 0 if every run is chosen */
  const char *const *skips; /* canonical names of passes, borrowed */
  uint32_t skip_count;
  bool is_bounded;
  uint64_t last; /* if is_bounded, the last run to execute */
} run_choice;

/* Parses "1-3,5,8-": runs 1 to 3, 5, and all from 8 on.  "0" chooses no run.  Returns USAGE for a wrong text. */
VYRE_MUST_USE vyre_status runs_parse(const char *text, run_choice *out);
/* The callback wants_run of vyre_pipeline_options.  `user` is a run_choice. */
bool runs_select(void *user, uint64_t number, const char *pass);

#endif
