/* What simplify's phases are given, and what is known of loads before its sweep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_SIMPLIFY_PHASES_H
#define VYRE_PASSES_SIMPLIFY_PHASES_H

#include "../rules/sweep.h"
#include "../state/memory.h"
#include "states-constants.h"

/* Of a load in that program, before rows change: VIR_ACCESS_FOLLOWED, THERE, STARTS (states.vir). */
uint32_t phases_access_of_load(const memory *m, uint32_t load, uint32_t program);

/* vyre_pass's, with the tables of rules that the pass has; `built_in` is of `count` words. */
vyre_status phases_prepare(vyre_pass_ctx *ctx, const vyre_module *module, const uint32_t *built_in, uint32_t count);

#endif
