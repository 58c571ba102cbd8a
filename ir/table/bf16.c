/* Conversions of bf16. It is not a kind: a bf16 is stored in 16 bits, the upper half of an f32. Both conversions are rows of
 * integer ops, so that each pass, target and output has them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

static vyre_type
type_of(const vyre_builder *builder, vyre_row row)
{
  return VYRE_ROW_TYPE(vyre_module_view(builder->module)->op[row.id]);
}

vyre_row
vyre_build_unpack_bf16(vyre_builder *builder, vyre_row bits)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type_of(builder, bits));
  const vyre_row wide = vyre_build_convert(builder, VYRE_OP_convert, VYRE_TYPE(VYRE_U32, lanes), bits);
  return vyre_build_convert(builder, VYRE_OP_bitcast, VYRE_TYPE(VYRE_F32, lanes), vyre_build_imm(builder, VYRE_OP_shl, wide, 16));
}

/* Adds just less than half of the last kept bit, or exactly half if that bit is set, and cuts. A carry into the exponent rounds
 * correctly, and too large values become infinity. NaNs do not pass through the sum, because it could carry out of their
 * mantissa. */
vyre_row
vyre_build_pack_bf16(vyre_builder *builder, vyre_row value)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type_of(builder, value));
  const vyre_type u32 = VYRE_TYPE(VYRE_U32, lanes);
  const vyre_row bits = vyre_build_convert(builder, VYRE_OP_bitcast, u32, value);
  const vyre_row last = vyre_build_imm(builder, VYRE_OP_and, vyre_build_imm(builder, VYRE_OP_ushr, bits, 16), 1);
  const vyre_row half = vyre_build_imm(builder, VYRE_OP_add, last, 0x7fff);
  const vyre_row rounded = vyre_build_imm(builder, VYRE_OP_ushr, vyre_build_binary(builder, VYRE_OP_add, bits, half), 16);
  const vyre_row size = vyre_build_imm(builder, VYRE_OP_and, bits, 0x7fffffff);
  const vyre_row is_nan = vyre_build_imm(builder, VYRE_OP_ugt, size, 0x7f800000);
  const vyre_row quiet = vyre_build_const(builder, u32, 0x7fc0);
  return vyre_build_convert(builder, VYRE_OP_convert, VYRE_TYPE(VYRE_U16, lanes),
                            vyre_build_select(builder, is_nan, quiet, rounded));
}
