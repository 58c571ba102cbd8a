/* The state of a live kernel that interprets programs.
 *
 *   programs.c  start and stop, programs, memory
 *   items.c     items: whether each is interpreted or compiled
 *   worker.c    the thread that compiles programs and runs compiled items
 *
 * An item that runs compiled is published as a NOP with its tenant and priority.  When the NOP ends DONE, the kernel has checked
 * the tenant, and the worker runs the item.  Items that run at the same time, one interpreted and one compiled, share no memory
 * that one of them writes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_PROGRAMS_H
#define VYRE_RUNTIME_PROGRAMS_H

#include "compiled.h"
#include "live.h"
#include "room.h"

/* How later items of a program run. */
typedef enum program_way {
  PROGRAM_INTERPRETED,
  PROGRAM_WANTED, /* interpreted until the worker has compiled the program */
  PROGRAM_COMPILED,
  PROGRAM_REFUSED /* interpreted, because the program cannot be compiled */
} program_way;

typedef struct registered {
  bool is_used, is_removed; /* a removed program keeps its memory while items are in flight */
  uint32_t generation, in_flight;
  uint64_t at; /* the first byte of code and pool */
  uint32_t length, lanes, buffers;
  /* Only with a target for compiled items: */
  program_kernel *kernel; /* owned */
  program_way way;
  uint64_t items; /* published so far */
  char *reason;   /* of PROGRAM_REFUSED; owned */
} registered;

/* Where an item is.  The last four are states of an item that runs compiled. */
typedef enum item_state { ITEM_FREE, ITEM_ON_KERNEL, ITEM_NEW, ITEM_WAITS, ITEM_RUNS, ITEM_ENDED } item_state;

typedef struct item {
  item_state state;
  uint32_t program, turn; /* `turn` differs between the items of one slot, for tickets of compiled items */
  vyre_mega_item published;
  vyre_mega_ticket ticket; /* of the item, or of its NOP */
  bool is_published;       /* `ticket` is set */
  /* Only with a target for compiled items: */
  vyre_mega_range *buffers; /* owned */
  uint32_t buffer_count;
  vyre_mega_slot end; /* of ITEM_ENDED */
} item;

struct vyre_mega_programs {
  vyre_mega *mega;
  vyre_mega_live *live;
  vyre_mega_programs_options options;
  unsigned char *image; /* owned */
  pthread_mutex_t lock;
  room room;
  registered *entries;       /* options.programs; owned */
  item *items;               /* one for each slot; owned */
  uint64_t contexts, stride; /* the first byte of context 0, and the bytes of a context */
  uint64_t bindings;         /* the first byte of the bindings of item 0 */
  uint32_t entries_at;       /* the first word of the entries */
  uint32_t generations;
  /* The worker, if there is a target for compiled items.  `changed` is signalled when the worker has work, and when a program is
   * compiled or refused. */
  pthread_t worker;
  pthread_cond_t changed;
  bool has_worker, stops;
  program_device device;
  program_kernel *unused; /* of removed programs, to be destroyed by the worker; owned */
  uint64_t compiled;      /* items that ended DONE compiled */
};

static inline void
programs_lock(vyre_mega_programs *p)
{
  pthread_mutex_lock(&p->lock);
}

/* Unlocks and returns the status. */
static inline vyre_status
programs_unlock(vyre_mega_programs *p, vyre_status status)
{
  pthread_mutex_unlock(&p->lock);
  return status;
}

/* ---- programs.c: called with the lock ------------------------------------------------------------------------------------- */

vyre_status programs_check(const vyre_mega_programs *p, uint32_t program);
vyre_status programs_check_range(const vyre_mega_programs *p, vyre_mega_range range);
/* Frees the memory of a removed program if no item is in flight. */
void programs_free(vyre_mega_programs *p, uint32_t program);

/* ---- worker.c ------------------------------------------------------------------------------------------------------------- */

vyre_status programs_start_worker(vyre_mega_programs *p);
/* Ends the worker.  Compiled items that have not begun are dropped. */
vyre_status programs_stop_worker(vyre_mega_programs *p);
/* Pauses, longer after many calls. */
void programs_pause(uint32_t *calls);

#endif
