/* A pump: what its files share.  The pump knows requests, an engine knows how the system moves bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_PUMP_H
#define VYRE_RUNTIME_PUMP_H

#include "vyre/megakernel_io.h"

#include <pthread.h>

enum { PUMP_MOST_PART = 1 << 30 };

/* A request that is under way. */
typedef struct pump_work {
  bool is_there, is_stream;
  bool is_given;    /* the engine has a part of it */
  bool is_given_up; /* by its asker, or because the pump stops */
  uint32_t op;
  int file;
  unsigned char *data; /* where the rest goes */
  uint64_t offset;
  uint32_t left, moved, region;
  uint64_t waits_for; /* of a fence: a bit for each slot that it still waits for */
} pump_work;

typedef struct pump_engine pump_engine;

struct vyre_mega_pump {
  void *queue;
  size_t size;
  vyre_mega_pump_options options; /* its lists are copies */
  const pump_engine *engine;
  struct pump_uring *uring;
  pump_work works[VYRE_MEGA_IO_SLOTS];
  uint64_t under_way; /* a bit a slot */
  uint32_t ended;     /* requests since the caller was told last */
  bool stops;
  pthread_t thread;
  vyre_mega_pump_stats stats;
};

/* Works are the pump's, by their slots. */
struct pump_engine {
  /* False: the system cannot. */
  bool (*open)(vyre_mega_pump *pump);
  void (*close)(vyre_mega_pump *pump);
  /* Begins a part of a work: at most `bytes` of it. */
  void (*give)(vyre_mega_pump *pump, uint32_t slot, uint32_t bytes);
  void (*cancel)(vyre_mega_pump *pump, uint32_t slot);
  /* Tells pump_part_ended of parts that ended; waits a little for one where none has.  Called while any is under way. */
  void (*advance)(vyre_mega_pump *pump);
};

static inline bool
pump_is_write(const pump_work *work)
{
  return work->op == VYRE_MEGA_IO_WRITE;
}

extern const pump_engine pump_by_uring, pump_plain;

/* The next part of a work. */
void pump_give(vyre_mega_pump *pump, uint32_t slot);
/* Bytes that were moved, or an errno less than 0. */
void pump_part_ended(vyre_mega_pump *pump, uint32_t slot, int64_t result);
void pump_rest(uint32_t microseconds);

#endif
