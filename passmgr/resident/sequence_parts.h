/* The inside of a sequence: the passes, their memory, and the two ways in which a target has that: one buffer of words for a device
 * (arena.c), the memory itself for this machine's processors (direct.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_SEQUENCE_PARTS_H
#define VYRE_PASSMGR_RESIDENT_SEQUENCE_PARTS_H

#include "passmgr/registry/context.h"
#include "plan.h"
#include "resident.h"

/* compare.vir: between iterations of repeat while, whether its counter grew. */
extern const vyre_phases compare_phases;

/* Memory of passes: those that name the same column share it. */
typedef struct sequence_block {
  void *host;
  uint64_t words;
  bool is_constant;                /* the same for whoever runs the pass so: a fact, a table */
  uint64_t at;                     /* in the arena, but for constants */
  const vyre_phase_source *column; /* of the table or an analysis, and its number on the device; NULL: other memory */
  uint32_t number;
  bool goes_up, comes_down;
} sequence_block;

/* A pass's part. */
typedef struct sequence_member {
  vyre_context *context;
  plan_pass pass;
  uint32_t *blocks;             /* by memory */
  uint32_t whiles;              /* how many repeat while it has; of each: */
  uint32_t *counters;           /* the block of what it counts, */
  uint32_t *words;              /* two words of the arena, or of `host_words`: what was counted before, what was added since */
  uint32_t *compares;           /* and where the head of its compare is in the arena */
  uint32_t head;                /* where the pass's head is in the arena */
  vyre_device_buffer constants; /* which the device keeps; 0: there are none */
} sequence_member;

typedef struct sequence {
  vyre_device *device;
  const vyre_allocator *allocator;
  vyre_pass_ctx *ctx; /* of the first pass: for scratch memory, which lives as long */
  plan_rows rows;
  plan plan;
  sequence_member *members;
  sequence_block *blocks;
  uint32_t count, block_count, block_capacity, while_count;
  uint64_t words;              /* of the arena; */
  uint64_t heads, heads_end;   /* columns stand before `heads`, other memory from `heads_end` on, */
  uint64_t orders;             /* and orders from there to the end */
  vyre_device_buffer *buffers; /* direct: by block, then of orders' rows, then of what compares remember */
  uint32_t buffer_count;
  uint32_t *host_words; /* direct: what compares remember */
  /* For the target: */
  vyre_fill *fills;
  uint32_t fill_count, upload_count, read_count;
  vyre_upload *uploads;
  vyre_read *reads;
  vyre_step *steps;  /* of the plan's */
  vyre_range *until; /* of the plan's repeats */
} sequence;

/* Zeroed scratch memory; NULL: there is none. */
void *sequence_take(const sequence *s, size_t count, size_t size);

/* arena.c: where everything is.  *out_fits: whether the device has room. */
VYRE_MUST_USE vyre_status vyre_arena_lay_out(sequence *s, bool *out_fits);
/* arena.c: what goes up and down, and the steps.  vyre_arena_end undoes it; `is_done`: the device then has the columns. */
VYRE_MUST_USE vyre_status vyre_arena_build(sequence *s);
VYRE_MUST_USE vyre_status vyre_arena_end(sequence *s, bool is_done);

/* direct.c: the memory is the target's as it is, and steps are calls.  vyre_direct_end undoes it. */
VYRE_MUST_USE vyre_status vyre_direct_build(sequence *s);
VYRE_MUST_USE vyre_status vyre_direct_end(sequence *s);

#endif
