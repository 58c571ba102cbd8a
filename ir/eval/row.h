/* Rows as operands of the evaluator, for constants and the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_EVAL_ROW_H
#define VYRE_IR_EVAL_ROW_H

#include "vyre/eval.h"
#include "vyre/view.h"

/* Computes like vyre_eval, in the thread's rounding mode. */
bool vyre_eval_here(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3],
                    vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined);

static inline vyre_kind
row_kind(const vyre_view *view, uint32_t row)
{
  return VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row]));
}

/* Returns the type of a row's immediate: u32 for indices, otherwise that of the left operand. */
static inline vyre_type
immediate_type(const vyre_view *view, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  return op == VYRE_OP_at || op == VYRE_OP_lane ? VYRE_TYPE(VYRE_U32, 1) : VYRE_ROW_TYPE(view->op[view->a[row]]);
}

#endif
