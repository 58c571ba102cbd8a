/* One run of one pass: the manager's data behind a vyre_pass_ctx.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_REGISTRY_CONTEXT_H
#define VYRE_PASSMGR_REGISTRY_CONTEXT_H

#include "registry.h"

#include "base/clock.h"

#define VYRE_CONTEXT_ERRORS 16u

typedef struct vyre_scratch {
  struct vyre_scratch *next;
  size_t bytes; /* after this header */
} vyre_scratch;

typedef struct vyre_context {
  vyre_pass_ctx base; /* first: what the pass gets */
  const vyre_allocator *allocator;
  const vyre_pass_record *record;
  const uint64_t *values; /* by the pass's parameter table */
  const char *texts;      /* of the pipeline */
  vyre_module *module;
  vyre_pipeline_options options;
  char *room; /* scratch memory: first what the module lends, then owned chunks */
  size_t left, used;
  bool has_borrowed; /* of two runs at a time one alone has what the module lends */
  vyre_scratch *chunks;
  /* The errors it made lately: only one of these is a status that a pass may return. */
  vyre_status errors[VYRE_CONTEXT_ERRORS];
  uint32_t error_count;
  vyre_c_buffer *memory; /* of its phases, while they run; in its scratch memory */
  uint64_t given;        /* a bit for each of them that `prepare` asked for */
  bool swept;            /* they have run */
  uint32_t preserved;    /* analyses, as the run said, beside what the descriptor says */
} vyre_context;

vyre_context *vyre_context_of(vyre_pass_ctx *ctx);
/* Notes a status as made by this run.  NULL stays NULL. */
vyre_status vyre_context_own(vyre_pass_ctx *ctx, vyre_status status);
/* Takes out `returned` if it is one of the run's statuses, and frees the others.  False: it is none, and must not be touched. */
bool vyre_context_settle(vyre_context *context, vyre_status returned);
/* The run's scratch memory; the module keeps as much for the next one. */
void vyre_context_borrow(vyre_context *context);
void vyre_context_give_back(vyre_context *context);

/* The input that the row's program came from, by its path; of row 0 the only one.  NULL: none is known. */
const char *vyre_context_file(vyre_module *module, uint32_t row);

/* report.c: adds to a counter; NULL report: nothing. */
void vyre_report_count_add(vyre_report *report, const char *pass, const char *name, uint64_t amount);
/* A run of a pass, of that number, that took no time of its own; and one that did. */
void vyre_report_run_add(vyre_report *report, const char *pass, bool changed);
void vyre_report_stop_run(vyre_report *report, const vyre_stopwatch *watch, uint64_t number, bool changed);
void vyre_report_skip_add(vyre_report *report, const char *pass);
/* What a device took for a pass, from that time on, by CLOCK_MONOTONIC. */
void vyre_report_device_add(vyre_report *report, const char *pass, uint64_t start, uint64_t nanoseconds);

/* runner.c */
/* `analyses`: with those that the view shows. */
VYRE_MUST_USE vyre_status vyre_print_module(const vyre_module *module, const vyre_pipeline_options *options, bool analyses);

#endif
