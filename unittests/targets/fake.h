/* A target for tests of targets/common: buffers are memory of the host, kernels add 1 to each word of their buffers, and what is
 * begun is done when it is waited for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_FAKE_H
#define VYRE_UNITTESTS_FAKE_H

#include "base.h"

enum { FAKE_LOG = 64 };

typedef struct fake_target {
  target_base base;
  uint32_t made, gone;          /* memories, ever */
  uint64_t bytes;               /* of memories that are there */
  uint32_t create_fails_after;  /* so many more are made; then none, until something is destroyed */
  uint64_t destroyed[FAKE_LOG]; /* sizes, in order */
  uint32_t runs;                /* sequences */
  bool run_fails, run_loses;    /* the next ones do, and lose the device */
} fake_target;

typedef struct fake_memory {
  uint64_t size;
  unsigned char *bytes;
  bool is_imported;
} fake_memory;

/* `is_async`: with start, poll and finish. */
vyre_target *fake_open(bool is_async, const vyre_allocator *allocator);
/* Closes it; every memory must be gone. */
vyre_status fake_close(vyre_target *target);

static inline fake_target *
fake_of(vyre_target *target)
{
  return (fake_target *)(void *)target;
}

#endif
