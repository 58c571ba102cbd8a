/* The operands that an op may have, and bits to fill them with, for laws over the whole op table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EVAL_SHAPE_H
#define EVAL_SHAPE_H

#include "vyre/eval.h"

/* The operands of an op, and the type of its result. */
typedef struct eval_sample {
  vyre_value values[3][4];
  vyre_eval_operand operands[3];
  vyre_type type;
  uint32_t imm;
} eval_sample;

enum { EVAL_EDGES = 38 };
extern const uint64_t eval_edges[EVAL_EDGES];

/* Returns whether the op is a function of operands of the kind. */
bool eval_accepts(vyre_opcode op, vyre_kind kind);
/* Sets the shape of the op's operands and of its result, with `lanes` lanes.  Matrices are square. */
void eval_shape(eval_sample *s, vyre_opcode op, vyre_kind kind, uint32_t lanes);
/* Fills every operand with values of eval_random. */
void eval_randomize(eval_sample *s);
/* Returns random bits, and in a quarter of all calls one of eval_edges. */
uint64_t eval_random(void);
/* Returns the low bits that the kind has. */
uint64_t eval_cut(vyre_kind kind, uint64_t bits);

#endif
