/* A launch that runs: blocks, warps, lanes.
 *
 * Each lane has its own place in the code.  Lanes of a warp that are at one instruction may go on together for a while, which the
 * schedule draws; they must meet only at .sync instructions and barriers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_RUN_MACHINE_H
#define VYRE_CUDA_SIM_RUN_MACHINE_H

#include "targets/cuda/sim/ptx/eval.h"

enum { PTX_BARRIERS = 16, PTX_PENDING = 4, PTX_STALE = 256 };

typedef struct ptx_machine ptx_machine;
typedef struct ptx_block ptx_block;

/* A store that others do not see yet. */
typedef struct ptx_pending {
  uint64_t address, value;
  unsigned char *data;
  uint32_t size;
} ptx_pending;

/* Eight bytes of device memory as a block read them. */
typedef struct ptx_stale {
  uint64_t word, value; /* address / 8 */
  uint8_t bytes;        /* which of them */
} ptx_stale;

/* An access to a byte of shared memory. */
typedef struct ptx_touch {
  uint32_t time, line; /* 0: there was none */
  uint16_t thread;
  bool is_strong;
} ptx_touch;

typedef struct ptx_shadow {
  ptx_touch write, read[2];
} ptx_shadow;

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
  uint32_t pending; /* lanes that have stores of their own */
  uint32_t store_count[PTX_WARP];
  ptx_pending stores[PTX_WARP][PTX_PENDING];
  uint32_t spins; /* lanes that were seen to go around for ever */
  uint32_t seen[PTX_WARP];
  uint64_t state[PTX_WARP];
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
  ptx_shadow *shadow;            /* of each byte of shared memory */
  uint32_t time;                 /* of its accesses and of what orders them */
  uint32_t *released, *acquired; /* by thread */
  ptx_stale stale[PTX_STALE];
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
  bool is_weak;     /* others see weak accesses late */
  uint64_t changes; /* of memory, and of who is there */
  uint64_t watch_changes, watch_ticks;
  bool is_watching;
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
  bool is_shared, is_device;
  bool is_common; /* with the host */
} ptx_place;

/* Finds the bytes of an access, which is aligned to its size, and notes it for those that look for races. */
bool ptx_reach_place(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t size, bool is_write, bool is_strong, ptx_place *out);
uint64_t ptx_get_bytes(const unsigned char *data, uint32_t bytes);
void ptx_put_bytes(ptx_machine *machine, unsigned char *data, uint64_t value, uint32_t bytes);
bool ptx_load(ptx_bundle *b);
bool ptx_store(ptx_bundle *b);
bool ptx_atom(ptx_bundle *b);
bool ptx_fence(ptx_bundle *b);
void ptx_release(ptx_bundle *b);
void ptx_acquire(ptx_bundle *b);

/* Lanes release what they wrote, acquire what others did. */
void ptx_note_release(ptx_warp *warp, uint32_t lanes);
void ptx_note_acquire(ptx_warp *warp, uint32_t lanes);
/* A fault if it races with an access of another thread. */
bool ptx_note_shared(ptx_bundle *b, uint32_t lane, uint64_t offset, uint32_t size, bool is_write, bool is_strong);

void ptx_forget_reads(ptx_block *block);
void ptx_forget_read(ptx_block *block, uint64_t address);
/* What a weak read of `value` gives: that, or what the block read there before. */
uint64_t ptx_read_again(ptx_block *block, uint64_t address, uint32_t size, uint64_t value);
void ptx_finish_stores(ptx_machine *machine, ptx_warp *warp, uint32_t lanes);
void ptx_finish_overlapping(ptx_machine *machine, ptx_warp *warp, uint32_t lane, uint64_t address, uint32_t size);
/* Of at most 8 bytes, which are aligned. */
void ptx_store_device(ptx_machine *machine, ptx_warp *warp, uint32_t lane, const ptx_pending *store, bool may_wait);

/* ---- loops that do not end ----------------------------------------------------------------------------------------------- */

/* Lanes that are watched branch backward. */
void ptx_watch(ptx_bundle *b, uint32_t lanes);
/* Begins and ends the watch.  False: the launch hangs, and the caller does not want to wait. */
bool ptx_check_spin(ptx_machine *machine);

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
