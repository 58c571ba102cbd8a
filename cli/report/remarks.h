/* The file of -remarks: remarks about inputs as JSON, an object a line.  docs/passmgr.md has the fields.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_REMARKS_H
#define VYRE_CLI_REPORT_REMARKS_H

#include "vyre/passmgr.h"

typedef struct remarks_line remarks_line;

/* The source lines of a module. */
typedef struct remarks_lines {
  remarks_line *all; /* owned; a hash table of remarks.c */
  uint32_t rows;
} remarks_lines;

/* The state of one run of the pipeline.  remarks_end frees it. */
typedef struct remarker {
  const char *input;    /* its path; borrowed */
  vyre_bytes *out;      /* borrowed; NULL without -remarks */
  remarks_lines before; /* lines of the module before the run */
} remarker;

/* Adds a message that is also printed.  A message that begins with "passed: ", "missed: " or "analysis: " has that kind. */
VYRE_MUST_USE vyre_status remarks_add(vyre_bytes *out, const char *input, const vyre_diagnostic *diagnostic);
/* Call it at the start and after each run.  Adds the source lines that the run changed. */
VYRE_MUST_USE vyre_status remarker_observe(remarker *r, const vyre_observation *at);
void remarks_end(remarker *r);

#endif
