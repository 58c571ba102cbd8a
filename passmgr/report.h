/* What a report holds: report.c sums it, report_print.c writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_REPORT_H
#define VYRE_PASSMGR_REPORT_H

#include "vyre/passmgr.h"

typedef struct timed {
  char *name; /* owned */
  uint64_t nanoseconds, runs, changed;
  uint64_t skipped; /* it would have found what it found before */
  uint64_t device;  /* nanoseconds of its kernels */
} timed;

typedef struct counted {
  char *pass, *name; /* owned */
  uint64_t amount;
} counted;

/* What the devices of one name that a target opened counted, together. */
typedef struct metered {
  char *target, *device, *driver; /* owned */
  uint64_t *values;               /* owned; one for each of vyre_target_counters */
} metered;

struct vyre_report {
  vyre_allocator allocator;
  timed *times; /* in the order of their first run */
  uint32_t time_count, time_capacity;
  counted *counts;
  uint32_t count_count, count_capacity;
  metered *meters;
  uint32_t meter_count, meter_capacity;
};

#endif
