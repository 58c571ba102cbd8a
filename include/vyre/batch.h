/* Many inputs as one module. The pipeline runs over it once, and the result for each input is the same as if it had run alone.
 *
 * A batch gives a GPU the rows of thousands of small programs at once, and divides the fixed cost of a pipeline run.
 *
 *     read a, verify, add        \                                                        / take a, write
 *     read b, verify, add          the batch's module: vyre_pipeline_run, vyre_module_check   take b, write
 *     ...                        /                                                        \ ...
 *
 * Passes do not look from one program into another. So an entry gets the rows, types, names and lines that it would have alone, and
 * its outputs have the same bytes. A fixpoint runs until no program changes; programs that reached theirs stay unchanged. Remarks
 * and errors are about all inputs together. To get those of each input, run the pipeline over each input again.
 *
 * Threads: a batch belongs to one thread at a time. Ownership: a batch owns its module. Errors: INPUT if memory runs out. The batch
 * may then only be cleared or destroyed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BATCH_H
#define VYRE_BATCH_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_batch vyre_batch;

/* Creates an empty batch. The allocator is copied; NULL means the default. */
VYRE_MUST_USE vyre_status vyre_batch_create(const vyre_allocator *allocator, vyre_batch **out);
/* Does nothing to NULL. */
void vyre_batch_destroy(vyre_batch *batch);
/* Makes the batch empty and keeps its memory. */
void vyre_batch_clear(vyre_batch *batch);
/* Appends a copy of a sealed module, with all its inputs and programs, as the next entry. Programs with equal names get different
 * ones while they are together, when the batch's module is sealed (vyre_pipeline_run does that). O(the module's rows, types and
 * texts). */
VYRE_MUST_USE vyre_status vyre_batch_add(vyre_batch *batch, const vyre_module *module);
/* Returns the number of entries. */
uint32_t vyre_batch_count(const vyre_batch *batch);
/* Returns the module of all entries. Callers must not add programs, inputs or types to it. */
vyre_module *vyre_batch_module(vyre_batch *batch);
/* Copies the current state of an entry to an empty module (new or cleared) and seals that. The batch's module must be sealed. An
 * entry may be taken more than once. O(the entry's rows, types and texts). */
VYRE_MUST_USE vyre_status vyre_batch_extract(vyre_batch *batch, uint32_t entry, vyre_module *out);

/* Adds a part of a module. A part is a range of adjacent programs, with all inputs and types of the module. `first` is the row of
 * its first program. `end` is the row of the program after its last one, or the number of rows. The module is sealed, and no array
 * in it has its length from a row. */
VYRE_MUST_USE vyre_status vyre_batch_add_part(vyre_batch *batch, const vyre_module *module, vyre_row first, vyre_row end);
/* Appends the current state of a part to `out`, which must be empty before the first part. After the last part, `out` is sealed and
 * has the rows, types, names and lines of the whole module. Until then it may not be used. */
VYRE_MUST_USE vyre_status vyre_batch_extract_part(vyre_batch *batch, uint32_t entry, bool is_last, vyre_module *out);

/* The rows that vyre_module_set_aside removed from a module. */
typedef struct vyre_aside vyre_aside;

/* Removes the rows of the selected programs from a sealed module, and seals the module. Keeps each program's row, its workgroup
 * size, and the rows that lengths of array types depend on. `taken` has an element for each program, in their order. Analyses of the
 * module become invalid. The caller destroys *out. O(the module's rows and types). */
VYRE_MUST_USE vyre_status vyre_module_set_aside(vyre_module *module, const bool *taken, vyre_aside **out);
/* Replaces the rows of the programs that were selected by the rows that were removed, and seals the module. The module is the one of
 * vyre_module_set_aside or a clone, with the same programs in the same order; otherwise returns INTERNAL. Analyses become invalid.
 * O(the module's rows and types). */
VYRE_MUST_USE vyre_status vyre_module_put_back(vyre_module *module, const vyre_aside *aside);
/* Does nothing to NULL. */
void vyre_aside_destroy(vyre_aside *aside);

#ifdef __cplusplus
}
#endif
#endif
