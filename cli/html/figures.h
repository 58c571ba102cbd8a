/* The figures of -device-stats.  Kernels are compiled, but not run, and the driver reports figures about them.
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

/* Makes the kernels of a module, which may be destroyed afterwards.  `words`, if not NULL or empty, is the input's own SPIR-V, and
 * replaces the module's.  `path` is for messages, and is borrowed. */
VYRE_MUST_USE vyre_status subjects_make(const page_driver *d, const vyre_module *module, const char *path, const vyre_bytes *words,
                                        subjects **out);
void subjects_free(subjects *s);
/* Compiles each kernel once.  Appends a JSON list of the driver's figures, each with name, value and description. */
VYRE_MUST_USE vyre_status subjects_measure(const page_driver *d, subjects *s, vyre_bytes *out);
/* Compiles the kernels of two modules in alternation.  Appends their figures with the compile times. */
VYRE_MUST_USE vyre_status subjects_compare(const page_driver *d, subjects *first, subjects *second, vyre_bytes *out_first,
                                           vyre_bytes *out_second);

#endif
