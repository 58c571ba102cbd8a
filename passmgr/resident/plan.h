/* The phases of passes as steps: what a sequence of a target does, and which of it repeats.
 *
 * A directed phase goes through the rows in an order.  On this machine's processors that is the order of the table, or, where
 * several threads share one large program, level by level; on a device a dispatch a level, or a workgroup a program.  Each gives
 * the same bytes (docs/gpu-passes.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_PLAN_H
#define VYRE_PASSMGR_RESIDENT_PLAN_H

#include "vyre/phases.h"
#include "vyre/status.h"
#include "vyre/view.h"

enum {
  PLAN_MOST_PARTS = 64,
  PLAN_LEVELS_AT_ONCE = 64 /* that a dispatch by program takes: drivers end what takes long */
};

/* Rows in the order of a key, level by level; made on the host. */
typedef struct plan_order {
  const uint32_t *key; /* an element a row: its level */
  bool by_program;     /* the levels of each program have numbers of their own */
  uint32_t *rows;      /* owned; all but row 0 */
  uint32_t *starts;    /* owned; where in `rows` each level begins, and the last one ends */
  uint32_t *firsts;    /* owned; by program: the number of each program's first level, and how many there are; else NULL */
  uint32_t levels, programs, longest;     /* levels in all; programs; levels of the program that has most */
  uint32_t rows_at, starts_at, firsts_at; /* the arena's: arena.c */
} plan_order;

/* The module, and how its rows are shared out. */
typedef struct plan_rows {
  const vyre_view *view;
  uint32_t programs, largest; /* rows of the largest one */
  uint32_t most_iterations;   /* vyre_device_info.max_iterations */
  uint32_t walk;              /* where there is such a bound: the longest way that one row's invocation has to go */
  bool on_host;               /* this machine's processors; else a device */
  bool by_program;            /* on a device: a workgroup takes a program, where there is a kernel for that */
  uint32_t threads;
  /* On the host: parts of whole programs, which threads take; 0: one program is most of the module. */
  uint32_t part_count;
  uint32_t parts[PLAN_MOST_PARTS + 1]; /* the first row of each, and where the last one ends */
} plan_rows;

typedef struct plan_pass {
  const vyre_phases *phases;
  const vyre_phase_kernels *kernels; /* NULL on the host */
  const vyre_c_buffer *memory;       /* by the numbering of phases->memory: what is there on the host */
  bool is_rewired;                   /* a pass before it writes operands: levels may not be what they were */
} plan_pass;

typedef enum plan_step_kind {
  PLAN_ROWS,     /* the phase over rows from `first` on, in the table's order if it is directed */
  PLAN_LIST,     /* the phase over the rows from `first` on in the order, all of one level */
  PLAN_PROGRAMS, /* a workgroup each program: the phase, or the step of levels, from level `first` on */
  PLAN_COMPARE   /* at the end of an iteration of the pass's repeat while of this number */
} plan_step_kind;

typedef struct plan_step {
  plan_step_kind kind;
  uint32_t pass;   /* which one of the sequence */
  uint32_t number; /* of the phase, of the step, of the repeat while */
  bool of_levels;  /* PROGRAMS: the number is a step's */
  bool beside;     /* it may run beside the step before it */
  uint32_t order;
  uint32_t first, count;
} plan_step;

/* Steps that repeat until the word that its compare leaves is 0. */
typedef struct plan_repeat {
  uint32_t first, count;
  uint32_t pass, number; /* as in plan_step */
} plan_repeat;

typedef struct plan {
  const vyre_allocator *allocator;
  const plan_rows *rows;
  plan_order *orders; /* each once; all are there before the first step is */
  plan_step *steps;
  plan_repeat *repeats;
  uint32_t order_count, order_capacity, step_count, step_capacity, repeat_count, repeat_capacity;
  bool no_memory; /* something is missing */
} plan;

/* Sets programs, largest, walk and by_program.  Programs are not taken by a driver that bounds iterations: a program is many rows,
 * and such a driver is a processor's, for which a workgroup's barriers cost more than dispatches (bench/README.md). */
void vyre_plan_rows_count(plan_rows *rows);
/* Whether no invocation that takes one row is left by the driver before it is done. */
bool vyre_plan_rows_fit(const plan_rows *rows);
/* How threads share the rows: by parts of whole programs, or not. */
void vyre_plan_rows_part(plan_rows *rows, uint32_t threads);
/* How many `repeat while` stand before that step; of step_count: how many there are. */
uint32_t vyre_plan_number_of_while(const vyre_phases *phases, uint32_t step);
/* Whether its rows are taken from the last one. */
bool vyre_plan_goes_down(const vyre_phase *phase);
/* Whether they are levels: operands have lower ones. */
bool vyre_plan_are_levels(const vyre_view *view, const uint32_t *level);
bool vyre_plan_writes_operands(const vyre_phases *phases);
/* Whether it goes by levels that are those of operands which may have been written since. */
bool vyre_plan_goes_by_old_levels(const plan *p, const plan_pass *pass);

/* Adds the orders that the pass goes by.  False: no memory. */
bool vyre_plan_add_orders(plan *p, const plan_pass *pass);
/* Appends the steps of the sequence's pass of that number. */
void vyre_plan_add(plan *p, const plan_pass *pass, uint32_t number);
void vyre_plan_free(plan *p);

#endif
