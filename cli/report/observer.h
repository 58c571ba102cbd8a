/* Observation of the module between runs of passes, for -print-..., -dump-dir, -roundtrip-each, -tv, -remarks and -html.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_OBSERVER_H
#define VYRE_CLI_REPORT_OBSERVER_H

#include "cli/html/page.h"
#include "cli/tool_options.h"
#include "remarks.h"
#include "validate.h"

/* The state of one run of the pipeline.  observer_end frees it. */
typedef struct observer {
  const tool_options *options; /* borrowed */
  const char *path;            /* the input's path, for names of files; borrowed */
  vyre_bytes *said;            /* for process_print */
  vyre_bytes shown;            /* the last text of the module, with its zero byte, for -print-changed=diff and -html */
  uint64_t began;              /* start time of the current run, without the time of observing */
  validator validator;
  remarker remarker;
  pager pager;
} observer;

/* Returns whether an option observes the module between runs of passes. */
bool observer_is_needed(const tool_options *options);
/* Returns whether an option that observes the module may print to standard error. */
bool observer_prints(const tool_options *options);
/* The callback `look` of vyre_pipeline_options.  `user` is an observer. */
VYRE_MUST_USE vyre_status observer_observe(void *user, const vyre_observation *at);
/* Ends the observation.  `module` is the result of the last run, NULL if the pipeline failed. */
VYRE_MUST_USE vyre_status observer_end(observer *l, const vyre_module *module);

#endif
