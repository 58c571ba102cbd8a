/* Folding of one row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_CF_FOLD_H
#define VYRE_PASSES_CF_FOLD_H

#include "vyre/plugin.h"

/* Returns whether a literal may be behind the row: it is a literal, or puts operands together, or is absent. */
static inline bool
fold_may_be_literal(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  return row == 0 || op == VYRE_OP_const || op == VYRE_OP_join || op == VYRE_OP_tuple;
}

/* Returns whether an operand shows that a join is not a splat: it differs from the literal a, or is a join that was not folded. */
static inline bool
fold_is_mixed(const vyre_view *v, uint32_t a, uint32_t operand)
{
  if (vyre_op_of(v, operand) == VYRE_OP_join)
    return vyre_row_is_pure(v, operand);
  return vyre_row_is_const(v, a) && vyre_row_is_const(v, operand) && vyre_row_imm(v, a) != vyre_row_imm(v, operand);
}

/* Returns whether folding may succeed, if operands were folded before the row.  A cheap test, because most rows cannot be folded.
 */
static inline bool
fold_may_be_known(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]), a = v->a[row];
  if (op == VYRE_OP_part)
    return true;
  if (op == VYRE_OP_join && (fold_is_mixed(v, a, a) || fold_is_mixed(v, a, v->b[row]) || fold_is_mixed(v, a, v->c[row])))
    return false;
  return vyre_op_info_of(v, op)->fold == VYRE_FOLD_EXACT && fold_may_be_literal(v, v->a[row]) &&
         (op == VYRE_OP_select || (fold_may_be_literal(v, v->b[row]) && fold_may_be_literal(v, v->c[row])));
}

/* Returns the operand of a tuple row that a `part` is, 0 if the parts are not those of a tuple row. */
static inline uint32_t
fold_part(const vyre_view *v, uint32_t row)
{
  return vyre_op_of(v, v->a[row]) == VYRE_OP_tuple ? vyre_tuple_part(v, v->a[row], v->imm[row]) : 0;
}

/* Returns the operand that the row equals: the selected operand of a select whose condition is a literal, or the operand for a
 * part of a tuple row.  Returns 0 if there is none. */
static inline uint32_t
fold_known_operand(const vyre_view *v, uint32_t row)
{
  switch (VYRE_ROW_OP(v->op[row])) {
  case VYRE_OP_select:
    return !vyre_row_is_const(v, v->a[row]) ? 0 : v->imm[v->a[row]] ? v->b[row] : v->c[row];
  case VYRE_OP_part:
    return fold_part(v, row);
  default:
    return 0;
  }
}

/* Replaces the row by its literal value.  Returns false if the value is unknown, or is a vector that is not a splat. */
static inline bool
fold_to_literal(const vyre_host *host, vyre_module *module, uint32_t row)
{
  vyre_type type;
  uint64_t lanes[4];
  if (!host->fold(module, row, &type, lanes))
    return false;
  for (uint32_t lane = 1; lane < VYRE_TYPE_LANES(type); lane++)
    if (lanes[lane] != lanes[0])
      return false;
  host->rewrite(module, row, VYRE_ROW(VYRE_OP_const, type, 0), (uint32_t)lanes[0], (uint32_t)(lanes[0] >> 32), 0, 0, 0);
  return true;
}

#endif
