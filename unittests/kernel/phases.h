/* Kernel files in tests: their phases, the memory that they work on, and what they are compared with: the interpreter, which runs
 * the sequence as it is written, and the passes' plain C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PHASES_H
#define VYRE_UNITTESTS_PHASES_H

#include "../test.h"

#include "kernel.h"
#include "vyre/passmgr.h"

/* Ends the test unless it is OK. */
void must(vyre_status status);

typedef struct phases {
  kernel_file file;
  vyre_module *module; /* of the expanded file: a program a phase over all rows, then one a phase over a list */
} phases;

phases *phases_load(const char *path);
void phases_unload(phases *p);
uint32_t phases_name(const phases *p, const char *word); /* the number of a name, without its % */

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* Of each name that the phases use. */
typedef struct phases_memory {
  uint32_t *words[KERNEL_MOST_NAMES];
  uint32_t counts[KERNEL_MOST_NAMES];
} phases_memory;

/* As it is before the first phase; tables have `table` words, of zeros. */
phases_memory phases_take(const phases *p, const vyre_view *v, uint32_t table);
phases_memory phases_copy(const phases_memory *from);
void phases_free(phases_memory *m);
uint32_t *phases_words(const phases *p, const phases_memory *m, const char *word);
/* NULL: no such column, or its analysis is not shown. */
const uint32_t *phases_column(const vyre_view *v, const char *word);

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* The sequence by the interpreter: phases in program order, those in `levels` over lists of rows. */
void phases_run(const phases *p, phases_memory *m, const vyre_view *v);
/* By the pass manager, by the pass's phases or its plain C. */
vyre_status phases_run_pass(const char *pass, const char *text, vyre_module *module, vyre_report *report, bool by_phases);
vyre_status phases_run_plain(const char *pass, const char *text, vyre_module *module, vyre_report *report);
/* What the last run of a pipeline saw that ends in the pass `hashes` or `classes`; to be freed. */
extern uint32_t *phases_seen;

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

vyre_module *phases_random(uint32_t seed); /* two random programs */
/* Two of all types and ops, in which much can be folded. */
vyre_module *phases_foldable(uint32_t seed);
/* So many programs of about so many rows each; operands are among the last `window` values. */
vyre_module *phases_grown(uint32_t programs, uint32_t rows, uint32_t window);
/* Rows but row 0 have these elements. */
void phases_compare(const char *what, uint32_t seed, const uint32_t *is, const uint32_t *should, uint32_t rows);

#endif
