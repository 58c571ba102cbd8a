/* The cost model: what a row costs on a GPU, by op and kind.  docs/cost-model.md has the format of its files, and what uses it.
 *
 * A model is data: it never changes after it was made, and threads may share it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_COST_H
#define VYRE_COST_H

#include "vyre/status.h"
#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_cost_model vyre_cost_model;

/* vyre's own, of ir/cost/default.cost. */
const vyre_cost_model *vyre_cost_model_default(void);
/* The default one, but for what the text says otherwise.  `name` precedes line and column in messages.  USAGE: it is no such text.
 * Allocator NULL: the default one; it is copied. */
VYRE_MUST_USE vyre_status vyre_cost_model_parse(const char *text, size_t length, const char *name, const vyre_allocator *allocator,
                                                vyre_cost_model **out);
/* Of one that was parsed.  NULL is ignored. */
void vyre_cost_model_destroy(vyre_cost_model *model);

/* What a row of the op costs that works on values of that type, as vyre_row_works_on (view.h) says it.  Model NULL: the default
 * one. The op is below VYRE_OP__COUNT, the type's kind below VYRE_KIND__COUNT. */
vyre_cost vyre_cost_of(const vyre_cost_model *model, uint32_t op, vyre_type type);

#ifdef __cplusplus
}
#endif
#endif
