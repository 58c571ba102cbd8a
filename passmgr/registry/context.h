/* The state of one run of a pass, behind its vyre_pass_ctx.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_REGISTRY_CONTEXT_H
#define VYRE_PASSMGR_REGISTRY_CONTEXT_H

#include "registry.h"

#include "base/clock.h"

/* The fix of an error of a pass. */
#define VYRE_PASS_FIX "\nFix: leave the pass out of the pipeline, and report this to the author of its plugin"

#define VYRE_CONTEXT_ERRORS 16u

typedef struct vyre_scratch {
  struct vyre_scratch *next;
  size_t bytes; /* size without this header */
} vyre_scratch;

typedef struct vyre_context {
  vyre_pass_ctx base; /* the part that the pass sees; must be first */
  const vyre_allocator *allocator;
  const vyre_pass_record *record;
  const uint64_t *values; /* values of the pass's parameters */
  const char *texts;      /* the texts of the pipeline */
  vyre_module *module;
  vyre_pipeline_options options;
  char *room; /* free scratch memory, first of the module, then of owned chunks */
  size_t left, used;
  bool has_borrowed; /* whether this run uses the module's scratch memory, which only one run at a time can */
  vyre_scratch *chunks;
  /* The latest errors of the run.  A pass may only return one of these. */
  vyre_status errors[VYRE_CONTEXT_ERRORS];
  uint32_t error_count;
  vyre_c_buffer *memory; /* memory of the running phases, in scratch memory */
  uint64_t given;        /* mask of the memories that `prepare` has requested */
  bool swept;            /* the phases have run */
  uint32_t preserved;    /* analyses that the run preserves in addition to those of the descriptor */
} vyre_context;

vyre_context *vyre_context_of(vyre_pass_ctx *ctx);
/* Notes a status as an error of this run, and returns it. */
vyre_status vyre_context_own(vyre_pass_ctx *ctx, vyre_status status);
/* Ends the run's errors: frees all except `returned`.  Returns false if `returned` is not an error of this run and must not be
 * used. */
bool vyre_context_settle(vyre_context *context, vyre_status returned);
/* Borrow scratch memory from the module, and return it.  The module keeps as much for the next run. */
void vyre_context_borrow_scratch(vyre_context *context);
void vyre_context_return_scratch(vyre_context *context);

/* Returns the path of the input of the row's program, or of the only input for row 0.  Returns NULL if it is not known. */
const char *vyre_context_file(vyre_module *module, uint32_t row);

/* Adds to a counter.  Does nothing if `report` is NULL. */
void vyre_report_count_add(vyre_report *report, const char *pass, const char *name, uint64_t amount);
/* Add a run of a pass: without a time of its own, or with the time of the stopwatch. */
void vyre_report_run_add(vyre_report *report, const char *pass, bool changed);
void vyre_report_stop_run(vyre_report *report, const vyre_stopwatch *watch, uint64_t number, bool changed);
void vyre_report_skip_add(vyre_report *report, const char *pass);
/* Adds the time that a device used for a pass.  `start` is by CLOCK_MONOTONIC. */
void vyre_report_device_add(vyre_report *report, const char *pass, uint64_t start, uint64_t nanoseconds);

/* runner.c */
/* Prints the module, with the available analyses if `analyses` is set. */
VYRE_MUST_USE vyre_status vyre_print_module(const vyre_module *module, const vyre_pipeline_options *options, bool analyses);

#endif
