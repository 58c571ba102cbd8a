/* -html: one page that shows the pipeline run by run: what each changed, its time, rows, and what was said.
 *
 * The page is page.html, with all of that as JSON in it; it needs nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_PAGE_H
#define VYRE_CLI_REPORT_PAGE_H

#include "figures.h"

#include "vyre/passmgr.h"

/* page.html. */
extern const unsigned char page_html[];
extern const size_t page_html_size;

/* Of one run of the pipeline.  pager_end frees what it keeps. */
typedef struct pager {
  vyre_bytes *out;  /* the input's part; borrowed; NULL: nobody asks */
  vyre_bytes shown; /* the module's text as it was last */
  uint64_t start;   /* of the run at hand */
  /* What a driver tells, for -device-stats: */
  const driver *driver;      /* borrowed; NULL: nobody asks, or it refused the input */
  const char *path;          /* of the input; borrowed */
  const vyre_bytes *words;   /* its own SPIR-V; borrowed */
  vyre_diagnostics messages; /* hear why it refused */
  subjects *given;           /* owned: the input as it came */
} pager;

/* An input's part of the page: begun, filled by the others, and ended; `error` NULL: it did not fail. */
VYRE_MUST_USE vyre_status page_begin(vyre_bytes *out, const char *input);
VYRE_MUST_USE vyre_status page_add_message(vyre_bytes *out, const vyre_diagnostic *diagnostic);
VYRE_MUST_USE vyre_status page_end(vyre_bytes *out, const char *error);
VYRE_MUST_USE vyre_status pager_look(pager *p, const vyre_look *at);
/* The module as it was last is told, too; `module` is it, or NULL, after a failure. */
VYRE_MUST_USE vyre_status pager_end(pager *p, const vyre_module *module);

/* The whole page, of the parts one after the other. */
VYRE_MUST_USE vyre_status page_write(const char *path, const char *pipeline, const vyre_bytes *parts);

#endif
