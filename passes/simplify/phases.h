/* The input of simplify's phases, and the facts about loads that hold before its sweep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_SIMPLIFY_PHASES_H
#define VYRE_PASSES_SIMPLIFY_PHASES_H

#include "../rules/sweep.h"
#include "../state/memory.h"
#include "states-constants.h"

/* Returns the VIR_ACCESS_ bits FOLLOWED, THERE and STARTS (states.vir) of a load of the program, before rows change. */
uint32_t phases_access_of_load(const memory *m, uint32_t load, uint32_t program);

/* Implements vyre_pass's `prepare`.  `built_in` is the pass's table of rules, of `count` words. */
vyre_status phases_prepare(vyre_pass_ctx *ctx, const vyre_module *module, const uint32_t *built_in, uint32_t count);

#endif
