/* A kernel file's sequence as what a device is to do: where memory stands in the arena, and which kernels run on it, in which
 * order, how often.  It is what a target could be given: fills, uploads, steps with their push constants and workgroups, repeats,
 * reads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PLAN_H
#define VYRE_UNITTESTS_PLAN_H

#include "device.h"
#include "phases.h"

/* ORDER: programs of codegen/kernel/order.vir. */
enum { ORDER_MARK, ORDER_WIDEN, ORDER_COUNT_PROGRAMS, ORDER_COUNT, ORDER_PLACE, SCAN, SCAN_SUMS, SCAN_ADD, ORDER__COUNT };

/* ORDER: bits: by the depth, not the level; by program and level.  After those the one by the pass's own levels. */
enum { BY_DEPTH = 1, BY_PROGRAM = 2, BY_OWN = 4, ORDERS };

/* Words of the arena. */
typedef struct plan_order {
  bool is_used;
  uint32_t keys, ranks, starts, order, firsts, sums;
} plan_order;

typedef struct plan_arena {
  uint32_t words, rows, programs;
  uint32_t head, memory[KERNEL_MOST_NAMES]; /* by name */
  uint32_t op, keys[2];                     /* keys: the columns level and depth */
  uint32_t own;                             /* the column that `levels by` names */
  uint32_t levels[2];                       /* one more than the greatest of those */
  plan_order orders[ORDERS];
} plan_arena;

typedef enum plan_kind { PLAN_STEP, PLAN_REPEAT, PLAN_REPEAT_WHILE } plan_kind;

typedef struct plan_entry {
  plan_kind kind;
  uint32_t kernel; /* STEP: of order.vir; from ORDER__COUNT on of the file's kernels */
  uint32_t push[8], groups;
  uint32_t times; /* REPEAT */
  uint32_t word;  /* REPEAT_WHILE: of the arena; until an iteration leaves it as it was */
  uint32_t end;   /* but STEP: the entry after those in it */
} plan_entry;

typedef struct plan {
  plan_entry *entries;
  uint32_t count, capacity;
} plan;

/* The orders that the sequence needs, a bit each, in one of its forms: a dispatch a level, or a workgroup a program. */
uint32_t plan_find_orders(const phases *p, const kernel_device *device, bool by_program);
void plan_lay(const phases *p, const phases_memory *m, const vyre_view *v, uint32_t orders, plan_arena *out);
/* Makes the orders that are used. */
void plan_orders(const plan_arena *arena, plan *out);
/* `starts`: of the orders but those BY_PROGRAM that are used, what the device made of it. */
void plan_sequence(const phases *p, const kernel_device *device, const plan_arena *arena, uint32_t *const starts[ORDERS],
                   bool by_program, plan *out);
void plan_free(plan *p);

#endif
