/* Running the phases of a GPU pass.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_PHASES_H
#define VYRE_PASSMGR_RESIDENT_PHASES_H

#include "passmgr/registry/context.h"

/* phases.c: whether the phases of the record's pass can be run; record->sources has room for all their memory, and gets where it is
 * from.  False: *out_why says what is wrong. */
bool vyre_phases_resolve(vyre_pass_record *record, const char **out_why);

/* phases.c: the context's memory is taken, and `prepare` has filled what it gives. */
VYRE_MUST_USE vyre_status vyre_phases_begin(vyre_context *context, const vyre_module *module);
/* phases.c: after the phases: counters are in the report, `finish` has seen them. */
VYRE_MUST_USE vyre_status vyre_phases_end(vyre_context *context, const vyre_module *module, vyre_result *out);
/* phases.c: whether one of the phases writes that memory. */
bool vyre_phases_write(const vyre_phases *phases, uint32_t memory);

/* phases.c: the kernels for a device that takes these forms (a bit for each vyre_kernel_form).  NULL: there are none. */
const vyre_phase_kernels *vyre_phases_kernels(const vyre_phases *phases, uint32_t forms);

/* phases.c: the analysis that the column of that name is of; 0: none, it is the table's. */
uint32_t vyre_column_analysis(const char *name);

/* vyre_host's function of that name. */
uint32_t *vyre_phases_memory(vyre_pass_ctx *ctx, const char *name, uint32_t words);

#endif
