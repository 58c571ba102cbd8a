/* The steps of processing an input, which process.c and process_many.c share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_PROCESS_STEPS_H
#define VYRE_CLI_PROCESS_STEPS_H

#include "cli/outputs/output_cache.h"
#include "process.h"

/* The contents of an input and the options for reading it.  process_find_source fills it; `bytes` and `words` are owned. */
typedef struct source {
  const tool_options *options;
  const char *path; /* for messages */
  vyre_bytes bytes;
  bool is_read, is_accepted; /* is_accepted: SPIRV-Tools is done with the input, or has nothing to do */
  vyre_input_kind kind;      /* for variants */
  vyre_glsl_options glsl;
  vyre_diagnostics diagnostics;
  vyre_bytes *said;    /* for process_print */
  vyre_bytes *remarks; /* borrowed from the work, NULL without -remarks */
  vyre_bytes *page;    /* borrowed from the work, NULL without -html */
  vyre_bytes words;    /* the SPIR-V compiled from the input's text; with a driver, the input's SPIR-V in the host's byte order */
  output_key key;
  uint32_t warnings, errors; /* numbers of printed messages */
  bool is_shown;             /* whether the last message that is not a note is printed */
} source;

/* Sets the path, the options and the receiver of messages of an input.  `said` may be NULL (process_print). */
void process_find_source(const process *p, work *w, vyre_bytes *said, source *out);
/* Returns whether the cache has the output. */
bool process_find_cached(const process *p, work *w, source *from);
/* Reads and verifies the input.  A second call does not read the file again, because standard input can be read only once. */
VYRE_MUST_USE vyre_status process_read_input(const process *p, vyre_module *module, work *w, source *from);
/* Runs the passes over the input that the module holds, and writes it. */
VYRE_MUST_USE vyre_status process_run_input(const process *p, vyre_module *module, work *w, source *from);
/* Runs the pipeline and verifies the result. */
VYRE_MUST_USE vyre_status process_run_passes(const process *p, vyre_module *module, vyre_report *report,
                                             vyre_diagnostics diagnostics, const char *path, vyre_bytes *printed,
                                             const source *from);
/* Writes the module, or the input as it came, in the chosen format to the work's output. */
VYRE_MUST_USE vyre_status process_make_output(const process *p, vyre_module *module, work *w, const source *from);
/* Keeps the output in the cache, unless a file has changed since it was read. */
void process_keep_cached(const process *p, const work *w, const source *from);
/* Prints a heading with `what` and the name of the input, which precedes the output of passes.  `said` as in process_print. */
void process_print_heading(const process *p, const char *what, const char *path, vyre_bytes *said);
/* Processes an input that is not in a batch, with an empty module.  The work receives the result or the error. */
void process_alone(const process *p, vyre_module *module, work *w, source *from);

#endif
