/* GLSL.std.450: the functions of spirv/ops.def, and those that are not equal to one op.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <spirv/unified1/GLSL.std.450.h>

typedef enum function_form {
  FUNCTION_PLAIN,  /* operands and result have one type */
  FUNCTION_PACK,   /* an operand of type `from`, a result of type `to` */
  FUNCTION_SCALAR, /* vectors of one type, a result of their component type */
  FUNCTION_LDEXP,
  FUNCTION_REFRACT,
  FUNCTION_MATRIX,
  FUNCTION_PAIR, /* returns a struct: modf, frexp */
  FUNCTION_OUT,  /* stores the second part through a pointer: modf, frexp */
} function_form;

typedef struct glsl_function {
  uint16_t vyre; /* vyre_opcode, or 0 */
  uint8_t form;
  vyre_type from, to; /* FUNCTION_PACK only */
} glsl_function;

#define U1 VYRE_TYPE(VYRE_U32, 1)
#define F2 VYRE_TYPE(VYRE_F32, 2)
#define F4 VYRE_TYPE(VYRE_F32, 4)
#define D1 VYRE_TYPE(VYRE_F64, 1)
#define U2 VYRE_TYPE(VYRE_U32, 2)

/* By number in GLSL.std.450. */
static const glsl_function functions[] = {
#define SPV_FUNCTION(op, function, form, writer) [GLSLstd450##function] = {VYRE_OP_##op, FUNCTION_##form, 0, 0},
#define SPV_PACK(op, function, from, to)         [GLSLstd450##function] = {VYRE_OP_##op, FUNCTION_PACK, from, to},
#include "spirv/ops.def"
    [GLSLstd450Modf] = {VYRE_OP_modf, FUNCTION_OUT, 0, 0},
    [GLSLstd450Frexp] = {VYRE_OP_frexp, FUNCTION_OUT, 0, 0},
    [GLSLstd450PackDouble2x32] = {VYRE_OP_bitcast, FUNCTION_PACK, U2, D1},
    [GLSLstd450UnpackDouble2x32] = {VYRE_OP_bitcast, FUNCTION_PACK, D1, U2},
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
  return import_fail(m, "the type of the result or of an operand is not valid for this instruction");
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

/* Appends modf or frexp, and both parts of its result. */
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

/* Converts the exponent of ldexp to i32.  A 64-bit exponent is clamped to a range that exceeds any float's. */
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

/* Translates a function whose operands are rows and whose result is a scalar or vector. */
static uint32_t
value_function(import *m, const glsl_function *f, vyre_type type, uint32_t flags, const uint32_t rows[3])
{
  vyre_type a = import_row_type(m, rows[0]), b = rows[1] ? import_row_type(m, rows[1]) : 0;
  vyre_type c = rows[2] ? import_row_type(m, rows[2]) : 0;
  bool fits = false;
  uint32_t operands[3] = {rows[0], rows[1], rows[2]};
  vyre_type made = type;
  switch ((function_form)f->form) {
  case FUNCTION_PLAIN:
    if (f->vyre == VYRE_OP_cross && (!is_float(type) || VYRE_TYPE_LANES(type) != 3))
      break;
    return import_emit(m, (vyre_opcode)f->vyre, type, flags, rows, vyre_op_infos[f->vyre].operands);
  case FUNCTION_PACK:
    fits = (a == f->from || (f->from == U1 && a == VYRE_TYPE(VYRE_I32, 1)) || (f->from == U2 && a == VYRE_TYPE(VYRE_I32, 2))) &&
           (type == f->to || (f->to == U1 && type == VYRE_TYPE(VYRE_I32, 1)) || (f->to == U2 && type == VYRE_TYPE(VYRE_I32, 2)));
    if (fits)
      operands[0] = import_cast(m, rows[0], f->from);
    made = f->to;
    break;
  case FUNCTION_SCALAR:
    fits = is_float(a) && type == VYRE_TYPE(VYRE_TYPE_KIND(a), 1) && (!rows[1] || b == a);
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
    return import_uncovered(m, "function %u of GLSL.std.450 is not supported", number);
  const uint32_t operands = vyre_op_infos[f->vyre].operands + (f->form == FUNCTION_OUT ? 1u : 0u);
  if (count < operands)
    return import_fail(m, "%u operands, but the function needs %u", count, operands);
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
  for (uint32_t k = 0; k < operands; k++) {
    rows[k] = import_row(m, args[k]);
    if (!rows[k])
      return false;
  }
  uint32_t row = value_function(m, f, t->value, flags, rows);
  if (row)
    import_set(m, id, row);
  return !failed(m);
}
