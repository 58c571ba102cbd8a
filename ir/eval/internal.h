/* A row being computed: what the evaluator's files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_EVAL_INTERNAL_H
#define VYRE_IR_EVAL_INTERNAL_H

#include "vyre/eval.h"

typedef struct row_eval {
  vyre_opcode op;
  vyre_type type; /* the result's */
  uint32_t imm;
  uint64_t literal;
  const vyre_eval_operand *operands;
  vyre_value *out;
} row_eval;

static inline uint64_t
lane_of(const vyre_eval_operand *operand, uint32_t lane)
{
  return operand->value ? operand->value->lane[lane] : 0;
}

static inline uint32_t
lanes_of(const vyre_eval_operand *operand)
{
  return VYRE_TYPE_LANES(operand->type);
}

/* Each writes row->out and returns false if the op has no meaning on these operands. */
bool vyre_eval_vector(const row_eval *row);
bool vyre_eval_matrix(const row_eval *row);
bool vyre_eval_int_dot(const row_eval *row);
/* Returns whether a product, or a sum of some of the products in any order, exceeds the result's type. */
bool vyre_eval_int_dot_overflows(const row_eval *row);
/* A square matrix whose determinant is zero. */
bool vyre_eval_is_singular(const vyre_eval_operand *operand);
/* A relaxed program's row on these operands, which it has a meaning on. */
bool vyre_eval_is_undefined(const row_eval *row);

#endif
