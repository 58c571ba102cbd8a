/* Runs of passes by their numbers, and passes by their names: which of a pipeline's runs are done.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_INPUTS_RUNS_H
#define VYRE_CLI_INPUTS_RUNS_H

#include "vyre/passmgr.h"

enum { RUNS_MOST_RANGES = 64 };

typedef struct run_range {
  uint64_t first, last; /* both are in it */
} run_range;

typedef struct run_choice {
  run_range ranges[RUNS_MOST_RANGES];
  uint32_t range_count;     /* 0: every run is in one */
  const char *const *skips; /* passes by the registry's names for them; borrowed */
  uint32_t skip_count;
  bool is_bounded;
  uint64_t last; /* if it is bounded: no run after it */
} run_choice;

/* "1-3,5,8-": runs 1 to 3, 5, and from 8 on; "0": none. */
VYRE_MUST_USE vyre_status runs_parse(const char *text, run_choice *out);
/* vyre_pipeline_options.wants_run; `user` is a run_choice. */
bool runs_want(void *user, uint64_t number, const char *pass);

#endif
