/* A launch that runs: blocks, warps, lanes.
 *
 * Each lane has its own place in the code.  Lanes of a warp that are at one instruction may go on together for a while, which the
 * schedule draws; they must meet only at .sync instructions and barriers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_MACHINE_H
#define VYRE_CUDA_SIM_PTX_MACHINE_H

#include "ptx_eval.h"

enum { PTX_BARRIERS = 16 };

typedef struct ptx_machine ptx_machine;
typedef struct ptx_block ptx_block;

typedef struct ptx_warp {
  ptx_block *block;
  uint32_t index;
  uint32_t live;       /* lanes that have not ended */
  uint32_t at_barrier; /* those that wait at a barrier of the block */
  uint32_t at_sync;    /* those that wait at a .sync of the warp */
  uint32_t pc[PTX_WARP];
  uint32_t function[PTX_WARP];
  uint32_t depth[PTX_WARP];     /* calls that it is in */
  uint32_t barrier[PTX_WARP];   /* where it waits */
  uint32_t sync_mask[PTX_WARP]; /* for whom */
  uint32_t *calls;              /* [depth][lane]: the instructions of calls */
  uint64_t *registers;          /* [slot][lane] */
  uint32_t *poison;             /* [slot]: lanes in which it was never written */
  unsigned char *memory;        /* [lane][lane_bytes]: local variables and parameters of calls */
  bool *memory_poison;
} ptx_warp;

typedef struct ptx_barrier {
  uint32_t expected, arrived; /* threads; 0: nobody is there */
  uint32_t popc;
  bool all, any;
  uint32_t pc; /* of who came first */
} ptx_barrier;

struct ptx_block {
  bool is_live;
  uint32_t id[3];
  uint32_t live_warps, ended; /* threads that have ended */
  unsigned char *shared;
  bool *shared_poison;
  ptx_barrier barriers[PTX_BARRIERS];
  ptx_warp *warps;
};

struct ptx_machine {
  const ptx_launch *launch;
  const ptx_kernel *kernel;
  const ptx_module *module;
  const ptx_insn *code;
  uint64_t **constants; /* of each function: [constant][lane] */
  uint32_t threads, warps, shared_bytes, resident;
  ptx_block *blocks; /* those that are resident */
  uint64_t block_count, blocks_begun, block_first, block_step;
  uint64_t random, ticks;
  bool has_failed;
  ptx_counts counts;
  ptx_fault *fault;
};

/* Some lanes of a warp at one instruction. */
typedef struct ptx_bundle {
  ptx_machine *machine;
  ptx_warp *warp;
  uint32_t mask;
  const ptx_insn *insn;
  const ptx_function *function;
  uint64_t *registers; /* of the function's frame */
  uint32_t *poison;
  const uint64_t *constants;
  uint32_t lane_base;
} ptx_bundle;

#define PTX_EACH_LANE(lane, mask)                                                         \
  for (uint32_t left_ = (mask), lane = left_ ? (uint32_t)__builtin_ctz(left_) : 0; left_; \
       left_ &= left_ - 1, lane = left_ ? (uint32_t)__builtin_ctz(left_) : 0)

static inline const uint64_t *
ptx_row(const ptx_bundle *b, uint32_t slot)
{
  return slot < b->function->register_count ? b->registers + (size_t)slot * PTX_WARP
                                            : b->constants + (size_t)(slot - b->function->register_count) * PTX_WARP;
}

static inline uint32_t
ptx_poison_of(const ptx_bundle *b, uint32_t slot)
{
  return slot < b->function->register_count ? b->poison[slot] : 0;
}

static inline void
ptx_write(ptx_bundle *b, uint32_t k, uint32_t lane, uint64_t value)
{
  if (b->insn->d[k] != PTX_NO_SLOT)
    b->registers[(size_t)b->insn->d[k] * PTX_WARP + lane] = ptx_low(value, b->insn->d_bits[k]);
}

static inline void
ptx_set_poison(ptx_bundle *b, uint32_t k, uint32_t lanes, uint32_t poisoned)
{
  if (b->insn->d[k] != PTX_NO_SLOT)
    b->poison[b->insn->d[k]] = (b->poison[b->insn->d[k]] & ~lanes) | (poisoned & lanes);
}

/* The value of a source in a lane. */
static inline uint64_t
ptx_read(const ptx_bundle *b, uint32_t k, uint32_t lane)
{
  const uint64_t value = ptx_row(b, b->insn->s[k])[lane];
  return b->insn->negated >> k & 1 ? !value : value;
}

/* 32 bits of the schedule's. */
uint32_t ptx_draw(ptx_machine *machine);

/* False always.  Ends the launch; the first fault of all is kept. */
bool ptx_fail(ptx_machine *machine, const ptx_warp *warp, uint32_t lane, const ptx_insn *insn, ptx_fault_kind kind,
              uint64_t address, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* A fault if any of the lanes has a poisoned value there. */
bool ptx_check_poison(ptx_bundle *b, uint32_t slot, uint32_t lanes, const char *what);

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* Bytes that an access touches. */
typedef struct ptx_place {
  unsigned char *data;
  bool *poison; /* NULL: device memory, whose state nobody knows */
  bool is_shared;
} ptx_place;

bool ptx_find_place(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t size, uint32_t align, bool is_write, ptx_place *out);
bool ptx_load(ptx_bundle *b);
bool ptx_store(ptx_bundle *b);
bool ptx_atom(ptx_bundle *b);
bool ptx_fence(ptx_bundle *b);

/* ---- lanes that wait ----------------------------------------------------------------------------------------------------- */

/* Lanes come to a barrier of the block; who was waited for goes on. */
bool ptx_reach_barrier(ptx_bundle *b);
bool ptx_reach_sync(ptx_bundle *b);
/* After lanes have ended, those that waited for them may go on. */
bool ptx_leave_barriers(ptx_machine *machine, ptx_block *block); /* after threads of it have ended */
bool ptx_retry_syncs(ptx_machine *machine, ptx_warp *warp);
void ptx_bundle_at(ptx_machine *machine, ptx_warp *warp, uint32_t lane, ptx_bundle *out);

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* Some lanes of the warp go on for a while. */
bool ptx_run_warp(ptx_machine *machine, ptx_warp *warp);
static inline uint32_t
ptx_runnable(const ptx_warp *warp)
{
  return warp->live & ~warp->at_barrier & ~warp->at_sync;
}

#endif
