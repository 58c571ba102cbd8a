/* A row being computed, shared by the evaluator's files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_EVAL_INTERNAL_H
#define VYRE_IR_EVAL_INTERNAL_H

#include "vyre/eval.h"

typedef struct row_eval {
  vyre_opcode op;
  vyre_type type; /* the result type */
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

/* Compute row->out. Return false if the op has no meaning for these operands. */
bool vyre_eval_vector(const row_eval *row);
bool vyre_eval_matrix(const row_eval *row);
bool vyre_eval_int_dot(const row_eval *row);
/* Returns whether a product, or a sum of some of the products in any order, exceeds the result type. */
bool vyre_eval_int_dot_overflows(const row_eval *row);
/* Returns whether a matrix is square and its determinant is zero. */
bool vyre_eval_is_singular(const vyre_eval_operand *operand);
/* Returns whether the row would be undefined in a relaxed program. The op has a meaning for these operands. */
bool vyre_eval_is_undefined(const row_eval *row);

#endif
