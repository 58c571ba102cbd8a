/* Many inputs as one module: the pipeline runs over it once, and each comes out as if it had been alone.
 *
 * A GPU needs the rows of thousands of small programs at once; so does whoever wants to pay once for what a run of a pipeline
 * costs.
 *
 *   read a, verify, add        \                                                        / take a, write
 *   read b, verify, add          the batch's module: vyre_pipeline_run, vyre_module_check   take b, write
 *   ...                        /                                                        \ ...
 *
 * No pass looks from one program into another.  So what is taken out has the rows, types, names and lines that it would have had
 * alone, and all that is written of it has the same bytes; a fixpoint goes on until nothing changes in any program, and to one that
 * is done nothing happens any more.  What is said of the module as a whole, remarks and errors, is of all inputs: a program that
 * wants those of each input runs the pipeline over each again.
 *
 * Threads: a batch belongs to one thread at a time.  Ownership: a batch owns its module.  Errors: INPUT, when memory runs out; then
 * the batch is fit only to be cleared or destroyed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BATCH_H
#define VYRE_BATCH_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_batch vyre_batch;

/* The allocator is copied; NULL: the default. */
VYRE_MUST_USE vyre_status vyre_batch_create(const vyre_allocator *allocator, vyre_batch **out);
/* NULL is ignored. */
void vyre_batch_destroy(vyre_batch *batch);
/* Back to empty, keeping its memory. */
void vyre_batch_clear(vyre_batch *batch);
/* Appends a copy of a sealed module, with all its inputs and programs, as the next entry.  Programs of one name are given others
 * while they are together, when the batch's module is sealed, which vyre_pipeline_run does.  O(its rows, types and texts). */
VYRE_MUST_USE vyre_status vyre_batch_add(vyre_batch *batch, const vyre_module *module);
uint32_t vyre_batch_count(const vyre_batch *batch); /* of entries */
/* All of them.  Nobody else may add programs, inputs or types to it. */
vyre_module *vyre_batch_module(vyre_batch *batch);
/* Copies what has become of an entry into a module without rows (new or cleared), which is then sealed; the batch's module is
 * sealed, too.  An entry may be taken more than once.  O(its rows, types and texts). */
VYRE_MUST_USE vyre_status vyre_batch_take(vyre_batch *batch, uint32_t entry, vyre_module *out);

/* A module in parts, and together again.  A part is programs that stand side by side, from one's row to before another's or to the
 * end (the number of rows), and has all inputs and types of the module.  That module is sealed, and none of its arrays has its
 * length from a row. */
VYRE_MUST_USE vyre_status vyre_batch_add_part(vyre_batch *batch, const vyre_module *module, vyre_row first, vyre_row end);
/* Appends what has become of a part to `out`, which was empty before the first one, and is of no use before the last one: then it
 * is sealed, and has the rows, types, names and lines that the module would have if it had been whole. */
VYRE_MUST_USE vyre_status vyre_batch_take_part(vyre_batch *batch, uint32_t entry, bool is_last, vyre_module *out);

#ifdef __cplusplus
}
#endif
#endif
