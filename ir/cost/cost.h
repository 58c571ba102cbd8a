/* The contents of a cost model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_COST_COST_H
#define VYRE_IR_COST_COST_H

#include "vyre/cost.h"
#include "vyre/ir.h"

enum { COST_ISSUE, COST_LATENCY, COST_REGISTERS, COST_FIGURES };

struct vyre_cost_model {
  uint16_t figures[VYRE_OP__COUNT][VYRE_KIND__COUNT][COST_FIGURES];
  vyre_allocator allocator; /* of a parsed model */
};

/* The default model, in a file of its own (cost-default.c). If its figures are visible, gcc copies it with thousands of stores,
 * which takes 20 s to compile. */
extern const vyre_cost_model cost_default;

/* Sets the issue figures from ops.def, and all other figures to 0. */
void cost_begin(vyre_cost_model *model);
/* Overwrites figures with those of the text. Returns a USAGE error for the first error in the text; the model is then invalid. */
VYRE_MUST_USE vyre_status cost_read(vyre_cost_model *model, const char *text, size_t length, const char *name);

#endif
