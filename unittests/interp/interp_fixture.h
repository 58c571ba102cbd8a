/* Runs `.vir` texts for the tests of the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INTERP_FIXTURE_H
#define INTERP_FIXTURE_H

#include "vyre/run.h"

/* A buffer of the program, by name, and the memory that is bound to it. */
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
  uint64_t first, count;       /* range of workgroups, or 0 for all */
  vyre_interp_options options; /* without struct_size, which the functions below set */
  vyre_interp_stats stats;     /* out */
} launch;

/* Runs the text, which must be valid, and returns the status of the run. */
vyre_status launch_run(launch *l);
/* Runs a launch that must succeed. */
void launch_ok(launch *l);
/* Runs a launch that must fail, with all of the words and a "Fix:" line in the message. */
void launch_fails(launch *l, const char *word1, const char *word2, const char *word3);

/* Runs the launch until it succeeds; in the n-th run the n-th allocation fails.  Each run frees all of its memory. */
void launch_without_memory(const launch *l);

/* A run, and words of its error message, which are NULL if it succeeds. */
typedef struct launch_case {
  launch launch;
  const char *words[3];
} launch_case;

void launch_check(const launch_case *cases, size_t count);
#define LAUNCH_CHECK(cases) launch_check(cases, sizeof(cases) / sizeof *(cases))

#endif
