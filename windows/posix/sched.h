/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SCHED_H
#define VYRE_WINDOWS_SCHED_H

#include_next <sched.h>

#include <stddef.h>

typedef struct cpu_set_t {
  int count;
} cpu_set_t;
#define CPU_COUNT(set) ((set)->count)

/* Stores the number of processors that this process may use.  `process` must be 0. */
int sched_getaffinity(int process, size_t size, cpu_set_t *out);

#endif
