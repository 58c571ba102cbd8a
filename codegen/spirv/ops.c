/* Rows that give a value: one table from ops.def's numbers to SPIR-V's, and the few that are more than an instruction.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

/* How a row is written.  CORE: an instruction of its operands; EXT: one of GLSL.std.450; CORE32, EXT32: the same, but at other
 * widths by widths.c; OWN: by a function below; EXPAND: by expand.c. */
typedef enum form { NONE, CORE, EXT, CORE32, EXT32, OWN, EXPAND } form;

typedef struct op_form {
  uint8_t form;
  uint16_t code;       /* for integers and where there is but one */
  uint16_t float_code; /* 0: as code */
  uint16_t bool_code;
} op_form;

static const op_form forms[VYRE_OP__COUNT] = {
    [VYRE_OP_const] = {OWN, 0, 0, 0},
    [VYRE_OP_spec] = {OWN, 0, 0, 0},
    [VYRE_OP_tuple] = {OWN, 0, 0, 0},
    [VYRE_OP_part] = {OWN, 0, 0, 0},
    [VYRE_OP_join] = {OWN, 0, 0, 0},
    [VYRE_OP_splat] = {OWN, 0, 0, 0},
    [VYRE_OP_lane] = {OWN, 0, 0, 0},
    [VYRE_OP_insert] = {OWN, 0, 0, 0},
    [VYRE_OP_shuffle] = {OWN, 0, 0, 0},
    [VYRE_OP_select] = {OWN, 0, 0, 0},
    [VYRE_OP_add] = {CORE, SpvOpIAdd, SpvOpFAdd, 0},
    [VYRE_OP_sub] = {CORE, SpvOpISub, SpvOpFSub, 0},
    [VYRE_OP_mul] = {OWN, SpvOpIMul, SpvOpFMul, 0},
    [VYRE_OP_neg] = {CORE, SpvOpSNegate, SpvOpFNegate, 0},
    [VYRE_OP_udiv] = {CORE, SpvOpUDiv, 0, 0},
    [VYRE_OP_sdiv] = {CORE, SpvOpSDiv, 0, 0},
    [VYRE_OP_fdiv] = {CORE, SpvOpFDiv, 0, 0},
    [VYRE_OP_umod] = {CORE, SpvOpUMod, 0, 0},
    [VYRE_OP_srem] = {CORE, SpvOpSRem, 0, 0},
    [VYRE_OP_smod] = {CORE, SpvOpSMod, 0, 0},
    [VYRE_OP_frem] = {CORE, SpvOpFRem, 0, 0},
    [VYRE_OP_fmod] = {CORE, SpvOpFMod, 0, 0},
    [VYRE_OP_fma] = {EXT, GLSLstd450Fma, 0, 0},
    [VYRE_OP_uaddc] = {OWN, SpvOpIAddCarry, 0, 0},
    [VYRE_OP_usubb] = {OWN, SpvOpISubBorrow, 0, 0},
    [VYRE_OP_umulx] = {OWN, SpvOpUMulExtended, 0, 0},
    [VYRE_OP_smulx] = {OWN, SpvOpSMulExtended, 0, 0},
    [VYRE_OP_sabs] = {EXT, GLSLstd450SAbs, 0, 0},
    [VYRE_OP_fabs] = {EXT, GLSLstd450FAbs, 0, 0},
    [VYRE_OP_ssign] = {EXT, GLSLstd450SSign, 0, 0},
    [VYRE_OP_fsign] = {EXT, GLSLstd450FSign, 0, 0},
    [VYRE_OP_umin] = {OWN, GLSLstd450UMin, 0, 0},
    [VYRE_OP_umax] = {OWN, GLSLstd450UMax, 0, 0},
    [VYRE_OP_smin] = {OWN, GLSLstd450SMin, 0, 0},
    [VYRE_OP_smax] = {OWN, GLSLstd450SMax, 0, 0},
    [VYRE_OP_fmin] = {EXT, GLSLstd450FMin, 0, 0},
    [VYRE_OP_fmax] = {EXT, GLSLstd450FMax, 0, 0},
    [VYRE_OP_nmin] = {EXT, GLSLstd450NMin, 0, 0},
    [VYRE_OP_nmax] = {EXT, GLSLstd450NMax, 0, 0},
    [VYRE_OP_uclamp] = {EXT, GLSLstd450UClamp, 0, 0},
    [VYRE_OP_sclamp] = {EXT, GLSLstd450SClamp, 0, 0},
    [VYRE_OP_fclamp] = {EXT, GLSLstd450FClamp, 0, 0},
    [VYRE_OP_nclamp] = {EXT, GLSLstd450NClamp, 0, 0},
    [VYRE_OP_umulhi] = {EXPAND, 0, 0, 0},
    [VYRE_OP_smulhi] = {EXPAND, 0, 0, 0},
    [VYRE_OP_uaddsat] = {EXPAND, 0, 0, 0},
    [VYRE_OP_saddsat] = {EXPAND, 0, 0, 0},
    [VYRE_OP_usubsat] = {EXPAND, 0, 0, 0},
    [VYRE_OP_ssubsat] = {EXPAND, 0, 0, 0},
    [VYRE_OP_umulsat] = {EXPAND, 0, 0, 0},
    [VYRE_OP_smulsat] = {EXPAND, 0, 0, 0},
    [VYRE_OP_uabsdiff] = {EXPAND, 0, 0, 0},
    [VYRE_OP_sabsdiff] = {EXPAND, 0, 0, 0},
    [VYRE_OP_and] = {CORE, SpvOpBitwiseAnd, 0, SpvOpLogicalAnd},
    [VYRE_OP_or] = {CORE, SpvOpBitwiseOr, 0, SpvOpLogicalOr},
    [VYRE_OP_xor] = {CORE, SpvOpBitwiseXor, 0, SpvOpLogicalNotEqual},
    [VYRE_OP_not] = {CORE, SpvOpNot, 0, SpvOpLogicalNot},
    [VYRE_OP_shl] = {CORE, SpvOpShiftLeftLogical, 0, 0},
    [VYRE_OP_ushr] = {CORE, SpvOpShiftRightLogical, 0, 0},
    [VYRE_OP_sshr] = {CORE, SpvOpShiftRightArithmetic, 0, 0},
    [VYRE_OP_bitcount] = {CORE32, SpvOpBitCount, 0, 0},
    [VYRE_OP_bitrev] = {CORE32, SpvOpBitReverse, 0, 0},
    [VYRE_OP_findlsb] = {EXT32, GLSLstd450FindILsb, 0, 0},
    [VYRE_OP_findumsb] = {EXT32, GLSLstd450FindUMsb, 0, 0},
    [VYRE_OP_findsmsb] = {EXT32, GLSLstd450FindSMsb, 0, 0},
    [VYRE_OP_ubfe] = {CORE32, SpvOpBitFieldUExtract, 0, 0},
    [VYRE_OP_sbfe] = {CORE32, SpvOpBitFieldSExtract, 0, 0},
    [VYRE_OP_bfi] = {OWN, SpvOpBitFieldInsert, 0, 0},
    [VYRE_OP_any] = {OWN, SpvOpAny, 0, 0},
    [VYRE_OP_all] = {OWN, SpvOpAll, 0, 0},
    [VYRE_OP_rotl] = {EXPAND, 0, 0, 0},
    [VYRE_OP_rotr] = {EXPAND, 0, 0, 0},
    [VYRE_OP_eq] = {CORE, SpvOpIEqual, 0, SpvOpLogicalEqual},
    [VYRE_OP_ne] = {CORE, SpvOpINotEqual, 0, SpvOpLogicalNotEqual},
    [VYRE_OP_ult] = {CORE, SpvOpULessThan, 0, 0},
    [VYRE_OP_ule] = {CORE, SpvOpULessThanEqual, 0, 0},
    [VYRE_OP_ugt] = {CORE, SpvOpUGreaterThan, 0, 0},
    [VYRE_OP_uge] = {CORE, SpvOpUGreaterThanEqual, 0, 0},
    [VYRE_OP_slt] = {CORE, SpvOpSLessThan, 0, 0},
    [VYRE_OP_sle] = {CORE, SpvOpSLessThanEqual, 0, 0},
    [VYRE_OP_sgt] = {CORE, SpvOpSGreaterThan, 0, 0},
    [VYRE_OP_sge] = {CORE, SpvOpSGreaterThanEqual, 0, 0},
    [VYRE_OP_feq] = {CORE, SpvOpFOrdEqual, 0, 0},
    [VYRE_OP_fne] = {CORE, SpvOpFUnordNotEqual, 0, 0},
    [VYRE_OP_flt] = {CORE, SpvOpFOrdLessThan, 0, 0},
    [VYRE_OP_fle] = {CORE, SpvOpFOrdLessThanEqual, 0, 0},
    [VYRE_OP_fgt] = {CORE, SpvOpFOrdGreaterThan, 0, 0},
    [VYRE_OP_fge] = {CORE, SpvOpFOrdGreaterThanEqual, 0, 0},
    [VYRE_OP_fone] = {CORE, SpvOpFOrdNotEqual, 0, 0},
    [VYRE_OP_fueq] = {CORE, SpvOpFUnordEqual, 0, 0},
    [VYRE_OP_fult] = {CORE, SpvOpFUnordLessThan, 0, 0},
    [VYRE_OP_fule] = {CORE, SpvOpFUnordLessThanEqual, 0, 0},
    [VYRE_OP_fugt] = {CORE, SpvOpFUnordGreaterThan, 0, 0},
    [VYRE_OP_fuge] = {CORE, SpvOpFUnordGreaterThanEqual, 0, 0},
    [VYRE_OP_isnan] = {CORE, SpvOpIsNan, 0, 0},
    [VYRE_OP_isinf] = {CORE, SpvOpIsInf, 0, 0},
    [VYRE_OP_convert] = {OWN, 0, 0, 0},
    [VYRE_OP_bitcast] = {OWN, 0, 0, 0},
    [VYRE_OP_quantize16] = {CORE32, SpvOpQuantizeToF16, 0, 0},
    [VYRE_OP_packsnorm4x8] = {EXT, GLSLstd450PackSnorm4x8, 0, 0},
    [VYRE_OP_packunorm4x8] = {EXT, GLSLstd450PackUnorm4x8, 0, 0},
    [VYRE_OP_packsnorm2x16] = {EXT, GLSLstd450PackSnorm2x16, 0, 0},
    [VYRE_OP_packunorm2x16] = {EXT, GLSLstd450PackUnorm2x16, 0, 0},
    [VYRE_OP_packhalf2x16] = {EXT, GLSLstd450PackHalf2x16, 0, 0},
    [VYRE_OP_unpacksnorm4x8] = {EXT, GLSLstd450UnpackSnorm4x8, 0, 0},
    [VYRE_OP_unpackunorm4x8] = {EXT, GLSLstd450UnpackUnorm4x8, 0, 0},
    [VYRE_OP_unpacksnorm2x16] = {EXT, GLSLstd450UnpackSnorm2x16, 0, 0},
    [VYRE_OP_unpackunorm2x16] = {EXT, GLSLstd450UnpackUnorm2x16, 0, 0},
    [VYRE_OP_unpackhalf2x16] = {EXT, GLSLstd450UnpackHalf2x16, 0, 0},
    [VYRE_OP_round] = {EXT, GLSLstd450Round, 0, 0},
    [VYRE_OP_roundeven] = {EXT, GLSLstd450RoundEven, 0, 0},
    [VYRE_OP_trunc] = {EXT, GLSLstd450Trunc, 0, 0},
    [VYRE_OP_floor] = {EXT, GLSLstd450Floor, 0, 0},
    [VYRE_OP_ceil] = {EXT, GLSLstd450Ceil, 0, 0},
    [VYRE_OP_fract] = {EXT, GLSLstd450Fract, 0, 0},
    [VYRE_OP_sqrt] = {EXT, GLSLstd450Sqrt, 0, 0},
    [VYRE_OP_rsqrt] = {EXT, GLSLstd450InverseSqrt, 0, 0},
    [VYRE_OP_radians] = {EXT32, GLSLstd450Radians, 0, 0},
    [VYRE_OP_degrees] = {EXT32, GLSLstd450Degrees, 0, 0},
    [VYRE_OP_sin] = {EXT32, GLSLstd450Sin, 0, 0},
    [VYRE_OP_cos] = {EXT32, GLSLstd450Cos, 0, 0},
    [VYRE_OP_tan] = {EXT32, GLSLstd450Tan, 0, 0},
    [VYRE_OP_asin] = {EXT32, GLSLstd450Asin, 0, 0},
    [VYRE_OP_acos] = {EXT32, GLSLstd450Acos, 0, 0},
    [VYRE_OP_atan] = {EXT32, GLSLstd450Atan, 0, 0},
    [VYRE_OP_sinh] = {EXT32, GLSLstd450Sinh, 0, 0},
    [VYRE_OP_cosh] = {EXT32, GLSLstd450Cosh, 0, 0},
    [VYRE_OP_tanh] = {EXT32, GLSLstd450Tanh, 0, 0},
    [VYRE_OP_asinh] = {EXT32, GLSLstd450Asinh, 0, 0},
    [VYRE_OP_acosh] = {EXT32, GLSLstd450Acosh, 0, 0},
    [VYRE_OP_atanh] = {EXT32, GLSLstd450Atanh, 0, 0},
    [VYRE_OP_exp] = {EXT32, GLSLstd450Exp, 0, 0},
    [VYRE_OP_exp2] = {EXT32, GLSLstd450Exp2, 0, 0},
    [VYRE_OP_log] = {EXT32, GLSLstd450Log, 0, 0},
    [VYRE_OP_log2] = {EXT32, GLSLstd450Log2, 0, 0},
    [VYRE_OP_atan2] = {EXT32, GLSLstd450Atan2, 0, 0},
    [VYRE_OP_pow] = {EXT32, GLSLstd450Pow, 0, 0},
    [VYRE_OP_step] = {EXT, GLSLstd450Step, 0, 0},
    [VYRE_OP_fmix] = {EXT, GLSLstd450FMix, 0, 0},
    [VYRE_OP_smoothstep] = {EXT, GLSLstd450SmoothStep, 0, 0},
    [VYRE_OP_ldexp] = {EXT, GLSLstd450Ldexp, 0, 0},
    [VYRE_OP_frexp] = {OWN, GLSLstd450FrexpStruct, 0, 0},
    [VYRE_OP_modf] = {OWN, GLSLstd450ModfStruct, 0, 0},
    [VYRE_OP_dot] = {OWN, SpvOpDot, 0, 0},
    [VYRE_OP_norm] = {EXT, GLSLstd450Length, 0, 0},
    [VYRE_OP_distance] = {EXT, GLSLstd450Distance, 0, 0},
    [VYRE_OP_cross] = {EXT, GLSLstd450Cross, 0, 0},
    [VYRE_OP_normalize] = {EXT, GLSLstd450Normalize, 0, 0},
    [VYRE_OP_faceforward] = {EXT, GLSLstd450FaceForward, 0, 0},
    [VYRE_OP_reflect] = {EXT, GLSLstd450Reflect, 0, 0},
    [VYRE_OP_refract] = {EXT, GLSLstd450Refract, 0, 0},
    [VYRE_OP_matvec] = {CORE, SpvOpMatrixTimesVector, 0, 0},
    [VYRE_OP_vecmat] = {CORE, SpvOpVectorTimesMatrix, 0, 0},
    [VYRE_OP_matmat] = {OWN, SpvOpMatrixTimesMatrix, 0, 0},
    [VYRE_OP_transpose] = {OWN, SpvOpTranspose, 0, 0},
    [VYRE_OP_outer] = {OWN, SpvOpOuterProduct, 0, 0},
    [VYRE_OP_determinant] = {EXT, GLSLstd450Determinant, 0, 0},
    [VYRE_OP_inverse] = {OWN, GLSLstd450MatrixInverse, 0, 0},
};

uint32_t
vyre_spv_no_value(vyre_spv *s, uint32_t row)
{
  vyre_spv_fail(s, "operand row %u has no value here\nFix: verify the module before writing it", row);
  return 0;
}

static uint32_t
splat_here(vyre_spv *s, vyre_type type, uint64_t bits)
{
  const uint64_t lanes[4] = {bits, bits, bits, bits};
  return vyre_spv_lanes_here(s, type, lanes);
}

uint32_t
vyre_spv_right(vyre_spv *s, uint32_t row, vyre_type type)
{
  if (vyre_spv_flag(s, row, VYRE_ROW_IMM))
    return splat_here(s, type, vyre_spv_payload(s, row));
  return vyre_spv_value(s, s->b[row]);
}

/* ---- rows that are more than an instruction ---- */

static uint32_t
code_for(const op_form *f, vyre_type operand)
{
  const vyre_kind kind = VYRE_TYPE_KIND(operand);
  if (f->float_code && vyre_kind_is_float(kind))
    return f->float_code;
  return f->bool_code && kind == VYRE_BOOL ? f->bool_code : f->code;
}

static uint32_t
write_join(vyre_spv *s, uint32_t row, uint32_t type)
{
  uint64_t lanes[4];
  uint32_t parts[3], count = 0;
  if (vyre_spv_const_lanes(s, row, lanes))
    return vyre_spv_lanes_here(s, vyre_spv_row_type(s, row), lanes);
  parts[count++] = vyre_spv_value(s, s->a[row]);
  parts[count++] = vyre_spv_value(s, s->b[row]);
  if (s->c[row])
    parts[count++] = vyre_spv_value(s, s->c[row]);
  return vyre_spv_op(s, SpvOpCompositeConstruct, type, parts, count);
}

static uint32_t
write_splat(vyre_spv *s, uint32_t type, uint32_t lanes, uint32_t value)
{
  const uint32_t parts[4] = {value, value, value, value};
  return lanes == 1 ? value : vyre_spv_op(s, SpvOpCompositeConstruct, type, parts, lanes);
}

static uint32_t
write_lane(vyre_spv *s, uint32_t row, uint32_t type)
{
  const uint32_t vector = vyre_spv_value(s, s->a[row]);
  const vyre_type vector_type = vyre_spv_row_type(s, s->a[row]);
  const bool literal = vyre_spv_flag(s, row, VYRE_ROW_IMM);
  if (literal && s->imm[row] < VYRE_TYPE_LANES(vector_type))
    return VYRE_TYPE_LANES(vector_type) == 1 ? vector : vyre_spv_op2(s, SpvOpCompositeExtract, type, vector, s->imm[row]);
  if (literal) /* out of range: undefined, and 0 in a strict program */
    return vyre_spv_null(s, type);
  const uint32_t index = vyre_spv_value(s, s->b[row]);
  if (s->strict || VYRE_TYPE_LANES(vector_type) == 1)
    return vyre_spv_guarded_lane(s, vector, vector_type, index, s->b[row]);
  return vyre_spv_op2(s, SpvOpVectorExtractDynamic, type, vector, index);
}

static uint32_t
write_insert(vyre_spv *s, uint32_t row, uint32_t type)
{
  const uint32_t vector = vyre_spv_value(s, s->a[row]), value = vyre_spv_value(s, s->b[row]), at = s->c[row];
  const vyre_type vector_type = vyre_spv_row_type(s, s->a[row]);
  const uint32_t lanes = VYRE_TYPE_LANES(vector_type);
  if (vyre_spv_opcode(s, at) == VYRE_OP_const) {
    if (s->imm[at] >= lanes)
      return vector;
    return lanes == 1 ? value : vyre_spv_op3(s, SpvOpCompositeInsert, type, value, vector, s->imm[at]);
  }
  if (s->strict || lanes == 1)
    return vyre_spv_guarded_insert(s, vector, vector_type, value, vyre_spv_value(s, at), at);
  return vyre_spv_op3(s, SpvOpVectorInsertDynamic, type, vector, value, vyre_spv_value(s, at));
}

static uint32_t
write_shuffle(vyre_spv *s, uint32_t row, uint32_t type)
{
  const uint32_t second = s->b[row] ? s->b[row] : s->a[row];
  const uint32_t sources[2] = {vyre_spv_value(s, s->a[row]), vyre_spv_value(s, second)};
  const uint32_t widths[2] = {VYRE_TYPE_LANES(vyre_spv_row_type(s, s->a[row])), VYRE_TYPE_LANES(vyre_spv_row_type(s, second))};
  const vyre_type result = vyre_spv_row_type(s, row);
  const uint32_t count = VYRE_TYPE_LANES(result);
  const uint32_t scalar = vyre_spv_value_type(s, VYRE_TYPE(VYRE_TYPE_KIND(result), 1));
  if (count > 1 && widths[0] > 1 && widths[1] > 1) {
    uint32_t operands[6] = {sources[0], sources[1]};
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t lane = VYRE_SHUFFLE_LANE(s->imm[row], i);
      operands[2 + i] = lane < 4 ? lane : widths[0] + lane - 4;
    }
    return vyre_spv_op(s, SpvOpVectorShuffle, type, operands, 2 + count);
  }
  uint32_t parts[4];
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t lane = VYRE_SHUFFLE_LANE(s->imm[row], i), which = lane >> 2;
    parts[i] = widths[which] == 1 ? sources[which] : vyre_spv_op2(s, SpvOpCompositeExtract, scalar, sources[which], lane & 3);
  }
  return count == 1 ? parts[0] : vyre_spv_op(s, SpvOpCompositeConstruct, type, parts, count);
}

/* The k-th part of a row of kind tuple: what a tuple row was given, or a piece of a result. */
static uint32_t
write_part(vyre_spv *s, uint32_t row, uint32_t type)
{
  uint32_t tuple = s->a[row], k = s->imm[row];
  if (vyre_op_is_opaque(vyre_spv_opcode(s, tuple)))
    return vyre_spv_opaque_part(s, row);
  if (vyre_spv_opcode(s, tuple) != VYRE_OP_tuple)
    return vyre_spv_op2(s, SpvOpCompositeExtract, type, vyre_spv_value(s, tuple), k);
  /* chains of tuples: (a, b, the rest) */
  for (; VYRE_TUPLE_COUNT(s->imm[tuple]) > 3 && k >= 2; k -= 2)
    tuple = s->c[tuple];
  return vyre_spv_value(s, k == 0 ? s->a[tuple] : k == 1 ? s->b[tuple] : s->c[tuple]);
}

static uint32_t
tuple_part(const vyre_spv *s, uint32_t tuple, uint32_t k)
{
  for (; VYRE_TUPLE_COUNT(s->imm[tuple]) > 3 && k >= 2; k -= 2)
    tuple = s->c[tuple];
  return k == 0 ? s->a[tuple] : k == 1 ? s->b[tuple] : s->c[tuple];
}

static uint32_t
matrix_of(vyre_spv *s, uint32_t row)
{
  return vyre_spv_matrix_type(s, VYRE_TUPLE_TYPE(s->imm[row]), VYRE_TUPLE_COUNT(s->imm[row]));
}

/* A tuple of columns as a matrix, if some row uses it as one; other tuples are but their parts. */
static uint32_t
write_tuple(vyre_spv *s, uint32_t row)
{
  uint32_t columns[4];
  const uint32_t count = VYRE_TUPLE_COUNT(s->imm[row]);
  if (!(s->use[row - s->base] & VYRE_SPV_USED_MATRIX) || count > 4)
    return 0;
  for (uint32_t k = 0; k < count; k++)
    columns[k] = vyre_spv_value(s, tuple_part(s, row, k));
  return vyre_spv_op(s, SpvOpCompositeConstruct, matrix_of(s, row), columns, count);
}

/* Two results of one instruction, as a struct. */
static uint32_t
write_pair(vyre_spv *s, uint32_t row, const op_form *f)
{
  const vyre_type type = vyre_spv_row_type(s, s->a[row]);
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const uint32_t value = vyre_spv_value_type(s, type);
  const uint32_t second = op == VYRE_OP_frexp ? vyre_spv_value_type(s, VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type))) : value;
  const uint32_t members[2] = {value, second};
  const uint32_t result = vyre_spv_struct_of(s, members, 2);
  uint32_t operands[2] = {vyre_spv_value(s, s->a[row]), 0};
  if (op == VYRE_OP_frexp || op == VYRE_OP_modf)
    return vyre_spv_ext(s, f->code, result, operands, 1);
  operands[1] = vyre_spv_value(s, s->b[row]);
  return vyre_spv_op(s, f->code, result, operands, 2);
}

/* Integers of one width as those of another.  OpUConvert gives unsigned ones alone, and is no OpSpecConstantOp before 1.4. */
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
  return plain == to ? result : vyre_spv_op1(s, SpvOpBitcast, type, result);
}

static uint32_t
write_convert(vyre_spv *s, uint32_t row, uint32_t type)
{
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
    return vyre_spv_op1(s, vyre_kind_is_signed(from_kind) ? SpvOpConvertSToF : SpvOpConvertUToF, type, a);
  if (vyre_kind_bits(from_kind) != vyre_kind_bits(to_kind))
    return resize_integer(s, from, to, a);
  if (s->constant) /* OpSpecConstantOp has no OpBitcast in a shader; adding 0 is of either type */
    return vyre_spv_op2(s, SpvOpIAdd, type, a, vyre_spv_constant(s, to, 0));
  return vyre_spv_op1(s, SpvOpBitcast, type, a);
}

static uint32_t
write_bitcast(vyre_spv *s, uint32_t row, uint32_t type)
{
  const vyre_type from = vyre_spv_row_type(s, s->a[row]), to = vyre_spv_row_type(s, row);
  if (from == to || (vyre_kind_is_int(VYRE_TYPE_KIND(from)) && vyre_kind_is_int(VYRE_TYPE_KIND(to)) && s->constant))
    return write_convert(s, row, type);
  return vyre_spv_op1(s, SpvOpBitcast, type, vyre_spv_value(s, s->a[row]));
}

/* A vector times a splat is one multiplication by a scalar. */
static uint32_t
write_mul(vyre_spv *s, uint32_t row, uint32_t type, const op_form *f)
{
  const vyre_type result = vyre_spv_row_type(s, row);
  const uint32_t a = vyre_spv_value(s, s->a[row]);
  if (vyre_kind_is_float(VYRE_TYPE_KIND(result)) && VYRE_TYPE_LANES(result) > 1) {
    const vyre_type scalar = VYRE_TYPE(VYRE_TYPE_KIND(result), 1);
    if (vyre_spv_flag(s, row, VYRE_ROW_IMM))
      return vyre_spv_op2(s, SpvOpVectorTimesScalar, type, a, vyre_spv_constant(s, scalar, vyre_spv_payload(s, row)));
    if (vyre_spv_opcode(s, s->b[row]) == VYRE_OP_splat)
      return vyre_spv_op2(s, SpvOpVectorTimesScalar, type, a, vyre_spv_value(s, s->a[s->b[row]]));
    if (vyre_spv_opcode(s, s->a[row]) == VYRE_OP_splat)
      return vyre_spv_op2(s, SpvOpVectorTimesScalar, type, vyre_spv_value(s, s->b[row]), vyre_spv_value(s, s->a[s->a[row]]));
  }
  return vyre_spv_op2(s, code_for(f, result), type, a, vyre_spv_right(s, row, result));
}

/* Sizes take a minimum by compare and select: GLSL.std.450 has no specialization form. */
static uint32_t
write_minmax(vyre_spv *s, uint32_t row, uint32_t type, const op_form *f)
{
  const vyre_type result = vyre_spv_row_type(s, row);
  const uint32_t operands[2] = {vyre_spv_value(s, s->a[row]), vyre_spv_right(s, row, result)};
  if (!s->constant)
    return vyre_spv_ext(s, f->code, type, operands, 2);
  const uint32_t compare = f->code == GLSLstd450UMin   ? SpvOpULessThan
                           : f->code == GLSLstd450UMax ? SpvOpUGreaterThan
                           : f->code == GLSLstd450SMin ? SpvOpSLessThan
                                                       : SpvOpSGreaterThan;
  const vyre_type bools = VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(result));
  const uint32_t less = vyre_spv_op2(s, compare, vyre_spv_value_type(s, bools), operands[0], operands[1]);
  return vyre_spv_select(s, result, less, bools, operands[0], operands[1]);
}

static uint32_t
write_insert_bits(vyre_spv *s, uint32_t row, uint32_t type)
{
  const uint32_t operands[4] = {vyre_spv_value(s, s->a[row]), vyre_spv_value(s, s->b[row]),
                                vyre_spv_value(s, tuple_part(s, s->c[row], 0)), vyre_spv_value(s, tuple_part(s, s->c[row], 1))};
  return vyre_spv_op(s, SpvOpBitFieldInsert, type, operands, 4);
}

static uint32_t
write_own(vyre_spv *s, uint32_t row, const op_form *f)
{
  const vyre_type result = vyre_spv_row_type(s, row);
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const bool tuple = VYRE_TYPE_KIND(result) == VYRE_TUPLE;
  const uint32_t type = tuple ? 0 : vyre_spv_type_of_row(s, row);
  uint32_t operands[2];
  switch (op) {
  case VYRE_OP_const:
    return splat_here(s, result, vyre_spv_payload(s, row));
  case VYRE_OP_spec:
    return vyre_spv_spec(s, row);
  case VYRE_OP_tuple:
    return write_tuple(s, row);
  case VYRE_OP_part:
    return write_part(s, row, type);
  case VYRE_OP_join:
    return write_join(s, row, type);
  case VYRE_OP_splat:
    return write_splat(s, type, VYRE_TYPE_LANES(result), vyre_spv_value(s, s->a[row]));
  case VYRE_OP_lane:
    return write_lane(s, row, type);
  case VYRE_OP_insert:
    return write_insert(s, row, type);
  case VYRE_OP_shuffle:
    return write_shuffle(s, row, type);
  case VYRE_OP_select:
    return vyre_spv_select(s, result, vyre_spv_value(s, s->a[row]), vyre_spv_row_type(s, s->a[row]), vyre_spv_value(s, s->b[row]),
                           vyre_spv_value(s, s->c[row]));
  case VYRE_OP_mul:
    return write_mul(s, row, type, f);
  case VYRE_OP_umin:
  case VYRE_OP_umax:
  case VYRE_OP_smin:
  case VYRE_OP_smax:
    return write_minmax(s, row, type, f);
  case VYRE_OP_bfi:
    return write_insert_bits(s, row, type);
  case VYRE_OP_any:
  case VYRE_OP_all:
    if (VYRE_TYPE_LANES(vyre_spv_row_type(s, s->a[row])) == 1)
      return vyre_spv_value(s, s->a[row]);
    return vyre_spv_op1(s, f->code, type, vyre_spv_value(s, s->a[row]));
  case VYRE_OP_convert:
    return write_convert(s, row, type);
  case VYRE_OP_bitcast:
    return write_bitcast(s, row, type);
  case VYRE_OP_dot:
    return vyre_spv_op2(s, VYRE_TYPE_LANES(vyre_spv_row_type(s, s->a[row])) == 1 ? SpvOpFMul : SpvOpDot, type,
                        vyre_spv_value(s, s->a[row]), vyre_spv_value(s, s->b[row]));
  case VYRE_OP_matmat:
  case VYRE_OP_outer:
    return vyre_spv_op2(s, f->code, matrix_of(s, row), vyre_spv_value(s, s->a[row]), vyre_spv_value(s, s->b[row]));
  case VYRE_OP_transpose:
    return vyre_spv_op1(s, f->code, matrix_of(s, row), vyre_spv_value(s, s->a[row]));
  case VYRE_OP_inverse:
    operands[0] = vyre_spv_value(s, s->a[row]);
    return vyre_spv_ext(s, f->code, matrix_of(s, row), operands, 1);
  default:
    return write_pair(s, row, f);
  }
}

static uint32_t
write_plain(vyre_spv *s, uint32_t row, const op_form *f)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const vyre_type operand = vyre_spv_row_type(s, s->a[row]);
  const uint32_t type = vyre_spv_value_type(s, vyre_spv_row_type(s, row));
  const uint32_t count = vyre_op_infos[op].operands;
  uint32_t operands[3] = {vyre_spv_value(s, s->a[row]), 0, 0};
  if (count > 1)
    operands[1] = vyre_spv_right(s, row, operand);
  if (count > 2)
    operands[2] = vyre_spv_value(s, s->c[row]);
  if (f->form == EXT || f->form == EXT32)
    return vyre_spv_ext(s, f->code, type, operands, count);
  return vyre_spv_op(s, code_for(f, operand), type, operands, count);
}

static uint32_t
write_valued(vyre_spv *s, uint32_t row, const op_form *f)
{
  uint32_t id = 0;
  if (f->form == CORE32 || f->form == EXT32 || vyre_spv_opcode(s, row) == VYRE_OP_bfi)
    id = vyre_spv_other_width(s, row);
  if (id == 0 && s->strict)
    id = vyre_spv_guarded(s, row);
  if (id)
    return id;
  return f->form == OWN ? write_own(s, row, f) : f->form == EXPAND ? vyre_spv_expanded(s, row) : write_plain(s, row, f);
}

void
vyre_spv_decorate_as(vyre_spv *s, uint32_t row, uint32_t id)
{
  const uint32_t flags = VYRE_ROW_FLAGS(s->op[row]);
  if (s->constant)
    return;
  if (flags & VYRE_ROW_EXACT)
    vyre_spv_decorate(s, id, SpvDecorationNoContraction);
  if (flags & VYRE_ROW_RELAXED)
    vyre_spv_decorate(s, id, SpvDecorationRelaxedPrecision);
  if (flags & VYRE_ROW_NONUNIFORM)
    vyre_spv_decorate(s, id, SpvDecorationNonUniform);
  if (flags & VYRE_ROW_DECO) {
    uint32_t count = 0;
    const uint32_t *words = vyre_row_decorations(s->module, (vyre_row){row}, &count);
    for (uint32_t at = 0; at + 2 <= count && words[at + 1] <= count - at - 2; at += 2 + words[at + 1]) {
      vyre_spv_push(s, &s->decorations, (3 + words[at + 1]) << 16 | SpvOpDecorate);
      vyre_spv_push(s, &s->decorations, id);
      vyre_spv_push(s, &s->decorations, words[at]);
      vyre_spv_append(s, &s->decorations, words + at + 2, words[at + 1]);
    }
  }
}

void
vyre_spv_row(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const op_form *f = &forms[op];
  const uint32_t first_new = s->next_id;
  uint32_t id = 0;
  s->exact = vyre_spv_flag(s, row, VYRE_ROW_EXACT);
  if (f->form != NONE)
    id = write_valued(s, row, f);
  else if (vyre_spv_is_place(op))
    id = vyre_spv_place(s, op);
  else if (op >= VYRE_OP_subgroup_elect && op <= VYRE_OP_subgroup_xor)
    id = vyre_spv_subgroup(s, row);
  else
    vyre_spv_fail(s, "no instruction is known for '%s'", vyre_op_infos[op].text);
  s->exact = false;
  s->id[row - s->base] = id;
  if (id >= first_new && op != VYRE_OP_const && op != VYRE_OP_spec)
    vyre_spv_describe(s, row, id);
}
