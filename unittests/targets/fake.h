/* A fake target for tests of targets/common.  Buffers are host memory.  A kernel adds 1 to the low byte of each word of its
 * buffers.  A begun sequence runs in the wait for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_FAKE_H
#define VYRE_UNITTESTS_FAKE_H

#include "base.h"

enum { FAKE_LOG = 64 };

typedef struct fake_target {
  target_base base;
  uint32_t made, freed;         /* memories since open */
  uint64_t bytes;               /* of live memories */
  uint32_t create_fails_after;  /* memories to create before creation fails; a destroyed memory allows one more */
  uint64_t destroyed[FAKE_LOG]; /* sizes of destroyed memories, in order */
  uint32_t runs;                /* executed sequences */
  bool run_fails, run_loses;    /* the next sequences fail, or also lose the device */
} fake_target;

typedef struct fake_memory {
  uint64_t size;
  unsigned char *bytes;
  bool is_imported;
} fake_memory;

/* Opens the target.  With `is_async`, it has start, poll and finish, and can import memory and reopen. */
vyre_target *fake_open(bool is_async, const vyre_allocator *allocator);
/* Closes the target, and asserts that all memory is freed. */
vyre_status fake_close(vyre_target *target);

static inline fake_target *
fake_of(vyre_target *target)
{
  return (fake_target *)(void *)target;
}

#endif
