/* The plan of a sequence: the phases of its passes as steps, and the repeats over steps.
 *
 * A directed phase visits the rows in an order.  On the CPU this is the order of the table, or level by level in steps of levels
 * and if several threads share one large program.  A device runs a dispatch for each level, or a workgroup for each program.  All
 * orders produce the same bytes (docs/gpu-passes.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_PLAN_H
#define VYRE_PASSMGR_RESIDENT_PLAN_H

#include "vyre/ir.h"
#include "vyre/phases.h"
#include "vyre/status.h"
#include "vyre/view.h"

enum {
  PLAN_MOST_PARTS = 64,
  PLAN_LEVELS_AT_ONCE = 64 /* levels of a dispatch by program, because drivers end long dispatches */
};

/* Rows sorted by level.  Made on the host. */
typedef struct plan_order {
  const uint32_t *key;                    /* level of each row: `level`, `depth` or a side column; borrowed */
  uint64_t generation;                    /* write generation of a key that is a column; 0 for a side column */
  bool by_program;                        /* each program has its own levels, numbered after those of the programs before it */
  uint32_t count;                         /* number of rows with row 0 */
  uint32_t *rows;                         /* owned; all rows except row 0 */
  uint32_t *starts;                       /* owned; index in `rows` of each level's first row, then the end of the last level */
  uint32_t *firsts;                       /* owned; each program's first level, then the number of levels; NULL unless by_program */
  uint32_t levels, programs, longest;     /* levels in total; programs; most levels of a program */
  uint32_t rows_at, starts_at, firsts_at; /* word offsets in the arena (arena.c) */
  uint64_t epoch;                         /* vyre_device.epoch when these words were uploaded */
} plan_order;

/* The module, and the division of its rows among threads or workgroups. */
typedef struct plan_rows {
  const vyre_view *view;
  uint32_t programs, largest; /* programs; rows of the largest program */
  uint32_t most_iterations;   /* loop iterations that the driver allows: vyre_device_info.max_iterations */
  uint32_t walk;              /* most loop iterations of an invocation for one row; set if most_iterations is not 0 */
  bool on_host;               /* the target runs on the CPU, not a device */
  bool by_program;            /* on a device: a workgroup visits a whole program if the phase has a kernel for that */
  uint32_t threads;           /* on the CPU: threads that share the rows */
  /* On the CPU: parts of whole programs, one for a thread at a time.  0 for one thread, or if one program is most of the module. */
  uint32_t part_count;
  uint32_t parts[PLAN_MOST_PARTS + 1]; /* first row of each part, then the end of the last one */
} plan_rows;

typedef struct plan_pass {
  const vyre_phases *phases;
  const vyre_phase_kernels *kernels; /* NULL on the host */
  const vyre_c_buffer *memory;       /* host memory, by index of phases->memory */
  bool is_rewired;                   /* an earlier pass of the sequence writes operands, so the levels of rows may be stale */
} plan_pass;

typedef enum plan_step_kind {
  PLAN_ROWS,     /* the phase over rows from `first` on; a directed phase visits them in program order or backwards */
  PLAN_LIST,     /* the phase over rows of one level, from index `first` of the order on */
  PLAN_PROGRAMS, /* the phase or the step of levels, from level `first` on, with a workgroup for each program */
  PLAN_PASS,     /* all steps of the pass, with a workgroup for each program */
  PLAN_COMPARE,  /* compare.vir for the pass's `repeat while` of this number, at the end of an iteration */
  PLAN_SAVE,     /* changes.vir before the passes */
  PLAN_PACK,     /* changes.vir after the passes */
  PLAN_COPY,     /* changes.vir: copies the columns before the first round */
  PLAN_ROUND,    /* changes.vir: compares the columns after the round of this number */
  PLAN_HIDE      /* changes.vir: hides the programs that the round of this number did not change */
} plan_step_kind;

typedef struct plan_step {
  plan_step_kind kind;
  uint32_t pass;   /* index in the sequence */
  uint32_t number; /* number of the phase, of the step of levels, or of the `repeat while` */
  bool of_levels;  /* PLAN_PROGRAMS: `number` is a step of levels */
  bool beside;     /* may overlap the previous step */
  uint32_t order;
  uint32_t first, count;
} plan_step;

/* Steps that repeat until their compare writes 0 as the counter's increase. */
typedef struct plan_repeat {
  uint32_t first, count;
  uint32_t pass, number; /* pass and number of the `repeat while`, as in plan_step */
} plan_repeat;

typedef struct plan {
  const vyre_allocator *allocator;
  const plan_rows *rows;
  vyre_module *module;
  plan_order *kept; /* borrowed; orders of the last plan, which this one takes over if their keys are unchanged */
  uint32_t kept_count;
  plan_order *orders; /* owned, without duplicates; complete before the first step is added */
  plan_step *steps;
  plan_repeat *repeats;
  uint32_t order_count, order_capacity, step_count, step_capacity, repeat_count, repeat_capacity;
  bool no_memory; /* an allocation failed, so the plan is incomplete */
} plan;

/* Sets programs, largest, walk and by_program.  by_program is false for drivers that bound iterations.  Such a driver runs on a
 * CPU, where the barriers of a workgroup cost more than dispatches (bench/README.md). */
void vyre_plan_rows_count(plan_rows *rows);
/* Returns whether an invocation for one row uses at most an eighth of the iterations that the driver allows. */
bool vyre_plan_rows_fit(const plan_rows *rows);
/* Sets `threads`, and the parts if the programs are small enough to divide the rows by whole programs. */
void vyre_plan_rows_part(plan_rows *rows, uint32_t threads);
/* Returns the number of `repeat while` before that step, or their total for `step` == step_count. */
uint32_t vyre_plan_number_of_while(const vyre_phases *phases, uint32_t step);
/* Returns whether the phase visits the rows from last to first, or levels from the highest on. */
bool vyre_plan_is_downward(const vyre_phase *phase);
/* Returns whether the row's level is above the levels of its operands and below the number of rows.  vyre_plan_are_levels returns
 * whether that holds for all rows. */
bool vyre_plan_is_level(const vyre_view *view, const uint32_t *level, uint32_t row);
bool vyre_plan_are_levels(const vyre_view *view, const uint32_t *level);
/* Returns whether one kernel runs all steps of the pass: PLAN_PASS. */
bool vyre_plan_runs_whole(const plan_rows *rows, const plan_pass *pass);
bool vyre_plan_writes_operands(const vyre_phases *phases);
/* Returns whether the pass uses levels of operands that an earlier phase or pass may have overwritten. */
bool vyre_plan_uses_old_levels(const plan *p, const plan_pass *pass);

/* Adds the orders that the pass uses.  Returns false if an allocation failed. */
bool vyre_plan_add_orders(plan *p, const plan_pass *pass);
/* Appends the steps of the pass, whose index in the sequence is `number`. */
void vyre_plan_add(plan *p, const plan_pass *pass, uint32_t number);
/* Appends a step of the manager's own, whose time is reported for that pass.  `number` is the number of its round. */
void vyre_plan_add_own(plan *p, plan_step_kind kind, uint32_t pass, uint32_t number);
void vyre_plan_free(plan *p);
void vyre_plan_free_orders(const vyre_allocator *allocator, plan_order *orders, uint32_t count, uint32_t capacity);

#endif
