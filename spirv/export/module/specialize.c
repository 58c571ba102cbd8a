/* Rows whose operands are all specialization constants become OpSpecConstantOp.  They are computed once, when the pipeline is
 * created, not by invocations.
 *
 * Limits: relaxed programs, because guards of strict programs are instructions; scalars; operations that OpSpecConstantOp supports
 * in shaders.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#include "vyre/view.h"

enum { NONE, CONSTANT, CONTRACTS };

const bool vyre_spv_may_specialize[VYRE_OP__COUNT] = {
#define SPV_OP(op, instruction, kinds, operands, sort, form, writer) [VYRE_OP_##op] = sort == CONSTANT,
#define SPV_ALSO(op, instruction, kinds, operands, sort, form)
#include "spirv/ops.def"
    [VYRE_OP_select] = true,
    [VYRE_OP_convert] = true,
    [VYRE_OP_bitcast] = true,
};

/* Returns whether the type is a scalar on which the module may compute.  It may only store other types in memory. */
static bool
is_computed(const vyre_spv *s, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (VYRE_TYPE_LANES(type) != 1)
    return false;
  const uint32_t capability = vyre_spv_kind_capability(kind);
  return capability ? vyre_spv_declares(s, capability) : kind == VYRE_BOOL || vyre_kind_bits(kind) == 32;
}

/* Returns whether OpSpecConstantOp supports the row.  For floats, these are selections and float conversions. */
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

/* A row with undefined cases is only specialized if it always runs, because specialization constants are always computed. */
bool
vyre_spv_is_specialized(const vyre_spv *s, uint32_t row)
{
  return has_form(s, row) && is_constant(s, s->a[row]) && is_constant(s, s->b[row]) && is_constant(s, s->c[row]) &&
         (s->block == s->sure_block || vyre_row_may_speculate(s->view, row));
}
