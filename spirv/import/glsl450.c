/* GLSL.std.450: a table from its functions to vyre's ops, and those that are not operands of one type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <spirv/unified1/GLSL.std.450.h>

typedef enum function_form {
  FUNCTION_PLAIN,  /* operands of one type, which the result has too */
  FUNCTION_PACK,   /* of `from` to the result */
  FUNCTION_SCALAR, /* vectors of one type to their component */
  FUNCTION_LDEXP,
  FUNCTION_REFRACT,
  FUNCTION_MATRIX,
  FUNCTION_PAIR, /* a struct: modf, frexp */
  FUNCTION_OUT,  /* the same with a pointer */
} function_form;

typedef struct glsl_function {
  uint16_t vyre; /* 0: none */
  uint8_t form, operands;
  vyre_type from, to; /* pack: types */
} glsl_function;

#define U1 VYRE_TYPE(VYRE_U32, 1)
#define F2 VYRE_TYPE(VYRE_F32, 2)
#define F4 VYRE_TYPE(VYRE_F32, 4)
#define D1 VYRE_TYPE(VYRE_F64, 1)
#define U2 VYRE_TYPE(VYRE_U32, 2)

/* By number. */
static const glsl_function functions[] = {
    [GLSLstd450Round] = {VYRE_OP_round, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450RoundEven] = {VYRE_OP_roundeven, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Trunc] = {VYRE_OP_trunc, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450FAbs] = {VYRE_OP_fabs, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450SAbs] = {VYRE_OP_sabs, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450FSign] = {VYRE_OP_fsign, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450SSign] = {VYRE_OP_ssign, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Floor] = {VYRE_OP_floor, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Ceil] = {VYRE_OP_ceil, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Fract] = {VYRE_OP_fract, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Radians] = {VYRE_OP_radians, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Degrees] = {VYRE_OP_degrees, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Sin] = {VYRE_OP_sin, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Cos] = {VYRE_OP_cos, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Tan] = {VYRE_OP_tan, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Asin] = {VYRE_OP_asin, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Acos] = {VYRE_OP_acos, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Atan] = {VYRE_OP_atan, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Sinh] = {VYRE_OP_sinh, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Cosh] = {VYRE_OP_cosh, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Tanh] = {VYRE_OP_tanh, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Asinh] = {VYRE_OP_asinh, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Acosh] = {VYRE_OP_acosh, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Atanh] = {VYRE_OP_atanh, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Atan2] = {VYRE_OP_atan2, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450Pow] = {VYRE_OP_pow, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450Exp] = {VYRE_OP_exp, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Log] = {VYRE_OP_log, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Exp2] = {VYRE_OP_exp2, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Log2] = {VYRE_OP_log2, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Sqrt] = {VYRE_OP_sqrt, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450InverseSqrt] = {VYRE_OP_rsqrt, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450Determinant] = {VYRE_OP_determinant, FUNCTION_MATRIX, 1, 0, 0},
    [GLSLstd450MatrixInverse] = {VYRE_OP_inverse, FUNCTION_MATRIX, 1, 0, 0},
    [GLSLstd450Modf] = {VYRE_OP_modf, FUNCTION_OUT, 2, 0, 0},
    [GLSLstd450ModfStruct] = {VYRE_OP_modf, FUNCTION_PAIR, 1, 0, 0},
    [GLSLstd450FMin] = {VYRE_OP_fmin, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450UMin] = {VYRE_OP_umin, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450SMin] = {VYRE_OP_smin, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450FMax] = {VYRE_OP_fmax, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450UMax] = {VYRE_OP_umax, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450SMax] = {VYRE_OP_smax, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450FClamp] = {VYRE_OP_fclamp, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450UClamp] = {VYRE_OP_uclamp, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450SClamp] = {VYRE_OP_sclamp, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450FMix] = {VYRE_OP_fmix, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450Step] = {VYRE_OP_step, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450SmoothStep] = {VYRE_OP_smoothstep, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450Fma] = {VYRE_OP_fma, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450Frexp] = {VYRE_OP_frexp, FUNCTION_OUT, 2, 0, 0},
    [GLSLstd450FrexpStruct] = {VYRE_OP_frexp, FUNCTION_PAIR, 1, 0, 0},
    [GLSLstd450Ldexp] = {VYRE_OP_ldexp, FUNCTION_LDEXP, 2, 0, 0},
    [GLSLstd450PackSnorm4x8] = {VYRE_OP_packsnorm4x8, FUNCTION_PACK, 1, F4, U1},
    [GLSLstd450PackUnorm4x8] = {VYRE_OP_packunorm4x8, FUNCTION_PACK, 1, F4, U1},
    [GLSLstd450PackSnorm2x16] = {VYRE_OP_packsnorm2x16, FUNCTION_PACK, 1, F2, U1},
    [GLSLstd450PackUnorm2x16] = {VYRE_OP_packunorm2x16, FUNCTION_PACK, 1, F2, U1},
    [GLSLstd450PackHalf2x16] = {VYRE_OP_packhalf2x16, FUNCTION_PACK, 1, F2, U1},
    [GLSLstd450PackDouble2x32] = {VYRE_OP_bitcast, FUNCTION_PACK, 1, U2, D1},
    [GLSLstd450UnpackDouble2x32] = {VYRE_OP_bitcast, FUNCTION_PACK, 1, D1, U2},
    [GLSLstd450UnpackSnorm2x16] = {VYRE_OP_unpacksnorm2x16, FUNCTION_PACK, 1, U1, F2},
    [GLSLstd450UnpackUnorm2x16] = {VYRE_OP_unpackunorm2x16, FUNCTION_PACK, 1, U1, F2},
    [GLSLstd450UnpackHalf2x16] = {VYRE_OP_unpackhalf2x16, FUNCTION_PACK, 1, U1, F2},
    [GLSLstd450UnpackSnorm4x8] = {VYRE_OP_unpacksnorm4x8, FUNCTION_PACK, 1, U1, F4},
    [GLSLstd450UnpackUnorm4x8] = {VYRE_OP_unpackunorm4x8, FUNCTION_PACK, 1, U1, F4},
    [GLSLstd450Length] = {VYRE_OP_norm, FUNCTION_SCALAR, 1, 0, 0},
    [GLSLstd450Distance] = {VYRE_OP_distance, FUNCTION_SCALAR, 2, 0, 0},
    [GLSLstd450Cross] = {VYRE_OP_cross, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450Normalize] = {VYRE_OP_normalize, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450FaceForward] = {VYRE_OP_faceforward, FUNCTION_PLAIN, 3, 0, 0},
    [GLSLstd450Reflect] = {VYRE_OP_reflect, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450Refract] = {VYRE_OP_refract, FUNCTION_REFRACT, 3, 0, 0},
    [GLSLstd450FindILsb] = {VYRE_OP_findlsb, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450FindSMsb] = {VYRE_OP_findsmsb, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450FindUMsb] = {VYRE_OP_findumsb, FUNCTION_PLAIN, 1, 0, 0},
    [GLSLstd450NMin] = {VYRE_OP_nmin, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450NMax] = {VYRE_OP_nmax, FUNCTION_PLAIN, 2, 0, 0},
    [GLSLstd450NClamp] = {VYRE_OP_nclamp, FUNCTION_PLAIN, 3, 0, 0},
};

static const glsl_function *
find_function(uint32_t number)
{
  const uint32_t count = sizeof(functions) / sizeof(*functions);
  return number < count && functions[number].vyre ? &functions[number] : NULL;
}

static bool
misfit(import *m)
{
  return import_fail(m, "its type or its operands' is not one that it can have");
}

static bool
matrix_function(import *m, vyre_opcode op, uint32_t type_id, uint32_t id, uint32_t flags, uint32_t arg)
{
  spv_value v;
  uint32_t tuple = import_matrix(m, arg);
  const spv_type *t = import_value_type(m, type_id);
  if (!tuple || !t || !import_value(m, arg, &v))
    return false;
  vyre_type column = import_leaf_type(m, v.type, 0);
  if (v.count != VYRE_TYPE_LANES(column))
    return import_fail(m, "its matrix is not square");
  if (op == VYRE_OP_determinant) {
    if (t->form != FORM_VALUE || t->value != VYRE_TYPE(VYRE_TYPE_KIND(column), 1))
      return misfit(m);
    import_set(m, id, vyre_build(&m->b, op, t->value, flags, 0, 0, (vyre_row){tuple}, VYRE_NONE, VYRE_NONE).id);
    return !failed(m);
  }
  if (v.type != type_id)
    return misfit(m);
  uint32_t imm = VYRE_TUPLE_OF(v.count, column);
  import_set_matrix(m, id, type_id,
                    vyre_build(&m->b, op, VYRE_TYPE(VYRE_TUPLE, 1), flags, imm, 0, (vyre_row){tuple}, VYRE_NONE, VYRE_NONE).id);
  return !failed(m);
}

/* modf and frexp: a row of two parts. */
static uint32_t
two_parts(import *m, vyre_opcode op, uint32_t flags, uint32_t row, uint32_t out[2])
{
  vyre_type type = import_row_type(m, row);
  if (!vyre_kind_is_float(VYRE_TYPE_KIND(type))) {
    misfit(m);
    return 0;
  }
  vyre_type second = op == VYRE_OP_modf ? type : VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type));
  uint32_t imm = VYRE_TUPLE_OF(2, op == VYRE_OP_modf ? type : 0);
  uint32_t tuple = vyre_build(&m->b, op, VYRE_TYPE(VYRE_TUPLE, 1), flags, imm, 0, (vyre_row){row}, VYRE_NONE, VYRE_NONE).id;
  out[0] = vyre_build_part(&m->b, (vyre_row){tuple}, 0, type).id;
  out[1] = vyre_build_part(&m->b, (vyre_row){tuple}, 1, second).id;
  return tuple;
}

static bool
pair_function(import *m, const glsl_function *f, uint32_t type_id, uint32_t id, uint32_t flags, const uint32_t *args)
{
  uint32_t parts[2], row = import_row(m, args[0]);
  const spv_type *t = import_value_type(m, type_id);
  if (!row || !t || !two_parts(m, (vyre_opcode)f->vyre, flags, row, parts))
    return false;
  if (f->form == FUNCTION_PAIR) {
    if (t->form != FORM_STRUCT || t->leaves != 2 || import_leaf_type(m, type_id, 0) != import_row_type(m, parts[0]))
      return misfit(m);
    parts[1] = import_cast(m, parts[1], import_leaf_type(m, type_id, 1));
    uint32_t *leaves = import_set_leaves(m, id, 2);
    if (leaves) {
      leaves[0] = parts[0];
      leaves[1] = parts[1];
    }
    return !failed(m);
  }
  const pointer *p = import_pointer(m, args[1]);
  const spv_type *pointee = p ? import_value_type(m, p->type) : NULL;
  if (!pointee)
    return false;
  if (pointee->form != FORM_VALUE || t->form != FORM_VALUE || t->value != import_row_type(m, parts[0]))
    return misfit(m);
  parts[1] = import_cast(m, parts[1], pointee->value);
  uint32_t first = m->stack.count, *added = list_add(m, &m->stack, sizeof(uint32_t), 1);
  if (!added || failed(m))
    return false;
  *added = parts[1];
  import_set(m, id, parts[0]);
  bool ok = import_store_leaves(m, m->ids[args[1]].value, first, 0);
  m->stack.count = first;
  return ok;
}

static bool
is_float(vyre_type type)
{
  return vyre_kind_is_float(VYRE_TYPE_KIND(type));
}

/* Of ldexp, as i32: far beyond what any float's can be, so that one of 64 bits may stop there. */
static uint32_t
exponent(import *m, uint32_t row)
{
  const vyre_type type = import_row_type(m, row), narrow = VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type));
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (vyre_kind_bits(kind) == 32)
    return import_cast(m, row, narrow);
  if (kind == VYRE_I64)
    row = vyre_build_imm(&m->b, VYRE_OP_smax, (vyre_row){row}, (uint64_t)INT32_MIN).id;
  if (vyre_kind_bits(kind) == 64)
    row = vyre_build_imm(&m->b, kind == VYRE_I64 ? VYRE_OP_smin : VYRE_OP_umin, (vyre_row){row}, INT32_MAX).id;
  return vyre_build_convert(&m->b, VYRE_OP_convert, narrow, (vyre_row){row}).id;
}

/* Those with a result that is a scalar or vector and operands that are rows. */
static uint32_t
value_function(import *m, const glsl_function *f, vyre_type type, uint32_t flags, const uint32_t rows[3])
{
  vyre_type a = import_row_type(m, rows[0]), b = f->operands > 1 ? import_row_type(m, rows[1]) : 0;
  vyre_type c = f->operands > 2 ? import_row_type(m, rows[2]) : 0;
  bool fits = false;
  uint32_t operands[3] = {rows[0], rows[1], rows[2]};
  vyre_type made = type;
  switch ((function_form)f->form) {
  case FUNCTION_PLAIN:
    if (f->vyre == VYRE_OP_cross && (!is_float(type) || VYRE_TYPE_LANES(type) != 3))
      break;
    return import_emit(m, (vyre_opcode)f->vyre, type, flags, rows, f->operands);
  case FUNCTION_PACK:
    fits = (a == f->from || (f->from == U1 && a == VYRE_TYPE(VYRE_I32, 1)) || (f->from == U2 && a == VYRE_TYPE(VYRE_I32, 2))) &&
           (type == f->to || (f->to == U1 && type == VYRE_TYPE(VYRE_I32, 1)) || (f->to == U2 && type == VYRE_TYPE(VYRE_I32, 2)));
    if (fits)
      operands[0] = import_cast(m, rows[0], f->from);
    made = f->to;
    break;
  case FUNCTION_SCALAR:
    fits = is_float(a) && type == VYRE_TYPE(VYRE_TYPE_KIND(a), 1) && (f->operands == 1 || b == a);
    break;
  case FUNCTION_LDEXP:
    fits = is_float(a) && a == type && vyre_kind_is_int(VYRE_TYPE_KIND(b)) && VYRE_TYPE_LANES(a) == VYRE_TYPE_LANES(b);
    if (fits)
      operands[1] = exponent(m, rows[1]);
    break;
  default:
    fits = is_float(a) && a == type && b == a && c == VYRE_TYPE(VYRE_TYPE_KIND(a), 1);
    break;
  }
  if (!fits || failed(m)) {
    misfit(m);
    return 0;
  }
  uint32_t row = vyre_build(&m->b, (vyre_opcode)f->vyre, made, flags, 0, 0, (vyre_row){operands[0]}, (vyre_row){operands[1]},
                            (vyre_row){operands[2]})
                     .id;
  return import_cast(m, row, type);
}

bool
import_glsl450(import *m, uint32_t type_id, uint32_t id, uint32_t number, const uint32_t *args, uint32_t count)
{
  const glsl_function *f = find_function(number);
  if (!f)
    return import_uncovered(m, "function %u of GLSL.std.450 is not covered", number);
  if (count < f->operands)
    return import_fail(m, "%u operands, but the function has %u", count, f->operands);
  uint32_t flags = import_row_flags(m, id);
  if (f->form == FUNCTION_MATRIX)
    return matrix_function(m, (vyre_opcode)f->vyre, type_id, id, flags, args[0]);
  if (f->form == FUNCTION_PAIR || f->form == FUNCTION_OUT)
    return pair_function(m, f, type_id, id, flags, args);
  const spv_type *t = import_value_type(m, type_id);
  uint32_t rows[3] = {0, 0, 0};
  if (!t)
    return false;
  if (t->form != FORM_VALUE)
    return misfit(m);
  for (uint32_t k = 0; k < f->operands; k++) {
    rows[k] = import_row(m, args[k]);
    if (!rows[k])
      return false;
  }
  uint32_t row = value_function(m, f, t->value, flags, rows);
  if (row)
    import_set(m, id, row);
  return !failed(m);
}
