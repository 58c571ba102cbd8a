/* The entries of a report.  report.c sums them, report_print.c and report_times.c print them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RUNNER_REPORT_H
#define VYRE_PASSMGR_RUNNER_REPORT_H

#include "vyre/passmgr.h"

typedef struct timed {
  char *name;         /* owned */
  uint64_t wall, cpu; /* nanoseconds without nested work */
  uint64_t total;     /* nanoseconds of wall time with nested work */
  uint64_t runs, changed;
  uint64_t skipped; /* runs skipped because nothing changed since the last one */
  uint64_t device;  /* nanoseconds that its kernels ran */
} timed;

typedef struct counted {
  char *pass, *name; /* owned */
  uint64_t amount;
} counted;

/* The counters of a target's devices with the same name and driver, summed. */
typedef struct metered {
  char *target, *device, *driver; /* owned */
  uint64_t *values;               /* owned; one for each of vyre_target_counters */
} metered;

typedef enum event_kind { EVENT_WORK, EVENT_INPUT, EVENT_DEVICE } event_kind;

/* A timed piece of work.  Times are nanoseconds by CLOCK_MONOTONIC. */
typedef struct event {
  char *name; /* owned */
  uint64_t start, end;
  uint64_t run; /* number of the pass run, or 0 for other work */
  uint32_t thread;
  event_kind kind;
  bool changed;
} event;

struct vyre_report {
  vyre_allocator allocator;
  uint64_t created; /* nanoseconds by CLOCK_MONOTONIC */
  timed *times;     /* in the order of their first run */
  uint32_t time_count, time_capacity;
  counted *counts;
  uint32_t count_count, count_capacity;
  metered *meters;
  uint32_t meter_count, meter_capacity;
  event *events; /* sorted by end within each thread */
  uint32_t event_count, event_capacity;
  uint32_t *threads; /* thread ids, indexed by event.thread */
  uint32_t thread_count, thread_capacity;
  bool keeps_events;
};

/* report_times.c: appends `"passes": [...]` to the JSON text. */
VYRE_MUST_USE vyre_status vyre_report_json_times(const vyre_report *report, vyre_bytes *out);

#endif
