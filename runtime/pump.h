/* A pump: declarations shared by its files.  The pump handles requests, and an engine moves bytes by system calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_PUMP_H
#define VYRE_RUNTIME_PUMP_H

#include "vyre/megakernel_io.h"

#include <pthread.h>

enum { PUMP_MOST_PART = 1 << 30 };

/* A request in flight. */
typedef struct pump_work {
  bool is_there, is_stream;
  bool is_given;    /* the engine moves a part of the request */
  bool is_given_up; /* given up by its requester, or because the pump stops */
  uint32_t op;
  int file;
  unsigned char *data; /* position of the remaining bytes */
  uint64_t offset;
  uint32_t left, moved, region;
  uint64_t waits_for; /* of a fence: mask of the slots whose requests are still in flight */
} pump_work;

typedef struct pump_engine pump_engine;

struct vyre_mega_pump {
  void *queue;
  size_t size;
  vyre_mega_pump_options options; /* the lists in it are owned copies */
  const pump_engine *engine;
  struct pump_uring *uring;
  pump_work works[VYRE_MEGA_IO_SLOTS];
  uint64_t under_way; /* mask of the slots whose requests are in flight */
  uint32_t ended;     /* requests that ended since the last report to the caller */
  bool stops;
  pthread_t thread;
  vyre_mega_pump_stats stats;
};

/* An engine, which moves bytes by system calls.  The pump owns the works, which are indexed by slot. */
struct pump_engine {
  /* Opens the engine.  Returns false if the system does not support this engine. */
  bool (*open)(vyre_mega_pump *pump);
  void (*close)(vyre_mega_pump *pump);
  /* Begins a part of a work, of at most `bytes` bytes. */
  void (*begin_part)(vyre_mega_pump *pump, uint32_t slot, uint32_t bytes);
  void (*cancel)(vyre_mega_pump *pump, uint32_t slot);
  /* Calls pump_part_ended for parts that ended.  Waits briefly if there are none.  Called only while a work is in flight. */
  void (*advance)(vyre_mega_pump *pump);
};

static inline bool
pump_is_write(const pump_work *work)
{
  return work->op == VYRE_MEGA_IO_WRITE;
}

extern const pump_engine pump_by_uring, pump_plain;

/* Begins the next part of a work. */
void pump_begin_part(vyre_mega_pump *pump, uint32_t slot);
/* Continues after a part: `result` is the number of bytes moved, or a negative errno. */
void pump_part_ended(vyre_mega_pump *pump, uint32_t slot, int64_t result);
void pump_rest(uint32_t microseconds);

#endif
