/* What operands an op may have, and bits to fill them with: for laws over the whole op table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EVAL_SHAPE_H
#define EVAL_SHAPE_H

#include "vyre/eval.h"

/* Operands of one op, and its result's type. */
typedef struct eval_sample {
  vyre_value values[3][4];
  vyre_eval_operand operands[3];
  vyre_type type;
  uint32_t imm;
} eval_sample;

enum { EVAL_EDGES = 38 };
extern const uint64_t eval_edges[EVAL_EDGES];

/* Whether the op is a function that takes operands of the kind; if so, which operands it has with so many lanes (matrices are
 * square). */
bool eval_takes(vyre_opcode op, vyre_kind kind);
void eval_shape(eval_sample *s, vyre_opcode op, vyre_kind kind, uint32_t lanes);
/* Random bits, and often an edge, in every operand. */
void eval_randomize(eval_sample *s);
uint64_t eval_random(void);
/* The bits that the kind has. */
uint64_t eval_cut(vyre_kind kind, uint64_t bits);

#endif
