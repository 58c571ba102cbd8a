/* What a report holds: report.c sums it, report_print.c writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_REPORT_H
#define VYRE_PASSMGR_RUNNER_REPORT_H

#include "vyre/passmgr.h"

typedef struct timed {
  char *name;         /* owned */
  uint64_t wall, cpu; /* nanoseconds that are its own, */
  uint64_t total;     /* ... and of the wall with what was done within it */
  uint64_t runs, changed;
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

typedef enum event_kind { EVENT_WORK, EVENT_INPUT, EVENT_DEVICE } event_kind;

/* Something that was done, from when to when by CLOCK_MONOTONIC. */
typedef struct event {
  char *name; /* owned */
  uint64_t start, end;
  uint64_t run; /* of a pass; 0: of none */
  uint32_t thread;
  event_kind kind;
  bool changed;
} event;

struct vyre_report {
  vyre_allocator allocator;
  uint64_t created; /* by CLOCK_MONOTONIC */
  timed *times;     /* in the order of their first run */
  uint32_t time_count, time_capacity;
  counted *counts;
  uint32_t count_count, count_capacity;
  metered *meters;
  uint32_t meter_count, meter_capacity;
  event *events; /* in the order of their ends, by thread */
  uint32_t event_count, event_capacity;
  uint32_t *threads; /* their ids; by index of events */
  uint32_t thread_count, thread_capacity;
  bool keeps_events;
};

/* report_times.c: "passes": [...]. */
VYRE_MUST_USE vyre_status vyre_report_json_times(const vyre_report *report, vyre_bytes *out);

#endif
