/* The phases of a GPU pass: their memory before a run, and their results after it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_PHASES_H
#define VYRE_PASSMGR_RESIDENT_PHASES_H

#include "passmgr/registry/context.h"

/* Returns whether the phases of the record's pass can run.  Sets phase_analyses, phases_write and the elements of `sources`, which
 * has room for all of them.  If the result is false, *out_why is the reason with its fix. */
bool vyre_phases_resolve(vyre_pass_record *record, const char **out_why);

/* Sets context->memory, and calls `prepare`, which fills its part.  A side column has no memory unless `prepare` requests it or it
 * holds the levels of a step. */
VYRE_MUST_USE vyre_status vyre_phases_begin(vyre_context *context, const vyre_module *module);
/* Sets context->memory for another round of the pass that `first` began with.  The rounds share all memory but
 * counters and verdicts. */
VYRE_MUST_USE vyre_status vyre_phases_begin_again(vyre_context *context, const vyre_context *first);
/* Adds the labelled counters to the report and calls `finish`, after the phases have run.  *out is whether one of these counters is
 * not 0 and the phases write the table. */
VYRE_MUST_USE vyre_status vyre_phases_end(vyre_context *context, const vyre_module *module, vyre_result *out);
/* Returns whether one of the phases writes the memory with that number. */
bool vyre_phases_write(const vyre_phases *phases, uint32_t memory);
/* Returns whether a phase uses the memory.  If not, it has the levels of a step, or is declared only. */
bool vyre_phases_use(const vyre_phases *phases, uint32_t memory);

/* Returns whether the memory is the counter `loses_versions`, which is 0 if the phases preserved versions. */
bool vyre_phases_is_loss(const vyre_phase_memory *memory);

/* Returns the kernels for a device that accepts these forms (a bit for each vyre_kernel_form), or NULL if there are none. */
const vyre_phase_kernels *vyre_phases_kernels(const vyre_phases *phases, uint32_t forms);
/* Returns the number of words of the head at the end of the push constants of these kernels, or 0 if they read it in the arena. */
uint32_t vyre_phases_head_words(const vyre_phases *phases, const vyre_phase_kernels *kernels);

/* Returns the analysis that makes the column with that name, or 0 for a column of the table. */
uint32_t vyre_column_analysis(const char *name);

/* vyre_host's `memory`. */
uint32_t *vyre_phases_memory(vyre_pass_ctx *ctx, const char *name, uint32_t words);

#endif
