/* What the search for data races keeps: who accessed which bytes last, and what orders them.  shadow.c has its memory, races.c
 * its meaning.
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

/* An access: who, where in the program, when.  `when` is time << 17 | invocation in its workgroup << 1 | atomic; 0: none. */
typedef struct stamp {
  uint64_t when;
  uint32_t row, group;
} stamp;

static_assert(MOST_INVOCATIONS - 1 <= MOST_LOCAL, "an invocation's number fits a stamp");

typedef struct latest {
  stamp last, near, far; /* near: another invocation of last's workgroup; far: of another workgroup */
} latest;

typedef struct cell {
  stamp written; /* plainly */
  latest read, atomic;
  uint64_t released;
  uint32_t pending; /* 1 + the first async access of it; 0: none */
} cell;

typedef struct page page; /* shadow.c */

/* An access of an async copy under way. */
typedef struct async_access {
  cell *cell;
  stamp by;
  uint32_t next_of_cell; /* 1 + index; 0: none; of a free one: the next free */
  uint32_t next_of_invocation;
  uint32_t number; /* of the invocation's async copies */
  bool writes;
} async_access;

typedef struct races {
  uint64_t now;
  uint64_t start; /* of this workgroup: what workgroup memory held before is forgotten */
  uint32_t row;   /* at hand */
  bool is_async;
  uint32_t granule_shift;
  page *pages; /* a hash table */
  async_access *asyncs;
  uint32_t async_capacity, async_free; /* 1 + index */
  uint64_t *acquired, *seen, *fenced;  /* by invocation: up to when it is ordered after all; what it read; its last release */
  uint32_t *copies, *newest;           /* by invocation: async copies begun; 1 + the newest access of those under way */
  uint64_t (*met)[KINDS];              /* by workgroup */
  uint64_t (*lanes_met)[KINDS];        /* by invocation: its subgroup */
  uint64_t grid_met[KINDS];
  uint32_t met_count;
  bool barrier_orders[KINDS]; /* a memory barrier names it: then each barrier orders it */
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

/* Whether an order (imm of a barrier) is about that kind of memory, between invocations. */
static inline bool
orders_kind(uint32_t imm, unsigned kind)
{
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(imm), scope = VYRE_ORDER_MEMORY(imm);
  return (semantics & 0x1eu) && scope != 3 && scope != 4 && (semantics & (kind == STORAGE ? 0x40u : 0x100u));
}

/* The cell of the granule at that address; NULL: out of memory, which has ended the run. */
cell *races_cell(interp *ip, uint64_t address);
/* 1 + the index of a free access of an async copy; 0: out of memory. */
uint32_t races_new_async(interp *ip);

#endif
