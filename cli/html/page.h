/* -html: one page that shows the pipeline run by run: the changes of each run, its time, its rows, and messages.  With
 * -device-stats the page also has the figures that a driver reports of the input, of the module after each run, and of the output.
 *
 * This is all that the rest of the command line knows of the page.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_HTML_PAGE_H
#define VYRE_CLI_HTML_PAGE_H

#include "vyre/passmgr.h"
#include "vyre/target.h"

/* The driver of -device-stats. */
typedef struct page_driver page_driver;

/* Opens the target called `name` with these options and its statistics.  DEVICE: it has no device, or one without figures. */
VYRE_MUST_USE vyre_status page_driver_open(const char *name, vyre_target_options options, page_driver **out);
VYRE_MUST_USE vyre_status page_driver_close(page_driver *driver);

/* One run of the pipeline.  pager_end frees its memory. */
typedef struct pager {
  vyre_bytes *out;           /* the input's part; borrowed; NULL if there is no page */
  const page_driver *driver; /* borrowed; NULL if there are no figures */
  const char *path;          /* of the input; borrowed */
  const vyre_bytes *words;   /* the input's own SPIR-V, for the driver; borrowed */
  vyre_diagnostics messages; /* receive the reason for which the driver refused the input */
  struct subjects *given;    /* owned: the input as kernels */
} pager;

/* Begin and end an input's part of the page, and add to it; `error` is NULL if the input did not fail. */
VYRE_MUST_USE vyre_status page_begin(vyre_bytes *out, const char *input);
VYRE_MUST_USE vyre_status page_add_message(vyre_bytes *out, const vyre_diagnostic *diagnostic);
VYRE_MUST_USE vyre_status page_end(vyre_bytes *out, const char *error);
/* Adds the start, with the module's text, or a run that took `ns` nanoseconds, with the lines that it changed, if it changed any.
 */
VYRE_MUST_USE vyre_status pager_look(pager *p, const vyre_look *at, const char *text, uint64_t ns);
/* Adds the module after the last run (NULL after a failure), and the text that was shown last (NULL if no text was shown). */
VYRE_MUST_USE vyre_status pager_end(pager *p, const vyre_module *module, const char *text);

/* Writes the whole page, whose parts are one after the other. */
VYRE_MUST_USE vyre_status page_write(const char *path, const char *pipeline, const vyre_bytes *parts);

#endif
