/* Ordinary operations: the instructions of spirv/ops.def and some others, grouped by the forms of their operands.
 *
 * SPIR-V allows integer operands of either signedness.  Operands are cast to the class of the op in ops.def, and the result to its
 * type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include "vyre/dot.h"

enum { KINDS_ANY = 0, KINDS_EITHER = 0, KINDS_INT = VYRE_U32, KINDS_FLOAT = VYRE_F32, KINDS_BOOL = VYRE_BOOL };

const operation import_operations[IMPORT_OPERATIONS] = {
#define SPV_OP(op, instruction, kinds, operands, sort, form, writer) SPV_ALSO(op, instruction, kinds, operands, sort, form)
#define SPV_ALSO(op, instruction, kinds, operands, sort, form) \
  [SpvOp##instruction] = {VYRE_OP_##op, OP_##form, operands, KINDS_##kinds, 0},
#include "spirv/ops.def"
    [SpvOpConvertFToU] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_F32, VYRE_U32},
    [SpvOpConvertFToS] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_F32, VYRE_I32},
    [SpvOpConvertSToF] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_I32, VYRE_F32},
    [SpvOpConvertUToF] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_U32, VYRE_F32},
    [SpvOpUConvert] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_U32, VYRE_U32},
    [SpvOpSConvert] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_I32, VYRE_I32},
    [SpvOpFConvert] = {VYRE_OP_convert, OP_CONVERT, 1, VYRE_F32, VYRE_F32},
    [SpvOpBitcast] = {VYRE_OP_bitcast, OP_BITCAST, 1, 0, 0},
    [SpvOpVectorTimesScalar] = {VYRE_OP_mul, OP_SCALE, 2, 0, 0},
    [SpvOpMatrixTimesScalar] = {VYRE_OP_mul, OP_SCALE, 2, 0, 0},
};

/* Instructions above the table: those of SPV_INTEL_shader_integer_functions2, and integer dot products. */
static const struct {
  uint32_t instruction;
  operation operation;
} later_operations[] = {
    {SpvOpAbsISubINTEL, {VYRE_OP_sabsdiff, OP_PLAIN, 2, 0, 0}}, {SpvOpAbsUSubINTEL, {VYRE_OP_uabsdiff, OP_PLAIN, 2, 0, 0}},
    {SpvOpIAddSatINTEL, {VYRE_OP_saddsat, OP_PLAIN, 2, 0, 0}},  {SpvOpUAddSatINTEL, {VYRE_OP_uaddsat, OP_PLAIN, 2, 0, 0}},
    {SpvOpISubSatINTEL, {VYRE_OP_ssubsat, OP_PLAIN, 2, 0, 0}},  {SpvOpUSubSatINTEL, {VYRE_OP_usubsat, OP_PLAIN, 2, 0, 0}},
#define SPV_DOT(op, instruction, saturating) \
  {SpvOp##instruction, {VYRE_OP_##op, OP_INT_DOT, 2, 0, 0}}, {SpvOp##saturating, {VYRE_OP_##op, OP_INT_DOT, 3, 0, 0}},
#include "spirv/ops.def"
};

const operation *
import_operation_of(uint32_t op)
{
  if (op < IMPORT_OPERATIONS)
    return import_operations[op].vyre ? &import_operations[op] : NULL;
  for (size_t k = 0; k < sizeof(later_operations) / sizeof(*later_operations); k++)
    if (later_operations[k].instruction == op)
      return &later_operations[k].operation;
  return NULL;
}

/* Returns whether a kind belongs to the class.  Ignores signedness, which a bitcast changes, and classes without kinds in ops.def.
 */
static bool
is_of_class(vyre_kind kind, vyre_class klass)
{
  if (klass == VYRE_CLASS_NONE || klass == VYRE_CLASS_ANY)
    return true;
  return vyre_class_has(klass == VYRE_CLASS_UINT || klass == VYRE_CLASS_SINT ? VYRE_CLASS_INT : klass, kind);
}

/* Returns the integer type of that signedness and the same width. */
static vyre_type
of_sign(vyre_type type, bool is_signed)
{
  return VYRE_TYPE(vyre_kind_with_sign(VYRE_TYPE_KIND(type), is_signed), VYRE_TYPE_LANES(type));
}

vyre_type
import_work_type(vyre_class klass, vyre_type type)
{
  const bool has_sign = klass == VYRE_CLASS_UINT || klass == VYRE_CLASS_SINT;
  return has_sign && vyre_kind_is_int(VYRE_TYPE_KIND(type)) ? of_sign(type, klass == VYRE_CLASS_SINT) : type;
}

uint32_t
import_emit(import *m, vyre_opcode op, vyre_type type, uint32_t flags, const uint32_t *rows, uint32_t count)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  vyre_class klass = (vyre_class)info->klass;
  bool compares = info->rule == VYRE_RULE_BOOL;
  if (!rows[0] || failed(m))
    return 0;
  vyre_type base = compares ? import_row_type(m, rows[0]) : type;
  if (!is_of_class(VYRE_TYPE_KIND(base), klass) || (compares && type != VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(base)))) {
    import_fail(m, "the type of the result or of an operand is not valid for this instruction");
    return 0;
  }
  vyre_type work = import_work_type(klass, base);
  vyre_row operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
  for (uint32_t k = 0; k < count; k++) {
    vyre_type given = rows[k] ? import_row_type(m, rows[k]) : 0;
    bool counts = k == 1 && (op == VYRE_OP_shl || op == VYRE_OP_ushr || op == VYRE_OP_sshr);
    if (given == work && !counts) {
      operands[k].id = rows[k];
      continue;
    }
    bool fits = given == work || (vyre_kind_is_int(VYRE_TYPE_KIND(given)) && vyre_kind_is_int(VYRE_TYPE_KIND(work)));
    if (!fits && !failed(m))
      import_fail(m, "the type of operand %u is not valid for this instruction", k);
    uint32_t operand = counts ? import_bit_count(m, rows[k], (vyre_kind)((uint32_t)VYRE_TYPE_KIND(work) | 1u)) : rows[k];
    operands[k].id = import_cast(m, operand, work);
    if (!operands[k].id || failed(m))
      return 0;
  }
  vyre_type made = compares ? type : work;
  uint32_t row = vyre_build(&m->b, op, made, flags, 0, 0, operands[0], operands[1], operands[2]).id;
  return import_cast(m, row, type);
}

static uint32_t
splat(import *m, uint32_t scalar, vyre_type type)
{
  if (VYRE_ROW_OP(m->view->op[scalar]) == VYRE_OP_const)
    return vyre_build_const(&m->b, type, m->view->imm[scalar] | (uint64_t)m->view->imm_hi[scalar] << 32).id;
  return vyre_build(&m->b, VYRE_OP_splat, type, 0, 0, 0, (vyre_row){scalar}, VYRE_NONE, VYRE_NONE).id;
}

/* Returns the type of the same width in the family: `read` and `write` of the table stand for all kinds of their family. */
static vyre_type
as_family(uint8_t family, vyre_type type)
{
  return family == VYRE_F32 ? type : of_sign(type, family == VYRE_I32);
}

/* Converts the operand, read as `read`, and casts the result.  Between integers, signedness only selects sign or zero extension, so
 * narrowing and casts of storage-only types need no `convert` kinds of their own. */
static uint32_t
convert(import *m, const operation *o, vyre_type type, uint32_t id, uint32_t row)
{
  vyre_type from = import_row_type(m, row);
  vyre_type read = as_family(o->read, from), write = as_family(o->write, type);
  bool from_float = vyre_kind_is_float(VYRE_TYPE_KIND(from)), to_float = vyre_kind_is_float(VYRE_TYPE_KIND(type));
  const bool widens = vyre_kind_bits(VYRE_TYPE_KIND(type)) > vyre_kind_bits(VYRE_TYPE_KIND(from));
  if (VYRE_TYPE_LANES(from) != VYRE_TYPE_LANES(type) || VYRE_TYPE_KIND(from) == VYRE_BOOL || VYRE_TYPE_KIND(type) == VYRE_BOOL ||
      from_float != (o->read == VYRE_F32) || to_float != (o->write == VYRE_F32)) {
    import_fail(m, "the type of the result or of the operand is not valid for this instruction");
    return 0;
  }
  uint32_t mode;
  if (import_decoration(m, id, SpvDecorationFPRoundingMode, &mode) && mode != SpvFPRoundingModeRTE) {
    import_uncovered(m, "a conversion that does not round to the nearest even value is not supported");
    return 0;
  }
  if (!from_float && !to_float) {
    read = widens ? read : from;
    write = type;
  }
  row = import_cast(m, row, read);
  if (row && read != write)
    row = vyre_build(&m->b, VYRE_OP_convert, write, import_row_flags(m, id), 0, 0, (vyre_row){row}, VYRE_NONE, VYRE_NONE).id;
  return import_cast(m, row, type);
}

static bool
scale(import *m, uint32_t type_id, uint32_t id, uint32_t flags, const uint32_t *args)
{
  spv_value v;
  uint32_t scalar = import_row(m, args[1]);
  if (!scalar || !import_value(m, args[0], &v))
    return false;
  const spv_type *t = import_value_type(m, type_id);
  if (v.type != type_id || !t || (t->form != FORM_MATRIX && t->form != FORM_VALUE) ||
      import_row_type(m, scalar) != VYRE_TYPE(VYRE_TYPE_KIND(t->value), 1))
    return import_fail(m, "the type of the result or of an operand is not valid for this instruction");
  uint32_t wide = splat(m, scalar, t->value);
  uint32_t *leaves = t->form == FORM_MATRIX ? import_set_leaves(m, id, v.count) : NULL;
  for (uint32_t k = 0; k < v.count && !failed(m); k++) {
    uint32_t rows[2] = {import_leaf(m, args[0], k), wide};
    uint32_t row = import_emit(m, VYRE_OP_mul, t->value, flags, rows, 2);
    if (leaves)
      leaves[k] = row;
    else
      import_set(m, id, row);
  }
  return !failed(m);
}

static bool
pair(import *m, vyre_opcode op, uint32_t type_id, uint32_t id, uint32_t flags, const uint32_t *args)
{
  const spv_type *t = import_value_type(m, type_id);
  uint32_t a = import_row(m, args[0]), b = import_row(m, args[1]);
  if (!t || !a || !b)
    return false;
  vyre_type first = t->leaves == 2 ? import_leaf_type(m, type_id, 0) : 0;
  if (t->form != FORM_STRUCT || !vyre_kind_is_int(VYRE_TYPE_KIND(first)) || import_leaf_type(m, type_id, 1) != first)
    return import_fail(m, "its type is not a struct of two integers or integer vectors");
  vyre_type work = import_work_type((vyre_class)vyre_op_infos[op].klass, first);
  a = import_cast(m, a, work);
  b = import_cast(m, b, work);
  if (failed(m) || import_row_type(m, a) != work || import_row_type(m, b) != work)
    return import_fail(m, "the types of its operands are not those of its result");
  uint32_t row =
      vyre_build(&m->b, op, VYRE_TYPE(VYRE_TUPLE, 1), flags, VYRE_TUPLE_OF(2, work), 0, (vyre_row){a}, (vyre_row){b}, VYRE_NONE).id;
  uint32_t *leaves = import_set_leaves(m, id, 2);
  for (uint32_t k = 0; leaves && k < 2; k++)
    leaves[k] = import_cast(m, vyre_build_part(&m->b, (vyre_row){row}, k, work).id, first);
  return !failed(m);
}

static uint32_t
bit_field(import *m, vyre_opcode op, vyre_type type, uint32_t flags, const uint32_t *args)
{
  bool inserts = op == VYRE_OP_bfi;
  vyre_type count = VYRE_TYPE(VYRE_U32, 1);
  uint32_t base = import_cast(m, import_row(m, args[0]), type), insert = inserts ? import_cast(m, import_row(m, args[1]), type) : 0;
  vyre_row field[2];
  for (uint32_t k = 0; k < 2; k++)
    field[k].id = import_cast(m, import_bit_count(m, import_row(m, args[(inserts ? 2 : 1) + k]), VYRE_U32), count);
  if (failed(m))
    return 0;
  if (!vyre_kind_is_int(VYRE_TYPE_KIND(type))) {
    import_fail(m, "its type is not an integer");
    return 0;
  }
  if (inserts)
    return vyre_build(&m->b, op, type, flags, 0, 0, (vyre_row){base}, (vyre_row){insert}, vyre_build_tuple(&m->b, field, 2)).id;
  return vyre_build(&m->b, op, type, flags, 0, 0, (vyre_row){base}, field[0], field[1]).id;
}

static uint32_t
int_dot(import *m, vyre_opcode op, vyre_type type, uint32_t flags, const uint32_t rows[3])
{
  const vyre_type left = import_row_type(m, rows[0]), right = import_row_type(m, rows[1]);
  const vyre_dot_shape shape = vyre_dot_shape_of(op, left);
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(left)), to = vyre_kind_bits(VYRE_TYPE_KIND(type));
  if (!vyre_kind_is_int(VYRE_TYPE_KIND(left)) || of_sign(left, true) != of_sign(right, true) || (shape.packed && bits != 32) ||
      !vyre_kind_is_int(VYRE_TYPE_KIND(type)) || VYRE_TYPE_LANES(type) != 1 || to < shape.bits ||
      (rows[2] && of_sign(import_row_type(m, rows[2]), true) != of_sign(type, true))) {
    import_fail(m, "the type of the result or of an operand is not valid for this instruction");
    return 0;
  }
  const vyre_type work = of_sign(type, shape.left_signed);
  const vyre_row a = {import_cast(m, rows[0], of_sign(left, shape.left_signed))};
  const vyre_row b = {import_cast(m, rows[1], of_sign(right, shape.right_signed))};
  const vyre_row c = {rows[2] ? import_cast(m, rows[2], work) : 0};
  return failed(m) ? 0 : import_cast(m, vyre_build(&m->b, op, work, flags, 0, 0, a, b, c).id, type);
}

/* ---- matrices ---- */

typedef struct shape {
  vyre_type column;
  uint32_t columns;
} shape;

static bool
shape_of(import *m, uint32_t type_id, shape *out)
{
  const spv_type *t = import_type(m, type_id);
  if (!t)
    return false;
  if (t->form != FORM_MATRIX)
    return import_fail(m, "type %u is not a matrix type", type_id);
  *out = (shape){t->value, t->count};
  return true;
}

static bool
matrix_operation(import *m, const operation *o, uint32_t type_id, uint32_t id, uint32_t flags, const uint32_t *args)
{
  bool left_matrix = o->form == OP_MATVEC || o->form == OP_MATMAT || o->form == OP_TRANSPOSE;
  bool right_matrix = o->form == OP_VECMAT || o->form == OP_MATMAT;
  bool result_matrix = o->form == OP_MATMAT || o->form == OP_TRANSPOSE || o->form == OP_OUTER;
  spv_value left = {0}, right = {0};
  shape l = {0, 1}, r = {0, 1}, result = {0, 1};
  uint32_t a = left_matrix ? import_matrix(m, args[0]) : import_row(m, args[0]), b = 0;
  if (o->operands > 1)
    b = right_matrix ? import_matrix(m, args[1]) : import_row(m, args[1]);
  const spv_type *t = import_value_type(m, type_id);
  if (!a || failed(m) || !t || !import_value(m, args[0], &left) || (o->operands > 1 && !import_value(m, args[1], &right)))
    return false;
  if (left_matrix ? !shape_of(m, left.type, &l) : false)
    return false;
  if (right_matrix ? !shape_of(m, right.type, &r) : false)
    return false;
  if (!left_matrix)
    l.column = import_row_type(m, a);
  if (!right_matrix && b)
    r.column = import_row_type(m, b);
  if (result_matrix ? !shape_of(m, type_id, &result) : false)
    return false;
  if (!result_matrix)
    result.column = t->form == FORM_VALUE ? t->value : 0;
  bool fits;
  vyre_kind kind = VYRE_TYPE_KIND(l.column);
  switch ((op_form)o->form) {
  case OP_MATVEC:
    fits = r.column == VYRE_TYPE(kind, l.columns) && result.column == l.column;
    break;
  case OP_VECMAT:
    fits = r.column == l.column && result.column == VYRE_TYPE(kind, r.columns);
    break;
  case OP_MATMAT:
    fits = r.column == VYRE_TYPE(kind, l.columns) && result.column == l.column && result.columns == r.columns;
    break;
  case OP_TRANSPOSE:
    fits = result.column == VYRE_TYPE(kind, l.columns) && result.columns == VYRE_TYPE_LANES(l.column);
    break;
  default:
    fits = result.column == l.column && VYRE_TYPE_KIND(r.column) == kind && result.columns == VYRE_TYPE_LANES(r.column);
    break;
  }
  if (!fits || !vyre_kind_is_float(kind))
    return import_fail(m, "the types of the result and of the operands do not match");
  vyre_type made = result_matrix ? VYRE_TYPE(VYRE_TUPLE, 1) : result.column;
  uint32_t imm = result_matrix ? VYRE_TUPLE_OF(result.columns, result.column) : 0;
  uint32_t row = vyre_build(&m->b, (vyre_opcode)o->vyre, made, flags, imm, 0, (vyre_row){a}, (vyre_row){b}, VYRE_NONE).id;
  if (result_matrix)
    import_set_matrix(m, id, type_id, row);
  else
    import_set(m, id, row);
  return !failed(m);
}

/* ---- translation by form ---- */

bool
import_operation(import *m, const operation *o, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  if (count < o->operands)
    return import_fail(m, "%u operands, but the instruction needs %u", count, o->operands);
  if (o->form == OP_BITCAST && m->ids[id].holds == HOLDS_ROW) {
    const uint32_t cast = import_cast(m, import_row(m, args[0]), m->ids[id].t->value);
    if (cast)
      import_set(m, id, cast);
    return (cast && !failed(m)) || import_fail_memory(m);
  }
  uint32_t flags = import_row_flags(m, id);
  switch ((op_form)o->form) {
  case OP_SCALE:
    return scale(m, type_id, id, flags, args);
  case OP_PAIR:
    return pair(m, (vyre_opcode)o->vyre, type_id, id, flags, args);
  case OP_MATVEC:
  case OP_VECMAT:
  case OP_MATMAT:
  case OP_TRANSPOSE:
  case OP_OUTER:
    return matrix_operation(m, o, type_id, id, flags, args);
  default:
    break;
  }
  const spv_type *t = import_value_type(m, type_id);
  uint32_t rows[4] = {0}, row = 0;
  if (!t)
    return false;
  if (t->form != FORM_VALUE)
    return import_fail(m, "type %u is not a scalar or vector type", type_id);
  for (uint32_t k = 0; k < o->operands; k++) {
    rows[k] = import_row(m, args[k]);
    if (!rows[k])
      return false;
  }
  vyre_type ta = import_row_type(m, rows[0]);
  switch ((op_form)o->form) {
  case OP_PLAIN:
    if (!import_may_read(o, VYRE_TYPE_KIND(ta)))
      return import_fail(m, "the type of the result or of an operand is not valid for this instruction");
    row = import_plain(m, o, t->value, flags, rows[0], rows[1]);
    if (!row)
      row = import_emit(m, (vyre_opcode)o->vyre, t->value, flags, rows, o->operands);
    break;
  case OP_CONVERT:
    row = convert(m, o, t->value, id, rows[0]);
    break;
  case OP_REDUCE:
    if (VYRE_TYPE_KIND(ta) != VYRE_BOOL || t->value != VYRE_TYPE(VYRE_BOOL, 1))
      return import_fail(m, "the type of the result or of the operand is not valid for this instruction");
    row = vyre_build(&m->b, (vyre_opcode)o->vyre, t->value, flags, 0, 0, (vyre_row){rows[0]}, VYRE_NONE, VYRE_NONE).id;
    break;
  case OP_INT_DOT:
    row = int_dot(m, (vyre_opcode)o->vyre, t->value, flags, rows);
    break;
  case OP_DOT:
    if (ta != import_row_type(m, rows[1]) || !vyre_kind_is_float(VYRE_TYPE_KIND(ta)) ||
        t->value != VYRE_TYPE(VYRE_TYPE_KIND(ta), 1))
      return import_fail(m, "the type of the result or of an operand is not valid for this instruction");
    row = vyre_build(&m->b, VYRE_OP_dot, t->value, flags, 0, 0, (vyre_row){rows[0]}, (vyre_row){rows[1]}, VYRE_NONE).id;
    break;
  default:
    row = bit_field(m, (vyre_opcode)o->vyre, t->value, flags, args);
    break;
  }
  if (!row || failed(m))
    return import_fail_memory(m);
  import_set(m, id, row);
  return !failed(m);
}
