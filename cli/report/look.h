/* Looking at the module between runs of passes: what -print-... print, -dump-dir keeps, and -roundtrip-each,
 * -tv, -remarks and -html ask of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_LOOK_H
#define VYRE_CLI_REPORT_LOOK_H

#include "cli/html/page.h"
#include "cli/tool_options.h"
#include "remarks.h"
#include "validate.h"

/* Of one run of the pipeline.  look_end frees what it keeps. */
typedef struct looker {
  const tool_options *options; /* borrowed */
  const char *path;            /* of the input, for names of files; borrowed */
  vyre_bytes *said;            /* as process_say has it */
  vyre_bytes shown;            /* the module's text as it was last, with its zero byte, for -print-changed=diff and -html */
  uint64_t began;              /* when what is looked at next began; looking takes time of its own */
  validator validator;
  remarker remarker;
  pager pager;
} looker;

/* Whether somebody looks. */
bool look_is_wanted(const tool_options *options);
/* Whether something of it may be on standard error. */
bool look_is_told(const tool_options *options);
/* vyre_pipeline_options.look; `user` is a looker. */
VYRE_MUST_USE vyre_status look_at(void *user, const vyre_look *at);
/* `module`: what the last run left; NULL: the pipeline failed. */
VYRE_MUST_USE vyre_status look_end(looker *l, const vyre_module *module);

#endif
