/* Operations that need more than one instruction's words: OpSpecConstantOp for rows that must be constants, and NoContraction for
 * the float arithmetic of strict programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

enum { NONE, CONSTANT, CONTRACTS };

static const uint8_t sorts[] = {
#define SPV_OP(op, instruction, kinds, operands, sort, form, writer) [SpvOp##instruction] = sort,
#define SPV_ALSO(op, instruction, kinds, operands, sort, form)       [SpvOp##instruction] = sort,
#include "spirv/ops.def"
    [SpvOpVectorShuffle] = CONSTANT,      [SpvOpCompositeExtract] = CONSTANT,
    [SpvOpCompositeInsert] = CONSTANT,    [SpvOpSelect] = CONSTANT,
    [SpvOpSConvert] = CONSTANT,           [SpvOpFConvert] = CONSTANT,
    [SpvOpVectorTimesScalar] = CONTRACTS,
};

static bool
is_of_sort(uint32_t opcode, uint8_t sort)
{
  return opcode < sizeof(sorts) && sorts[opcode] == sort;
}

uint32_t
vyre_spv_special_op(vyre_spv *s, uint32_t opcode, uint32_t type, const uint32_t *operands, size_t count)
{
  if (s->constant) {
    uint32_t words[16] = {type, opcode};
    if (opcode == SpvOpCompositeConstruct) {
      for (size_t i = 0; i < count; i++)
        words[1 + i] = operands[i];
      return vyre_spv_intern(s, SpvOpSpecConstantComposite, true, words, 1 + count, NULL, 0, NULL);
    }
    if (!is_of_sort(opcode, CONSTANT))
      vyre_spv_fail(s, "a size needs an operation that OpSpecConstantOp does not have\nFix: compute sizes with integer arithmetic");
    for (size_t i = 0; i < count; i++)
      words[2 + i] = operands[i];
    return vyre_spv_intern(s, SpvOpSpecConstantOp, true, words, 2 + count, NULL, 0, NULL);
  }
  const uint32_t id = s->next_id++;
  uint32_t *words = vyre_spv_room(s, &s->code, 3 + count);
  words[0] = (uint32_t)(3 + count) << 16 | opcode;
  words[1] = type;
  words[2] = id;
  for (size_t i = 0; i < count; i++)
    words[3 + i] = operands[i];
  if (!s->exact && is_of_sort(opcode, CONTRACTS))
    vyre_spv_decorate(s, id, SpvDecorationNoContraction);
  return id;
}

uint32_t
vyre_spv_ext(vyre_spv *s, uint32_t function, uint32_t type, const uint32_t *operands, size_t count)
{
  uint32_t words[10] = {0, function};
  if (s->constant) {
    vyre_spv_fail(s, "a size needs a function that OpSpecConstantOp does not have\nFix: compute sizes with integer arithmetic");
    return 0;
  }
  if (!s->glsl)
    s->glsl = s->next_id++;
  words[0] = s->glsl;
  for (size_t i = 0; i < count; i++)
    words[2 + i] = operands[i];
  const uint32_t id = vyre_spv_op(s, SpvOpExtInst, type, words, 2 + count);
  if (s->strict && !s->exact && function == GLSLstd450Fma)
    vyre_spv_decorate(s, id, SpvDecorationNoContraction);
  return id;
}

void
vyre_spv_decorate(vyre_spv *s, uint32_t id, uint32_t decoration)
{
  const uint32_t operands[2] = {id, decoration};
  vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, operands, 2);
}

uint32_t
vyre_spv_select(vyre_spv *s, vyre_type type, uint32_t condition, vyre_type condition_type, uint32_t yes, uint32_t no)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  if (lanes > 1 && VYRE_TYPE_LANES(condition_type) == 1 && s->version < 0x10400) {
    const uint32_t parts[4] = {condition, condition, condition, condition};
    condition = vyre_spv_op(s, SpvOpCompositeConstruct, vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, lanes)), parts, lanes);
  }
  return vyre_spv_op3(s, SpvOpSelect, vyre_spv_value_type(s, type), condition, yes, no);
}
