/* One run of a pipeline: what its parts share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_RUN_H
#define VYRE_PASSMGR_RUNNER_RUN_H

#include "passmgr/registry/context.h"
#include "passmgr/pipeline/pipeline.h"
#include "vyre/environment.h"

typedef struct run {
  const vyre_pipeline *pipeline;
  vyre_module *module;
  vyre_pipeline_options options;
  uint64_t number;       /* of pass runs so far */
  uint32_t fresh;        /* analyses and columns that hold */
  uint32_t preserved;    /* ... after the last call of a pass, if it changed the module */
  uint32_t fixpoints;    /* around the pass at hand */
  uint64_t changes;      /* of the module so far */
  vyre_stopwatch *watch; /* that runs */
  bool is_chosen;        /* of a device that is chosen: what is at hand goes there */
  vyre_device *host;     /* for phases that have no other device; NULL: there were none */
  uint64_t *settled;     /* by node: one more than `changes` when its pass last changed nothing; 0: it never did */
} run;

/* running.c */

/* The plugin's code runs between the two, in the run of that number.  The floating-point environment is the default one before it
 * and is restored after it, and so is the state of the process if the pass is not one of vyre's own. */
void vyre_run_enter(const vyre_pass_record *record, uint64_t number, vyre_foreign_call *out);
void vyre_run_leave(const vyre_pass_record *record, const vyre_foreign_call *call);
void vyre_run_none(void);
bool vyre_run_is_own(const vyre_pass_record *record);
/* Whether the run of that number is to be done. */
bool vyre_run_is_wanted(const run *r, const vyre_pass_record *record, uint64_t number);
/* options.print_runs */
VYRE_MUST_USE vyre_status vyre_run_print(const run *r, const vyre_node *node, uint64_t number);
/* options.print_work: a line, in two parts */
void vyre_run_tell(const run *r, const char *what, const char *of);
/* The same of analyses. */
void vyre_run_tell_dropped(const run *r, uint32_t analyses);
/* What came of a run. */
void vyre_run_tell_result(const run *r, bool changed);
void vyre_run_tell_skipped(const run *r);

/* runner.c */

/* The clock is read only if times are wanted.  Whoever starts a watch and fails without stopping it ends the run. */
void vyre_run_start(run *r, vyre_stopwatch *watch, const char *name);
/* `number` 0: it is no run of a pass. */
void vyre_run_stop(run *r, const vyre_stopwatch *watch, uint64_t number, bool changed);
/* Every column of every row: all that a pass can change but names and lines. */
uint64_t vyre_run_hash_module(const vyre_module *module);

/* What a pass gets; vyre_run_finish_call ends it. */
vyre_context vyre_run_context(run *r, const vyre_pass_record *record, const uint64_t *values);
/* What the pass returned: a status from its host, or none; else it is an error that says so. */
VYRE_MUST_USE vyre_status vyre_run_finish_call(run *r, const vyre_pass_record *record, vyre_context *context, vyre_status status);
/* Analyses and columns that it requires where it will run. */
uint32_t vyre_run_requirements(const run *r, const vyre_pass_record *record);
/* Sets is_chosen, for passes that run as one sequence. */
VYRE_MUST_USE vyre_status vyre_run_choose(run *r, const vyre_pass_record *const *passes, uint32_t count);
/* Where passes run, if there is a device. */
vyre_schedule_options vyre_run_schedule_options(const run *r);
/* Calls the pass and checks its result.  The column that it provides is fresh from here on. */
VYRE_MUST_USE vyre_status vyre_run_call(run *r, const vyre_pass_record *record, const uint64_t *values, vyre_result *out);
/* Those that do not hold are made; the module shows these and no others. */
VYRE_MUST_USE vyre_status vyre_run_make_analyses(run *r, uint32_t wanted);
/* After a change: r->preserved says what of r->fresh holds; the module is sealed. */
VYRE_MUST_USE vyre_status vyre_run_settle_change(run *r);
/* After the phases of a pass: rows that died leave their regions. */
void vyre_run_settle_rows(run *r);
/* Whether the pass, in a round of a fixpoint, would find nothing to do. */
bool vyre_run_is_settled(const run *r, const vyre_node *node);

/* One run of the pass of that node, with all that belongs to it; *out_changed is set where it changed the module. */
VYRE_MUST_USE vyre_status vyre_run_pass(run *r, uint32_t node, bool *out_changed);

/* combinators.c: all that the node has in it. */
VYRE_MUST_USE vyre_status vyre_run_children(run *r, uint32_t node, bool *out_changed);

/* twice.c: the run over a copy, before it is done; then whether it left the same. */
VYRE_MUST_USE vyre_status vyre_run_twin(run *r, const vyre_node *node, uint64_t *out_hash);
VYRE_MUST_USE vyre_status vyre_run_check_twin(const run *r, const vyre_node *node, uint64_t hash);

/* fuse.c: whether somebody looks at the module between passes. */
bool vyre_run_is_observed(const vyre_pipeline_options *options);
/* fuse.c: the passes from this node on that are one sequence on the device.  *out_next is the node after them; `node` itself if
 * there are none, and nothing was done. */
VYRE_MUST_USE vyre_status vyre_run_fused(run *r, uint32_t node, bool *out_changed, uint32_t *out_next);

#endif
