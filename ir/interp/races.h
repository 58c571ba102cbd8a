/* Data of the race detector: the last accesses to each byte, and the orders between them. shadow.c manages the memory, races.c the
 * meaning.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_INTERP_RACES_H
#define VYRE_IR_INTERP_RACES_H

#include "internal.h"

#include <assert.h>

enum { STORAGE, WORKGROUP, KINDS };

#define PAGE_SHIFT 8u
#define PAGE_BYTES (1u << PAGE_SHIFT)
#define MOST_LOCAL 0xffffu

/* An access: the invocation, the row and the time. `when` is time << 17 | invocation in its workgroup << 1 | atomic, or 0 for
 * none. */
typedef struct stamp {
  uint64_t when;
  uint32_t row, group;
} stamp;

static_assert(MOST_INVOCATIONS - 1 <= MOST_LOCAL, "an invocation's number fits a stamp");

typedef struct latest {
  stamp last, near, far; /* near: of another invocation of last's workgroup; far: of another workgroup */
} latest;

typedef struct cell {
  stamp written; /* by a plain write */
  latest read, atomic;
  uint64_t released;
  uint32_t pending; /* 1 + the first pending async access, or 0 */
} cell;

typedef struct page page; /* defined in shadow.c */

/* An access of an async copy in flight. */
typedef struct async_access {
  cell *cell;
  stamp by;
  uint32_t next_of_cell; /* 1 + index, or 0; of a free one, the next free one */
  uint32_t next_of_invocation;
  uint32_t number; /* number of the async copy in the invocation */
  bool writes;
} async_access;

typedef struct races {
  uint64_t now;
  uint64_t start; /* start of this workgroup; earlier contents of workgroup memory are ignored */
  uint32_t row;   /* the current row */
  bool is_async;
  uint32_t granule_shift;
  page *pages; /* a hash table */
  async_access *asyncs;
  uint32_t async_capacity, async_free; /* 1 + index */
  uint64_t *acquired, *seen, *fenced;  /* by invocation: time up to which all precedes it; latest release read; last release */
  uint32_t *copies, *newest;           /* by invocation: async copies begun; 1 + the newest pending access */
  uint64_t (*met)[KINDS];              /* by workgroup: last barrier */
  uint64_t (*lanes_met)[KINDS];        /* by invocation: last barrier of its subgroup */
  uint64_t grid_met[KINDS];
  uint32_t met_count;
  bool barrier_orders[KINDS]; /* a memory barrier names the kind, so every barrier orders it */
  bool has_async;
} races;

static inline uint64_t
time_of(stamp s)
{
  return s.when >> 17;
}

static inline uint32_t
local_of(stamp s)
{
  return (uint32_t)(s.when >> 1) & MOST_LOCAL;
}

static inline bool
same_invocation(stamp s, stamp t)
{
  return s.group == t.group && local_of(s) == local_of(t);
}

/* Returns whether an order (imm of a barrier) orders that kind of memory between invocations. */
static inline bool
orders_kind(uint32_t imm, unsigned kind)
{
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(imm), scope = VYRE_ORDER_MEMORY(imm);
  return (semantics & 0x1eu) && scope != 3 && scope != 4 && (semantics & (kind == STORAGE ? 0x40u : 0x100u));
}

/* Returns the cell of the granule at an address. If memory runs out, ends the run and returns NULL. */
cell *races_cell(interp *ip, uint64_t address);
/* Returns 1 + the index of a free async access, or 0 if memory runs out. */
uint32_t races_new_async(interp *ip);

#endif
