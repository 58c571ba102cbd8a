/* The figures of -device-stats.  Nothing runs: kernels are compiled, and the driver reports on them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_HTML_FIGURES_H
#define VYRE_CLI_HTML_FIGURES_H

#include "page.h"

struct page_driver {
  const vyre_target_ops *ops;
  vyre_target *target; /* owned */
};

/* Programs of a module as kernels. */
typedef struct subjects subjects;

/* Those of the module, which need not stay, or those that `words` have for it, an input's own SPIR-V; NULL or empty: none.  `path`
 * names them in messages, and is borrowed. */
VYRE_MUST_USE vyre_status subjects_make(const page_driver *d, const vyre_module *module, const char *path, const vyre_bytes *words,
                                        subjects **out);
void subjects_free(subjects *s);
/* Each compiled once: a list in JSON of name, value and what it is. */
VYRE_MUST_USE vyre_status subjects_ask(const page_driver *d, subjects *s, vyre_bytes *out);
/* The same of two, by turns, with what compiling took. */
VYRE_MUST_USE vyre_status subjects_compare(const page_driver *d, subjects *first, subjects *second, vyre_bytes *out_first,
                                           vyre_bytes *out_second);

#endif
