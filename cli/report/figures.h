/* -device-stats: what a driver makes of an input, of what each run of a pass left, and of the output, for the page of -html.
 *
 * Nothing runs: kernels are compiled and asked about.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_FIGURES_H
#define VYRE_CLI_REPORT_FIGURES_H

#include "cli/tool_options.h"

#include "vyre/target.h"

typedef struct driver {
  const vyre_target_ops *ops; /* NULL: nobody asks */
  vyre_target *target;
} driver;

/* The target that -device-stats names, with the device that the options name unless that is of -target.  USAGE: there is no such
 * target; DEVICE: it has no device, or one that tells nothing. */
VYRE_MUST_USE vyre_status driver_open(const tool_options *options, driver *out);
VYRE_MUST_USE vyre_status driver_close(driver *d);

/* Programs of a module as kernels. */
typedef struct subjects subjects;

/* Those of the module, which need not stay, or those that `words` have for it, an input's own SPIR-V; NULL or empty: none.  `path`
 * names them in messages, and is borrowed. */
VYRE_MUST_USE vyre_status subjects_make(const driver *d, const vyre_module *module, const char *path, const vyre_bytes *words,
                                        subjects **out);
void subjects_free(subjects *s);
/* Each compiled once: a list in JSON of name, value and what it is. */
VYRE_MUST_USE vyre_status subjects_ask(const driver *d, subjects *s, vyre_bytes *out);
/* The same of two, by turns, with what compiling took. */
VYRE_MUST_USE vyre_status subjects_compare(const driver *d, subjects *first, subjects *second, vyre_bytes *out_first,
                                           vyre_bytes *out_second);

#endif
