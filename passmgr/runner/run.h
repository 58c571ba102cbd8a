/* The state of one run of a pipeline, and the functions that its files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_RUN_H
#define VYRE_PASSMGR_RUNNER_RUN_H

#include "passmgr/registry/context.h"
#include "passmgr/pipeline/pipeline.h"
#include "vyre/batch.h"
#include "vyre/environment.h"

/* Programs that a fixpoint set aside after a round. */
typedef struct run_aside {
  vyre_aside *rows;
  struct run_aside *outer; /* those of an earlier round, or of the fixpoint around it, or NULL */
} run_aside;

typedef struct run {
  const vyre_pipeline *pipeline;
  vyre_module *module;
  vyre_pipeline_options options;
  uint64_t number;       /* number of the current pass run, from 1; 0 before the first run */
  uint32_t fresh;        /* VYRE_ANALYSES and VYRE_COLUMNS that describe the module */
  uint32_t preserved;    /* the subset of `fresh` that the last pass preserves if it changed the module */
  uint32_t fixpoints;    /* number of fixpoints that enclose the current pass */
  uint64_t changes;      /* number of pass runs that changed the module */
  vyre_stopwatch *watch; /* the innermost running watch, borrowed; NULL if no watch runs */
  run_aside *aside;      /* programs that are set aside, the last ones first; retire.c owns them */
  bool is_chosen;        /* the current passes run on the device, which has cost choices (vyre_choose) */
  vyre_device *host;     /* CPU device, owned, for phases without another device; NULL until the first use */
  uint64_t *settled;     /* by node: `changes` + 1 when its pass last changed nothing, otherwise 0 */
} run;

/* running.c */

/* Begin and end a call of the pass's code, in the pass run with that number.  The call runs with the default floating-point
 * environment, and the caller's environment is restored after the call.  For passes of third-party plugins, the state of the
 * process is restored, too. */
void vyre_run_enter(const vyre_pass_record *record, uint64_t number, vyre_foreign_call *out);
void vyre_run_leave(const vyre_pass_record *record, const vyre_foreign_call *call);
/* Records that no run is active in this thread. */
void vyre_run_clear(void);
/* Returns whether the pass is one of the manager's own, which inspect the module and always run. */
bool vyre_run_is_own(const vyre_pass_record *record);
/* Returns whether the options select the run with that number. */
bool vyre_run_is_selected(const run *r, const vyre_pass_record *record, uint64_t number);
/* Prints the run's number and pass if options.print_runs is set. */
VYRE_MUST_USE vyre_status vyre_run_print(const run *r, const vyre_node *node, uint64_t number);
/* Print lines if options.print_work is set: the two texts joined, dropped analyses, a run's result, and a skipped run. */
void vyre_run_print_work(const run *r, const char *what, const char *of);
void vyre_run_print_dropped(const run *r, uint32_t analyses);
void vyre_run_print_result(const run *r, bool changed);
void vyre_run_print_skipped(const run *r);

/* runner.c */

/* Starts a watch within the running one.  Does nothing without a report.  A function that fails may leave its watch running,
 * because the failure ends the pipeline's run. */
void vyre_run_start(run *r, vyre_stopwatch *watch, const char *name);
/* Stops the watch and reports its time.  `number` is that of the pass run, or 0 for other work. */
void vyre_run_stop(run *r, const vyre_stopwatch *watch, uint64_t number, bool changed);
/* Returns a hash of all columns of all rows: everything that a pass can change except names and lines. */
uint64_t vyre_run_hash_module(const vyre_module *module);

/* Returns the context for a call of the pass.  vyre_run_finish_call ends the call. */
vyre_context vyre_run_context(run *r, const vyre_pass_record *record, const uint64_t *values);
/* Ends a call.  Returns the pass's status if its host made it, otherwise an error about the pass.  Faults of its host calls
 * are errors, too. */
VYRE_MUST_USE vyre_status vyre_run_finish_call(run *r, const vyre_pass_record *record, vyre_context *context, vyre_status status);
/* Returns the analyses and columns that the pass requires on the device or host where it will run. */
uint32_t vyre_run_requirements(const run *r, const vyre_pass_record *record);
/* Sets r->is_chosen for passes that run as one sequence of `rounds` rounds. */
VYRE_MUST_USE vyre_status vyre_run_choose(run *r, const vyre_pass_record *const *passes, uint32_t count, uint32_t rounds);
/* Returns the schedule options for options.device, which must exist. */
vyre_schedule_options vyre_run_schedule_options(const run *r);
/* Calls the pass, checks its result, and marks the column that it provides as fresh. */
VYRE_MUST_USE vyre_status vyre_run_call(run *r, const vyre_pass_record *record, const uint64_t *values, vyre_result *out);
/* Computes the wanted analyses that are not fresh, and hides all others, so that a pass cannot depend on undeclared ones. */
VYRE_MUST_USE vyre_status vyre_run_make_analyses(run *r, uint32_t wanted);
/* Drops the analyses that r->preserved does not contain, after a pass changed the module, and seals it unless the pass after
 * `node`, which may be NULL, accepts removed rows. */
VYRE_MUST_USE vyre_status vyre_run_settle_change(run *r, const vyre_node *node);
/* Seals the module if it is not sealed, and drops the analyses that sealing invalidates. */
VYRE_MUST_USE vyre_status vyre_run_seal(run *r);
/* Returns whether the node is in a fixpoint and its pass last changed nothing in the same module.  The manager's own passes
 * are never settled. */
bool vyre_run_is_settled(const run *r, const vyre_node *node);

/* Runs the pass of the node, with its analyses, checks, prints and times.  Sets *out_changed if the pass changed the module. */
VYRE_MUST_USE vyre_status vyre_run_pass(run *r, uint32_t node, bool *out_changed);

/* combinators.c: runs the children of the node.  Sets *out_changed if one of them changed the module. */
VYRE_MUST_USE vyre_status vyre_run_children(run *r, uint32_t node, bool *out_changed);

/* twice.c: run the pass over a copy of the module first, and compare the real run's module with the copy's hash. */
VYRE_MUST_USE vyre_status vyre_run_twin(run *r, const vyre_node *node, uint64_t *out_hash);
VYRE_MUST_USE vyre_status vyre_run_check_twin(const run *r, const vyre_node *node, uint64_t hash);

/* fuse.c: returns whether an option inspects the module between passes. */
bool vyre_run_is_observed(const vyre_pipeline_options *options);
/* fuse.c: runs the passes from this node on that form one sequence on the device.  *out_next is the node after them, or `node` if
 * there are no such passes and nothing ran. */
VYRE_MUST_USE vyre_status vyre_run_fused(run *r, uint32_t node, bool *out_changed, uint32_t *out_next);

/* Rounds of a repeat or fixpoint that ran as one sequence. */
typedef struct fused_rounds {
  uint32_t *changed; /* borrowed; of a fixpoint, by program: the number of rounds that changed it */
  uint32_t rounds;   /* 0 if nothing ran */
  bool again;        /* the last round changed the module, or the node is a repeat */
  bool any;          /* a round changed the module */
  bool lost;         /* the last round lost versions that the passes require */
} fused_rounds;

/* fuse.c: runs at most `most` rounds of the node's children as one sequence, if the device can run them so. */
VYRE_MUST_USE vyre_status vyre_run_fused_rounds(run *r, uint32_t id, uint32_t most, fused_rounds *out);

#endif
