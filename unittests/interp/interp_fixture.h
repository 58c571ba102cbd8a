/* Runs `.vir` texts: what the interpreter's tests share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INTERP_FIXTURE_H
#define INTERP_FIXTURE_H

#include "vyre/run.h"

/* One buffer of the program, by name, and what it holds before and after. */
typedef struct bound {
  const char *name; /* "b", or "b[2]" of an array of descriptors; NULL ends the list */
  void *data;
  size_t size;
} bound;

typedef struct launch {
  const char *text;
  uint32_t groups[3];
  bound buffers[6];
  vyre_spec_value specs[4];
  uint32_t spec_count;
  uint64_t first, count; /* of the workgroups */
  vyre_interp_options options;
  vyre_interp_stats stats; /* out */
} launch;

/* The run's status: the text itself must be without fault. */
vyre_status launch_run(launch *l);
/* Must succeed. */
void launch_ok(launch *l);
/* Must fail, with all of these in the message, and a "Fix:" line. */
void launch_fails(launch *l, const char *word1, const char *word2, const char *word3);

/* Runs again and again, of which each finds one allocation more than the one before; all is given back by each. */
void launch_without_memory(const launch *l);

/* A run, and words of the message that ends it; NULL if it succeeds. */
typedef struct launch_case {
  launch launch;
  const char *words[3];
} launch_case;

void launch_check(const launch_case *cases, size_t count);
#define LAUNCH_CHECK(cases) launch_check(cases, sizeof(cases) / sizeof *(cases))

#endif
