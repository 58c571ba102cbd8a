/* Integer dot products, with the capabilities that the types of their operands need.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#include "vyre/dot.h"

static void
need(vyre_spv *s, uint32_t capability)
{
  vyre_spv_need(s, capability, 0x10600, "SPV_KHR_integer_dot_product");
}

uint32_t
vyre_spv_int_dot(vyre_spv *s, uint32_t row)
{
  static const uint16_t codes[][2] = {
#define SPV_DOT(op, instruction, saturating) [VYRE_OP_##op - VYRE_OP_sdot] = {SpvOp##instruction, SpvOp##saturating},
#include "spirv/ops.def"
  };
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const vyre_type operand = vyre_spv_row_type(s, s->a[row]), result = vyre_spv_row_type(s, row);
  const vyre_dot_shape shape = vyre_dot_shape_of(op, operand);
  const bool overflows = vyre_dot_may_overflow(&shape, vyre_kind_bits(VYRE_TYPE_KIND(result)));
  /* otherwise the instruction has undefined cases that the row does not have */
  const bool saturates = s->c[row] && !(s->strict && overflows);
  uint32_t operands[4], count = 0;
  operands[count++] = vyre_spv_value(s, s->a[row]);
  operands[count++] = vyre_spv_value(s, s->b[row]);
  if (saturates)
    operands[count++] = vyre_spv_value(s, s->c[row]);
  if (shape.packed)
    operands[count++] = SpvPackedVectorFormatPackedVectorFormat4x8Bit;
  need(s, SpvCapabilityDotProduct);
  need(s, shape.packed                          ? SpvCapabilityDotProductInput4x8BitPacked
          : shape.bits == 8 && shape.lanes == 4 ? SpvCapabilityDotProductInput4x8Bit
                                                : SpvCapabilityDotProductInputAll);
  const uint32_t sum = vyre_spv_op(s, codes[op - VYRE_OP_sdot][saturates], vyre_spv_value_type(s, result), operands, count);
  return s->c[row] && !saturates ? vyre_spv_saturated_sum(s, result, sum, vyre_spv_value(s, s->c[row])) : sum;
}
