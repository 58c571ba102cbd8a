/* Rows over specialization constants alone, which become OpSpecConstantOp: what is known when the pipeline is made is computed
 * then, and no invocation does.
 *
 * Limits: in relaxed programs (guards of a strict one are instructions), scalars, and what OpSpecConstantOp has of them in a
 * shader.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include "vyre/view.h"

const bool vyre_spv_may_specialize[VYRE_OP__COUNT] = {
    [VYRE_OP_select] = true, [VYRE_OP_convert] = true, [VYRE_OP_bitcast] = true, [VYRE_OP_add] = true,  [VYRE_OP_sub] = true,
    [VYRE_OP_mul] = true,    [VYRE_OP_neg] = true,     [VYRE_OP_udiv] = true,    [VYRE_OP_sdiv] = true, [VYRE_OP_umod] = true,
    [VYRE_OP_srem] = true,   [VYRE_OP_smod] = true,    [VYRE_OP_and] = true,     [VYRE_OP_or] = true,   [VYRE_OP_xor] = true,
    [VYRE_OP_not] = true,    [VYRE_OP_shl] = true,     [VYRE_OP_ushr] = true,    [VYRE_OP_sshr] = true, [VYRE_OP_eq] = true,
    [VYRE_OP_ne] = true,     [VYRE_OP_ult] = true,     [VYRE_OP_ule] = true,     [VYRE_OP_ugt] = true,  [VYRE_OP_uge] = true,
    [VYRE_OP_slt] = true,    [VYRE_OP_sle] = true,     [VYRE_OP_sgt] = true,     [VYRE_OP_sge] = true,
};

/* A scalar that the module computes with; others it may hold in memory alone. */
static bool
is_computed(const vyre_spv *s, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (VYRE_TYPE_LANES(type) != 1)
    return false;
  const uint32_t capability = vyre_spv_kind_capability(kind);
  return capability ? vyre_spv_declares(s, capability) : kind == VYRE_BOOL || vyre_kind_bits(kind) == 32;
}

/* Floats are chosen and converted to floats. */
static bool
has_form(const vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const bool to_float = vyre_kind_is_float(VYRE_TYPE_KIND(vyre_spv_row_type(s, row)));
  const bool from_float = vyre_kind_is_float(VYRE_TYPE_KIND(vyre_spv_row_type(s, s->a[row])));
  if (!vyre_spv_may_specialize[op] || !is_computed(s, vyre_spv_row_type(s, row)))
    return false;
  return op == VYRE_OP_select || (to_float == from_float && (!to_float || op == VYRE_OP_convert));
}

static bool
is_constant(const vyre_spv *s, uint32_t row)
{
  if (row - s->base >= s->count)
    return row == 0;
  return is_computed(s, vyre_spv_row_type(s, row)) &&
         (vyre_spv_opcode(s, row) == VYRE_OP_const || (s->use[row - s->base] & VYRE_SPV_SPECIALIZED) != 0);
}

/* A row that may be undefined is not made a constant unless it always runs: constants are always computed, with the pipeline. */
bool
vyre_spv_is_specialized(const vyre_spv *s, uint32_t row)
{
  return has_form(s, row) && is_constant(s, s->a[row]) && is_constant(s, s->b[row]) && is_constant(s, s->c[row]) &&
         (s->block == s->sure_block || vyre_row_may_speculate(s->view, row));
}
