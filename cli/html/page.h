/* The page of -html, which shows the pipeline run by run: changes, time, rows and messages.  With -device-stats it also shows the
 * driver's figures for the input, for the module after each run, and for the output, and with -html-glsl these as GLSL.
 *
 * Only this header is visible to the rest of the command line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_HTML_PAGE_H
#define VYRE_CLI_HTML_PAGE_H

#include "vyre/passmgr.h"
#include "vyre/target.h"

/* The driver of -device-stats. */
typedef struct page_driver page_driver;

/* Opens the target with statistics.  Returns DEVICE if there is no device, or the device has no figures. */
VYRE_MUST_USE vyre_status page_driver_open(const char *name, vyre_target_options options, page_driver **out);
VYRE_MUST_USE vyre_status page_driver_close(page_driver *driver);

/* The state of one run of the pipeline.  pager_end frees it. */
typedef struct pager {
  vyre_bytes *out;           /* the input's part of the page, borrowed; NULL without a page */
  const page_driver *driver; /* borrowed; NULL without figures */
  const char *path;          /* the input's path, borrowed */
  const vyre_bytes *words;   /* the input's own SPIR-V, for the driver; borrowed */
  vyre_diagnostics messages; /* receive the reason if the driver refuses the input */
  bool shows_glsl;           /* whether the page has the module as GLSL at each change */
  vyre_bytes glsl;           /* the last GLSL, or the reason for which there is none, owned */
  struct subjects *given;    /* the kernels of the input, owned */
} pager;

/* Begin and end an input's part of the page, and add to it; `error` is NULL if the input did not fail. */
VYRE_MUST_USE vyre_status page_begin(vyre_bytes *out, const char *input);
VYRE_MUST_USE vyre_status page_add_message(vyre_bytes *out, const vyre_diagnostic *diagnostic);
VYRE_MUST_USE vyre_status page_end(vyre_bytes *out, const char *error);
/* Adds to the page the module's text at the start, or a pass run of `ns` nanoseconds with the lines that the run changed. */
VYRE_MUST_USE vyre_status pager_observe(pager *p, const vyre_observation *at, const char *text, uint64_t ns);
/* Adds the module after the last run and its last text.  `module` is NULL after a failure.  `text` is NULL if no text was shown. */
VYRE_MUST_USE vyre_status pager_end(pager *p, const vyre_module *module, const char *text);

/* Writes the page.  `parts` has the parts of all inputs in order. */
VYRE_MUST_USE vyre_status page_write(const char *path, const char *pipeline, const vyre_bytes *parts);

#endif
