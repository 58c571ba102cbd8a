/* The state of a running launch: blocks, warps and lanes.
 *
 * Each lane has its own program counter. Lanes of a warp at the same instruction may run together for a while, which the schedule
 * draws. They have to converge only at .sync instructions and barriers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_RUN_MACHINE_H
#define VYRE_CUDA_SIM_RUN_MACHINE_H

#include "targets/cuda/sim/ptx/eval.h"

enum { PTX_BARRIERS = 16, PTX_PENDING = 4, PTX_STALE = 256 };

typedef struct ptx_machine ptx_machine;
typedef struct ptx_block ptx_block;

/* A store that is not visible to other lanes yet. */
typedef struct ptx_pending {
  uint64_t address, value;
  unsigned char *data;
  uint32_t size;
} ptx_pending;

/* Eight bytes of device memory, as weak loads of a block read them. */
typedef struct ptx_stale {
  uint64_t word, value; /* `word` is address / 8 */
  uint8_t bytes;        /* bit k: byte k of `value` is valid */
} ptx_stale;

/* An access to a byte of shared memory. */
typedef struct ptx_touch {
  uint32_t time, line; /* `time` is 0 if there was no access */
  uint16_t thread;
  bool is_strong;
} ptx_touch;

/* The last write of a byte, and accesses of up to two threads that read it since. */
typedef struct ptx_shadow {
  ptx_touch write, read[2];
} ptx_shadow;

typedef struct ptx_warp {
  ptx_block *block;
  uint32_t index;
  uint32_t live;       /* mask of lanes that have not ended */
  uint32_t at_barrier; /* mask of lanes that wait at a barrier of the block */
  uint32_t at_sync;    /* mask of lanes that wait at a .sync instruction */
  uint32_t pc[PTX_WARP];
  uint32_t function[PTX_WARP];
  uint32_t depth[PTX_WARP];     /* number of active calls */
  uint32_t barrier[PTX_WARP];   /* the barrier at which the lane waits */
  uint32_t sync_mask[PTX_WARP]; /* mask of the lane's .sync instruction */
  uint32_t *calls;              /* owned, [depth][lane]: the instructions of active calls */
  uint64_t *registers;          /* owned, [slot][lane] */
  uint32_t *poison;             /* owned, [slot]: mask of lanes in which the register was never written */
  unsigned char *memory;        /* owned, [lane][lane_stride]: local variables and parameters of calls */
  bool *memory_poison;          /* owned, [lane][lane_stride]: whether the byte was never written */
  uint32_t pending;             /* mask of lanes with delayed stores */
  uint32_t store_count[PTX_WARP];
  ptx_pending stores[PTX_WARP][PTX_PENDING];
  uint32_t spins;           /* mask of lanes in an endless loop, while the launch is watched */
  uint32_t seen[PTX_WARP];  /* backward branches of the lane since the watch began */
  uint64_t state[PTX_WARP]; /* hash of the lane's state at one of these branches */
} ptx_warp;

typedef struct ptx_barrier {
  uint32_t expected, arrived; /* number of threads; `expected` is 0 until a thread arrives */
  uint32_t popc;
  bool all, any;
  uint32_t pc; /* of the first thread that arrived */
} ptx_barrier;

struct ptx_block {
  bool is_live;
  uint32_t id[3];
  uint32_t live_warps, ended; /* warps with live lanes, and threads that have ended */
  unsigned char *shared;
  bool *shared_poison;
  ptx_shadow *shadow;            /* for each byte of shared memory */
  uint32_t time;                 /* counts accesses to shared memory, releases and acquires */
  uint32_t *released, *acquired; /* for each thread, the time of its last release and acquire */
  ptx_stale stale[PTX_STALE];
  ptx_barrier barriers[PTX_BARRIERS];
  ptx_warp *warps;
};

struct ptx_machine {
  const ptx_launch *launch;
  const ptx_kernel *kernel;
  const ptx_module *module;
  const ptx_insn *code;
  uint64_t **constants;                            /* for each function: [constant][lane] */
  uint32_t threads, warps, shared_bytes, resident; /* all but `resident` of a block */
  ptx_block *blocks;                               /* the resident ones */
  uint64_t block_count, blocks_begun, block_first, block_step;
  uint64_t random, ticks;
  bool is_weak;     /* whether weak accesses may be delayed */
  uint64_t changes; /* counts changes of memory, ended lanes and released waits */
  uint64_t watch_changes, watch_ticks;
  bool is_watching;
  bool has_failed;
  ptx_counts counts;
  ptx_fault *fault;
};

/* Lanes of a warp at the same instruction. */
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

/* Returns the value of source `k` in a lane. */
static inline uint64_t
ptx_read(const ptx_bundle *b, uint32_t k, uint32_t lane)
{
  const uint64_t value = ptx_row(b, b->insn->s[k])[lane];
  return b->insn->negated >> k & 1 ? !value : value;
}

/* Draws 32 random bits for the schedule. */
uint32_t ptx_draw(ptx_machine *machine);

/* Ends the launch with a fault, unless it already has one. Returns false. */
bool ptx_fail(ptx_machine *machine, const ptx_warp *warp, uint32_t lane, const ptx_insn *insn, ptx_fault_kind kind,
              uint64_t address, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* Fails with a fault if the slot is poisoned in any of the lanes. `what` names the value in the message. */
bool ptx_check_poison(ptx_bundle *b, uint32_t slot, uint32_t lanes, const char *what);

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* The bytes of an access. */
typedef struct ptx_place {
  unsigned char *data;
  bool *poison; /* or NULL for memory without poison: device memory and kernel parameters */
  bool is_shared, is_device;
  bool is_common; /* whether the host shares the memory */
} ptx_place;

/* Checks the alignment of an access, finds its bytes, and records it for the detection of races. */
bool ptx_reach_place(ptx_bundle *b, uint32_t lane, uint64_t address, uint32_t size, bool is_write, bool is_strong, ptx_place *out);
uint64_t ptx_get_bytes(const unsigned char *data, uint32_t bytes);
void ptx_put_bytes(ptx_machine *machine, unsigned char *data, uint64_t value, uint32_t bytes);
bool ptx_load(ptx_bundle *b);
bool ptx_store(ptx_bundle *b);
bool ptx_atom(ptx_bundle *b);
bool ptx_fence(ptx_bundle *b);
void ptx_release(ptx_bundle *b);
void ptx_acquire(ptx_bundle *b);

/* Record that lanes release their writes, or acquire those of others. */
void ptx_note_release(ptx_warp *warp, uint32_t lanes);
void ptx_note_acquire(ptx_warp *warp, uint32_t lanes);
/* Records an access to shared memory. Fails with a fault if it races with an access of another thread. */
bool ptx_note_shared(ptx_bundle *b, uint32_t lane, uint64_t offset, uint32_t size, bool is_write, bool is_strong);

void ptx_forget_reads(ptx_block *block);
void ptx_forget_read(ptx_block *block, uint64_t address);
/* Returns the result of a weak load: the bytes that the block read there earlier, or otherwise `value`. */
uint64_t ptx_read_again(ptx_block *block, uint64_t address, uint32_t size, uint64_t value);
void ptx_finish_stores(ptx_machine *machine, ptx_warp *warp, uint32_t lanes);
void ptx_finish_overlapping(ptx_machine *machine, ptx_warp *warp, uint32_t lane, uint64_t address, uint32_t size);
/* Stores at most 8 aligned bytes. May delay the store if `may_wait`. */
void ptx_store_device(ptx_machine *machine, ptx_warp *warp, uint32_t lane, const ptx_pending *store, bool may_wait);

/* ---- endless loops ------------------------------------------------------------------------------------------------------- */

/* Records the states of watched lanes that branch backward. */
void ptx_watch(ptx_bundle *b, uint32_t lanes);
/* Begins or ends the watch. Fails with a fault if the launch hangs and the caller does not want to continue. */
bool ptx_check_spin(ptx_machine *machine);

/* ---- barriers and .sync -------------------------------------------------------------------------------------------------- */

/* Let lanes arrive at a barrier of the block or at a .sync instruction, and release the lanes that it completes. */
bool ptx_reach_barrier(ptx_bundle *b);
bool ptx_reach_sync(ptx_bundle *b);
/* Release lanes that waited for lanes that have ended. */
bool ptx_leave_barriers(ptx_machine *machine, ptx_block *block);
bool ptx_retry_syncs(ptx_machine *machine, ptx_warp *warp);
void ptx_bundle_at(ptx_machine *machine, ptx_warp *warp, uint32_t lane, ptx_bundle *out);

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* Runs some lanes of the warp for a while. */
bool ptx_run_warp(ptx_machine *machine, ptx_warp *warp);
static inline uint32_t
ptx_runnable(const ptx_warp *warp)
{
  return warp->live & ~warp->at_barrier & ~warp->at_sync;
}

#endif
