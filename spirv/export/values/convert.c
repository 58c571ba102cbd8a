/* Conversions, and constants that an instruction may make.
 *
 * A module may have capabilities that permit 8- and 16-bit kinds only in memory (SPIR-V 3.31, StorageBuffer16BitAccess and
 * similar).  Such kinds have no constants, and no instructions except conversions to another width.  So constants, changes of sign
 * and conversions from integers to floats go through 32 bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#include "vyre/eval.h"

/* Returns whether the module may use that kind only in memory. */
static bool
only_stored(const vyre_spv *s, vyre_kind kind)
{
  const uint32_t capability = vyre_spv_narrow_capability(kind);
  return capability && vyre_module_input(s->module, s->input)->capabilities.count && !vyre_spv_declares(s, capability);
}

static uint32_t
lanes_here(vyre_spv *s, vyre_type type, const uint64_t lanes[4])
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (!only_stored(s, kind))
    return vyre_spv_lanes(s, type, lanes);
  const bool is_float = kind == VYRE_F16, is_signed = vyre_kind_is_signed(kind);
  const vyre_type wide = VYRE_TYPE(is_float ? VYRE_F32 : is_signed ? VYRE_I32 : VYRE_U32, VYRE_TYPE_LANES(type));
  const vyre_value narrow = {{lanes[0], lanes[1], lanes[2], lanes[3]}};
  const vyre_eval_operand operands[3] = {{.value = &narrow, .type = type}};
  vyre_value out[VYRE_EVAL_PARTS] = {0};
  bool undefined;
  (void)vyre_eval(VYRE_ROW(VYRE_OP_convert, wide, 0), 0, 0, operands, out, &undefined);
  const uint32_t opcode = is_float ? SpvOpFConvert : is_signed ? SpvOpSConvert : SpvOpUConvert;
  const uint32_t to = vyre_spv_value_type(s, type); /* first, because C does not order the evaluation of arguments */
  return vyre_spv_op1(s, opcode, to, vyre_spv_lanes(s, wide, out[0].lane));
}

uint32_t
vyre_spv_splat_here(vyre_spv *s, vyre_type type, uint64_t bits)
{
  if (VYRE_TYPE_LANES(type) == 1 && !vyre_spv_narrow_capability(VYRE_TYPE_KIND(type)))
    return vyre_spv_scalar(s, VYRE_TYPE_KIND(type), bits);
  const uint64_t lanes[4] = {bits, bits, bits, bits};
  return lanes_here(s, type, lanes);
}

uint32_t
vyre_spv_const_here(vyre_spv *s, vyre_type type, const uint32_t rows[4])
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t count = VYRE_TYPE_LANES(type);
  const bool is_stored = only_stored(s, kind);
  uint32_t operands[5] = {vyre_spv_value_type(s, type)};
  uint64_t lanes[4] = {0};
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = vyre_spv_payload(s, rows[i]);
    if (!is_stored) /* a scalar row is a constant of the module already */
      operands[1 + i] =
          VYRE_TYPE_LANES(vyre_spv_row_type(s, rows[i])) == 1 ? vyre_spv_value(s, rows[i]) : vyre_spv_scalar(s, kind, lanes[i]);
  }
  return is_stored ? lanes_here(s, type, lanes)
                   : vyre_spv_intern(s, SpvOpConstantComposite, true, operands, 1 + count, NULL, 0, NULL);
}

/* ---- rows ---- */

/* Returns an integer as the integer type `to` of the other signedness. */
static uint32_t
resign(vyre_spv *s, vyre_type to, uint32_t value)
{
  const uint32_t type = vyre_spv_value_type(s, to);
  if (!only_stored(s, VYRE_TYPE_KIND(to)))
    return vyre_spv_op1(s, SpvOpBitcast, type, value);
  const uint32_t wide = vyre_spv_op1(s, SpvOpUConvert, vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, VYRE_TYPE_LANES(to))), value);
  return vyre_spv_op1(s, vyre_kind_is_signed(VYRE_TYPE_KIND(to)) ? SpvOpSConvert : SpvOpUConvert, type, wide);
}

/* Converts integers between widths.  OpUConvert only has unsigned results, and OpSpecConstantOp lacks it before SPIR-V 1.4. */
static uint32_t
resize_integer(vyre_spv *s, vyre_type from, vyre_type to, uint32_t value)
{
  const vyre_kind from_kind = VYRE_TYPE_KIND(from), to_kind = VYRE_TYPE_KIND(to);
  const uint32_t type = vyre_spv_value_type(s, to);
  const bool widens = vyre_kind_bits(to_kind) > vyre_kind_bits(from_kind);
  if ((!widens && vyre_kind_is_signed(to_kind)) || vyre_kind_is_signed(from_kind) || s->constant) {
    const uint32_t result = vyre_spv_op1(s, SpvOpSConvert, type, value);
    if (!widens || vyre_kind_is_signed(from_kind))
      return result;
    const uint64_t mask = (UINT64_C(1) << vyre_kind_bits(from_kind)) - 1;
    return vyre_spv_op2(s, SpvOpBitwiseAnd, type, result, vyre_spv_constant(s, to, mask));
  }
  const vyre_type plain = VYRE_TYPE(vyre_spv_bits_kind(to_kind), VYRE_TYPE_LANES(to));
  const uint32_t result = vyre_spv_op1(s, SpvOpUConvert, vyre_spv_value_type(s, plain), value);
  return plain == to ? result : resign(s, to, result);
}

static uint32_t
float_of_integer(vyre_spv *s, vyre_type from, vyre_type to, uint32_t value)
{
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(from));
  const vyre_type wide = VYRE_TYPE(is_signed ? VYRE_I32 : VYRE_U32, VYRE_TYPE_LANES(from));
  if (only_stored(s, VYRE_TYPE_KIND(from)))
    value = resize_integer(s, from, wide, value);
  return vyre_spv_op1(s, is_signed ? SpvOpConvertSToF : SpvOpConvertUToF, vyre_spv_value_type(s, to), value);
}

uint32_t
vyre_spv_convert(vyre_spv *s, uint32_t row)
{
  const uint32_t type = vyre_spv_type_of_row(s, row);
  const uint32_t a = vyre_spv_value(s, s->a[row]);
  const vyre_type from = vyre_spv_row_type(s, s->a[row]), to = vyre_spv_row_type(s, row);
  const vyre_kind from_kind = VYRE_TYPE_KIND(from), to_kind = VYRE_TYPE_KIND(to);
  if (from == to)
    return a;
  if (vyre_kind_is_float(from_kind) && vyre_kind_is_float(to_kind))
    return vyre_spv_op1(s, SpvOpFConvert, type, a);
  if (vyre_kind_is_float(from_kind))
    return vyre_spv_op1(s, vyre_kind_is_signed(to_kind) ? SpvOpConvertFToS : SpvOpConvertFToU, type, a);
  if (vyre_kind_is_float(to_kind))
    return float_of_integer(s, from, to, a);
  if (vyre_kind_bits(from_kind) != vyre_kind_bits(to_kind))
    return resize_integer(s, from, to, a);
  if (s->use[row - s->base] & VYRE_SPV_EITHER_SIGN && !s->constant)
    return a;
  if (s->constant) /* OpSpecConstantOp has no OpBitcast in a shader; adding 0 changes the type, too */
    return vyre_spv_op2(s, SpvOpIAdd, type, a, vyre_spv_constant(s, to, 0));
  return resign(s, to, a);
}

uint32_t
vyre_spv_bitcast(vyre_spv *s, uint32_t row)
{
  const vyre_type from = vyre_spv_row_type(s, s->a[row]), to = vyre_spv_row_type(s, row);
  const bool integers = vyre_kind_is_int(VYRE_TYPE_KIND(from)) && vyre_kind_is_int(VYRE_TYPE_KIND(to));
  if (from == to || (integers && VYRE_TYPE_LANES(from) == VYRE_TYPE_LANES(to)))
    return vyre_spv_convert(s, row);
  return vyre_spv_op1(s, SpvOpBitcast, vyre_spv_type_of_row(s, row), vyre_spv_value(s, s->a[row]));
}
