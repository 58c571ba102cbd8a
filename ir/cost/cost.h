/* A cost model from inside.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_COST_COST_H
#define VYRE_IR_COST_COST_H

#include "vyre/cost.h"
#include "vyre/ir.h"

enum { COST_ISSUE, COST_LATENCY, COST_REGISTERS, COST_FIGURES };

struct vyre_cost_model {
  uint16_t figures[VYRE_OP__COUNT][VYRE_KIND__COUNT][COST_FIGURES];
  vyre_allocator allocator; /* of a parsed one */
};

/* The default model.  It is in a file of its own (cost-default.c): where its figures are visible, gcc copies it with thousands of
 * stores, and takes 20 s for that. */
extern const vyre_cost_model cost_default;

/* What ops.def says, before any text: issue; the rest is 0. */
void cost_begin(vyre_cost_model *model);
/* Puts the text's figures over those that are there.  USAGE: the first thing that is wrong; the model is of no use then. */
VYRE_MUST_USE vyre_status cost_read(vyre_cost_model *model, const char *text, size_t length, const char *name);

#endif
