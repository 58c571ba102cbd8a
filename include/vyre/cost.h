/* The cost model: the cost of a row on a GPU, by op and kind. docs/cost-model.md has the format of its files and lists its users.
 *
 * Threads: a model never changes after it was made, and threads may share it.
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

/* Returns vyre's own model, from ir/cost/default.cost. */
const vyre_cost_model *vyre_cost_model_default(void);
/* Parses a model. The text overrides the default model. `name` precedes line and column in messages. Returns a USAGE error if the
 * text is invalid. The allocator is copied; NULL means the default. */
VYRE_MUST_USE vyre_status vyre_cost_model_parse(const char *text, size_t length, const char *name, const vyre_allocator *allocator,
                                                vyre_cost_model **out);
/* Frees a parsed model. Does nothing to NULL. */
void vyre_cost_model_destroy(vyre_cost_model *model);

/* Returns the cost of a row of the op on values of the type (vyre_row_works_on in view.h). If the model is NULL, the default one is
 * used. The op is less than VYRE_OP__COUNT, the type's kind less than VYRE_KIND__COUNT. */
vyre_cost vyre_cost_of(const vyre_cost_model *model, uint32_t op, vyre_type type);

#ifdef __cplusplus
}
#endif
#endif
