/* Running the phases of a GPU pass on this machine's processors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_PHASES_H
#define VYRE_PASSMGR_PHASES_H

#include "context.h"

/* phases.c: whether the phases of the record's pass can be run; record->sources has room for all their memory, and gets where it is
 * from.  False: *out_why says what is wrong. */
bool vyre_phases_resolve(vyre_pass_record *record, const char **out_why);

/* phases.c: prepare, sequence, finish; then the rows that died are out of their regions. */
VYRE_MUST_USE vyre_status vyre_phases_run(vyre_context *context, vyre_module *module, vyre_result *out);

/* vyre_host's function of that name. */
uint32_t *vyre_phases_memory(vyre_pass_ctx *ctx, const char *name, uint32_t words);

/* sweep.c: the sequence alone; `memory` is by the numbering of phases->memory. */
VYRE_MUST_USE vyre_status vyre_phases_sweep(vyre_context *context, const vyre_view *view, const vyre_phases *phases,
                                            vyre_c_buffer *memory);

#endif
