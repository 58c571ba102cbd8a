/* -remarks: what happened to inputs, as JSON for programs, an object a line.  docs/passmgr.md has the fields.
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

/* Of one run of the pipeline.  remarks_end frees what it keeps. */
typedef struct remarker {
  const char *input;    /* its path; borrowed */
  vyre_bytes *out;      /* borrowed; NULL: nobody asks */
  remarks_lines before; /* of the module as it was last */
} remarker;

/* A message that is told to people, too.  One that begins with "passed: ", "missed: " or "analysis: " is of that kind. */
VYRE_MUST_USE vyre_status remarks_add(vyre_bytes *out, const char *input, const vyre_diagnostic *diagnostic);
/* At the start, and after each run: of one that changed the module, the lines in which it did. */
VYRE_MUST_USE vyre_status remarks_look(remarker *r, const vyre_look *at);
void remarks_end(remarker *r);

#endif
