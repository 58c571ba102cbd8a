/* What simplify's phases are given, and what is known of loads before its sweep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_SIMPLIFY_PHASES_H
#define VYRE_PASSES_SIMPLIFY_PHASES_H

#include "../rules/sweep.h"
#include "../state/memory.h"

/* ORDER: states.vir's. */
enum {
  ACCESS_FOLLOWED = 1,    /* a load of which something may be known */
  ACCESS_THERE = 2,       /* its location is surely there */
  ACCESS_STARTS = 4,      /* what it holds at the start is a literal */
  ACCESS_ONE_PLACE = 8,   /* a write of nothing but its location */
  ACCESS_PLAIN_STORE = 16 /* a store that a load may take the value of */
};

/* Of a load in that program, before rows change: ACCESS_FOLLOWED, THERE, STARTS. */
uint32_t phases_access_of_load(const memory *m, uint32_t load, uint32_t program);

/* vyre_pass's, with the tables of rules that the pass has; `built_in` is of `count` words. */
vyre_status phases_prepare(vyre_pass_ctx *ctx, const vyre_module *module, const uint32_t *built_in, uint32_t count);

#endif
