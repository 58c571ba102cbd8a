/* Rows over specialization constants alone, which become OpSpecConstantOp: what is known when the pipeline is made is computed
 * then, and no invocation does.
 *
 * Limits: in relaxed programs (guards of a strict one are instructions), scalars of 32 bits and bools, and what OpSpecConstantOp
 * has of them in a shader.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include "vyre/view.h"

static const bool is_special[VYRE_OP__COUNT] = {
    [VYRE_OP_select] = true, [VYRE_OP_add] = true,  [VYRE_OP_sub] = true,     [VYRE_OP_mul] = true,     [VYRE_OP_neg] = true,
    [VYRE_OP_udiv] = true,   [VYRE_OP_sdiv] = true, [VYRE_OP_umod] = true,    [VYRE_OP_srem] = true,    [VYRE_OP_smod] = true,
    [VYRE_OP_and] = true,    [VYRE_OP_or] = true,   [VYRE_OP_xor] = true,     [VYRE_OP_not] = true,     [VYRE_OP_shl] = true,
    [VYRE_OP_ushr] = true,   [VYRE_OP_sshr] = true, [VYRE_OP_eq] = true,      [VYRE_OP_ne] = true,      [VYRE_OP_ult] = true,
    [VYRE_OP_ule] = true,    [VYRE_OP_ugt] = true,  [VYRE_OP_uge] = true,     [VYRE_OP_slt] = true,     [VYRE_OP_sle] = true,
    [VYRE_OP_sgt] = true,    [VYRE_OP_sge] = true,  [VYRE_OP_convert] = true, [VYRE_OP_bitcast] = true,
};

static bool
is_plain_type(const vyre_spv *s, uint32_t row)
{
  const vyre_type type = vyre_spv_row_type(s, row);
  return type == VYRE_TYPE(VYRE_U32, 1) || type == VYRE_TYPE(VYRE_I32, 1) || type == VYRE_TYPE(VYRE_BOOL, 1);
}

static bool
is_constant(const vyre_spv *s, uint32_t row)
{
  if (row - s->base >= s->count)
    return row == 0;
  return is_plain_type(s, row) && (vyre_spv_opcode(s, row) == VYRE_OP_const || (s->use[row - s->base] & VYRE_SPV_SPECIALIZED) != 0);
}

/* What is undefined where it is never run is not computed when the pipeline is made, which always runs. */
bool
vyre_spv_is_specialized(const vyre_spv *s, uint32_t row)
{
  return is_special[vyre_spv_opcode(s, row)] && is_plain_type(s, row) && is_constant(s, s->a[row]) && is_constant(s, s->b[row]) &&
         is_constant(s, s->c[row]) && (s->block == s->sure_block || vyre_row_may_speculate(s->view, row));
}
