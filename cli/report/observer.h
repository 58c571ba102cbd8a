/* Observation of the module between runs of passes, for -print-..., -dump-dir, -roundtrip-each, -tv, -remarks and -html.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_LOOK_H
#define VYRE_CLI_REPORT_LOOK_H

#include "cli/html/page.h"
#include "cli/tool_options.h"
#include "remarks.h"
#include "validate.h"

/* The state of one run of the pipeline.  look_end frees it. */
typedef struct looker {
  const tool_options *options; /* borrowed */
  const char *path;            /* the input's path, for names of files; borrowed */
  vyre_bytes *said;            /* for process_say */
  vyre_bytes shown;            /* the last text of the module, with its zero byte, for -print-changed=diff and -html */
  uint64_t began;              /* start time of the current run, without the time of observing */
  validator validator;
  remarker remarker;
  pager pager;
} looker;

/* Returns whether an option observes the module. */
bool look_is_wanted(const tool_options *options);
/* Returns whether such an option may print to standard error. */
bool look_is_told(const tool_options *options);
/* The callback `look` of vyre_pipeline_options.  `user` is a looker. */
VYRE_MUST_USE vyre_status look_at(void *user, const vyre_look *at);
/* Ends the observation.  `module` is the result of the last run, NULL if the pipeline failed. */
VYRE_MUST_USE vyre_status look_end(looker *l, const vyre_module *module);

#endif
