/* Writes rows that have a value: by the instructions of spirv/ops.def, or by several instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

/* The function that writes an op, and its instructions. */
typedef struct op_form {
  uint32_t (*write)(vyre_spv *s, uint32_t row);
  uint16_t code;       /* for integers, or the only one; of GLSL.std.450 if `write` writes such functions */
  uint16_t float_code; /* for floats; 0 if it equals `code` */
  uint16_t bool_code;
} op_form;

static const op_form forms[VYRE_OP__COUNT];

uint32_t
vyre_spv_no_value(vyre_spv *s, uint32_t row)
{
  vyre_spv_fail(s, "operand row %u has no value here\nFix: verify the module before writing it", row);
  return 0;
}

/* ---- rows of several instructions ---- */

static uint32_t
code_of(const vyre_spv *s, uint32_t row)
{
  return forms[vyre_spv_opcode(s, row)].code;
}

/* Returns the instruction for the kind of the operands. */
static uint32_t
code_for(const vyre_spv *s, uint32_t row, vyre_type operand)
{
  const op_form *f = &forms[vyre_spv_opcode(s, row)];
  const vyre_kind kind = VYRE_TYPE_KIND(operand);
  if (f->float_code && vyre_kind_is_float(kind))
    return f->float_code;
  return f->bool_code && kind == VYRE_BOOL ? f->bool_code : code_of(s, row);
}

static uint32_t
write_const(vyre_spv *s, uint32_t row)
{
  return vyre_spv_splat_here(s, vyre_spv_row_type(s, row), vyre_spv_payload(s, row));
}

static uint32_t
write_spec(vyre_spv *s, uint32_t row)
{
  s->specialized = true;
  s->use[row - s->base] |= VYRE_SPV_SPECIALIZED;
  return vyre_spv_spec(s, row);
}

static uint32_t
write_join(vyre_spv *s, uint32_t row)
{
  uint32_t rows[4], parts[3], count = 0;
  if (vyre_spv_const_rows(s, row, rows))
    return vyre_spv_const_here(s, vyre_spv_row_type(s, row), rows);
  parts[count++] = vyre_spv_value(s, s->a[row]);
  parts[count++] = vyre_spv_value(s, s->b[row]);
  if (s->c[row])
    parts[count++] = vyre_spv_value(s, s->c[row]);
  return vyre_spv_op(s, SpvOpCompositeConstruct, vyre_spv_type_of_row(s, row), parts, count);
}

static uint32_t
write_splat(vyre_spv *s, uint32_t row)
{
  const uint32_t value = vyre_spv_value(s, s->a[row]), lanes = VYRE_TYPE_LANES(vyre_spv_row_type(s, row));
  const uint32_t parts[4] = {value, value, value, value};
  return lanes == 1 ? value : vyre_spv_op(s, SpvOpCompositeConstruct, vyre_spv_type_of_row(s, row), parts, lanes);
}

static uint32_t
write_lane(vyre_spv *s, uint32_t row)
{
  const vyre_opcode of = vyre_spv_opcode(s, s->a[row]);
  if (vyre_op_is_invocation(of) && s->use[s->a[row] - s->base] & VYRE_SPV_ONE_LANE)
    return vyre_spv_place_lane(s, of, s->imm[row]);
  const uint32_t type = vyre_spv_type_of_row(s, row);
  const uint32_t vector = vyre_spv_value(s, s->a[row]);
  const vyre_type vector_type = vyre_spv_row_type(s, s->a[row]);
  const bool literal = vyre_spv_flag(s, row, VYRE_ROW_IMM);
  if (literal && s->imm[row] < VYRE_TYPE_LANES(vector_type))
    return VYRE_TYPE_LANES(vector_type) == 1 ? vector : vyre_spv_op2(s, SpvOpCompositeExtract, type, vector, s->imm[row]);
  if (literal) /* out of range: undefined, or 0 in a strict program */
    return vyre_spv_null(s, type);
  const uint32_t index = vyre_spv_value(s, s->b[row]);
  if (s->strict || VYRE_TYPE_LANES(vector_type) == 1)
    return vyre_spv_guarded_lane(s, vector, vector_type, index, s->b[row]);
  return vyre_spv_op2(s, SpvOpVectorExtractDynamic, type, vector, index);
}

static uint32_t
write_insert(vyre_spv *s, uint32_t row)
{
  const uint32_t type = vyre_spv_type_of_row(s, row);
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
write_shuffle(vyre_spv *s, uint32_t row)
{
  const uint32_t type = vyre_spv_type_of_row(s, row);
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

/* Returns operand k of a chain of tuples: (a, b, the rest). */
static uint32_t
tuple_part(const vyre_spv *s, uint32_t tuple, uint32_t k)
{
  for (; VYRE_TUPLE_COUNT(s->imm[tuple]) > 3 && k >= 2; k -= 2)
    tuple = s->c[tuple];
  return k == 0 ? s->a[tuple] : k == 1 ? s->b[tuple] : s->c[tuple];
}

/* Writes the k-th part of a tuple: an operand of a tuple row, or a part of a result. */
static uint32_t
write_part(vyre_spv *s, uint32_t row)
{
  const uint32_t tuple = s->a[row], k = s->imm[row];
  if (vyre_op_is_opaque(vyre_spv_opcode(s, tuple)))
    return vyre_spv_opaque_part(s, row);
  if (vyre_spv_opcode(s, tuple) != VYRE_OP_tuple)
    return vyre_spv_op2(s, SpvOpCompositeExtract, vyre_spv_type_of_row(s, row), vyre_spv_value(s, tuple), k);
  return vyre_spv_value(s, tuple_part(s, tuple, k));
}

static uint32_t
matrix_of(vyre_spv *s, uint32_t row)
{
  return vyre_spv_matrix_type(s, VYRE_TUPLE_TYPE(s->imm[row]), VYRE_TUPLE_COUNT(s->imm[row]));
}

/* Writes a tuple of columns as a matrix if a row uses it as a matrix.  Other tuples are not written. */
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

/* Writes an instruction with two results, which are a struct. */
static uint32_t
write_pair(vyre_spv *s, uint32_t row)
{
  const vyre_type type = vyre_spv_row_type(s, s->a[row]);
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const uint32_t value = vyre_spv_value_type(s, type);
  const uint32_t second = op == VYRE_OP_frexp ? vyre_spv_value_type(s, VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type))) : value;
  const uint32_t members[2] = {value, second};
  const uint32_t result = vyre_spv_struct_of(s, members, 2);
  uint32_t operands[2] = {vyre_spv_value(s, s->a[row]), 0};
  if (op == VYRE_OP_frexp || op == VYRE_OP_modf)
    return vyre_spv_ext(s, code_of(s, row), result, operands, 1);
  operands[1] = vyre_spv_value(s, s->b[row]);
  return vyre_spv_op(s, code_of(s, row), result, operands, 2);
}

/* Writes a vector times a splat as a multiplication by a scalar. */
static uint32_t
write_mul(vyre_spv *s, uint32_t row)
{
  const uint32_t type = vyre_spv_type_of_row(s, row);
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
  return vyre_spv_op2(s, code_for(s, row, result), type, a, vyre_spv_right(s, row, result));
}

/* Minima of sizes are a comparison and a selection, because GLSL.std.450 has no specialization form. */
static uint32_t
write_minmax(vyre_spv *s, uint32_t row)
{
  const vyre_type result = vyre_spv_row_type(s, row);
  const uint32_t operands[2] = {vyre_spv_value(s, s->a[row]), vyre_spv_right(s, row, result)};
  if (!s->constant)
    return vyre_spv_ext(s, code_of(s, row), vyre_spv_type_of_row(s, row), operands, 2);
  const uint32_t compare = code_of(s, row) == GLSLstd450UMin   ? SpvOpULessThan
                           : code_of(s, row) == GLSLstd450UMax ? SpvOpUGreaterThan
                           : code_of(s, row) == GLSLstd450SMin ? SpvOpSLessThan
                                                               : SpvOpSGreaterThan;
  const vyre_type bools = VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(result));
  const uint32_t less = vyre_spv_op2(s, compare, vyre_spv_value_type(s, bools), operands[0], operands[1]);
  return vyre_spv_select(s, result, less, bools, operands[0], operands[1]);
}

static uint32_t
write_insert_bits(vyre_spv *s, uint32_t row)
{
  const uint32_t other = vyre_spv_other_width(s, row);
  if (other)
    return other;
  const uint32_t operands[4] = {vyre_spv_value(s, s->a[row]), vyre_spv_value(s, s->b[row]),
                                vyre_spv_value(s, tuple_part(s, s->c[row], 0)), vyre_spv_value(s, tuple_part(s, s->c[row], 1))};
  return vyre_spv_op(s, code_of(s, row), vyre_spv_type_of_row(s, row), operands, 4);
}

static uint32_t
write_select(vyre_spv *s, uint32_t row)
{
  const uint32_t condition = vyre_spv_value(s, s->a[row]), yes = vyre_spv_value(s, s->b[row]), no = vyre_spv_value(s, s->c[row]);
  return vyre_spv_select(s, vyre_spv_row_type(s, row), condition, vyre_spv_row_type(s, s->a[row]), yes, no);
}

static uint32_t
write_any_all(vyre_spv *s, uint32_t row)
{
  const uint32_t value = vyre_spv_value(s, s->a[row]);
  if (VYRE_TYPE_LANES(vyre_spv_row_type(s, s->a[row])) == 1)
    return value;
  return vyre_spv_op1(s, code_of(s, row), vyre_spv_type_of_row(s, row), value);
}

static uint32_t
write_dot(vyre_spv *s, uint32_t row)
{
  const bool scalar = VYRE_TYPE_LANES(vyre_spv_row_type(s, s->a[row])) == 1;
  const uint32_t a = vyre_spv_value(s, s->a[row]), b = vyre_spv_value(s, s->b[row]);
  return vyre_spv_op2(s, scalar ? SpvOpFMul : code_of(s, row), vyre_spv_type_of_row(s, row), a, b);
}

/* Writes an operation with a matrix result on one or two operands. */
static uint32_t
write_matrix(vyre_spv *s, uint32_t row)
{
  const uint32_t operands[2] = {vyre_spv_value(s, s->a[row]), s->b[row] ? vyre_spv_value(s, s->b[row]) : 0};
  return vyre_spv_op(s, code_of(s, row), matrix_of(s, row), operands, s->b[row] ? 2 : 1);
}

static uint32_t
write_inverse(vyre_spv *s, uint32_t row)
{
  const uint32_t operand = vyre_spv_value(s, s->a[row]);
  return vyre_spv_ext(s, code_of(s, row), matrix_of(s, row), &operand, 1);
}

/* ---- rows of one instruction or one function of GLSL.std.450 ---- */

static uint32_t
write_unary(vyre_spv *s, uint32_t row)
{
  const uint32_t a = vyre_spv_value(s, s->a[row]);
  return vyre_spv_op1(s, code_for(s, row, vyre_spv_row_type(s, s->a[row])), vyre_spv_value_type(s, vyre_spv_row_type(s, row)), a);
}

static inline uint32_t
write_binary(vyre_spv *s, uint32_t row)
{
  const vyre_type operand = vyre_spv_row_type(s, s->a[row]);
  const uint32_t a = vyre_spv_value(s, s->a[row]), b = vyre_spv_right(s, row, operand);
  return vyre_spv_op2(s, code_for(s, row, operand), vyre_spv_value_type(s, vyre_spv_row_type(s, row)), a, b);
}

static uint32_t
write_ternary(vyre_spv *s, uint32_t row)
{
  const uint32_t a = vyre_spv_value(s, s->a[row]), b = vyre_spv_value(s, s->b[row]), c = vyre_spv_value(s, s->c[row]);
  return vyre_spv_op3(s, code_of(s, row), vyre_spv_value_type(s, vyre_spv_row_type(s, row)), a, b, c);
}

static uint32_t
write_function(vyre_spv *s, uint32_t row)
{
  const uint32_t count = vyre_op_infos[vyre_spv_opcode(s, row)].operands;
  uint32_t operands[3] = {vyre_spv_value(s, s->a[row]), 0, 0};
  if (count > 1)
    operands[1] = vyre_spv_right(s, row, vyre_spv_row_type(s, s->a[row]));
  if (count > 2)
    operands[2] = vyre_spv_value(s, s->c[row]);
  return vyre_spv_ext(s, code_of(s, row), vyre_spv_value_type(s, vyre_spv_row_type(s, row)), operands, count);
}

/* Writes an instruction that SPIR-V only has at 32 bits. */
static uint32_t
write_32(vyre_spv *s, uint32_t row)
{
  const uint32_t other = vyre_spv_other_width(s, row);
  if (other)
    return other;
  return s->c[row] ? write_ternary(s, row) : write_unary(s, row);
}

static uint32_t
write_function_32(vyre_spv *s, uint32_t row)
{
  const uint32_t other = vyre_spv_other_width(s, row);
  return other ? other : write_function(s, row);
}

static uint32_t
write_expanded(vyre_spv *s, uint32_t row)
{
  return vyre_spv_expanded(s, row);
}

#define CODE_FLOAT float_code
#define CODE_BOOL  bool_code

static const op_form forms[VYRE_OP__COUNT] = {
#define SPV_OP(op, instruction, kinds, operands, sort, form, writer) \
  [VYRE_OP_##op].write = write_##writer, [VYRE_OP_##op].code = SpvOp##instruction,
#define SPV_ALSO(op, instruction, kinds, operands, sort, form) [VYRE_OP_##op].CODE_##kinds = SpvOp##instruction,
#define SPV_FUNCTION(op, function, form, writer)               [VYRE_OP_##op] = {write_##writer, GLSLstd450##function, 0, 0},
#define SPV_PACK(op, name, from, to)                           SPV_FUNCTION(op, name, PACK, function)
#include "spirv/ops.def"
    [VYRE_OP_xor].bool_code = SpvOpLogicalNotEqual,  [VYRE_OP_const] = {write_const, 0, 0, 0},
    [VYRE_OP_spec] = {write_spec, 0, 0, 0},          [VYRE_OP_tuple] = {write_tuple, 0, 0, 0},
    [VYRE_OP_part] = {write_part, 0, 0, 0},          [VYRE_OP_join] = {write_join, 0, 0, 0},
    [VYRE_OP_splat] = {write_splat, 0, 0, 0},        [VYRE_OP_lane] = {write_lane, 0, 0, 0},
    [VYRE_OP_insert] = {write_insert, 0, 0, 0},      [VYRE_OP_shuffle] = {write_shuffle, 0, 0, 0},
    [VYRE_OP_select] = {write_select, 0, 0, 0},      [VYRE_OP_umulhi] = {write_expanded, 0, 0, 0},
    [VYRE_OP_smulhi] = {write_expanded, 0, 0, 0},    [VYRE_OP_uaddsat] = {write_expanded, 0, 0, 0},
    [VYRE_OP_saddsat] = {write_expanded, 0, 0, 0},   [VYRE_OP_usubsat] = {write_expanded, 0, 0, 0},
    [VYRE_OP_ssubsat] = {write_expanded, 0, 0, 0},   [VYRE_OP_umulsat] = {write_expanded, 0, 0, 0},
    [VYRE_OP_smulsat] = {write_expanded, 0, 0, 0},   [VYRE_OP_uabsdiff] = {write_expanded, 0, 0, 0},
    [VYRE_OP_sabsdiff] = {write_expanded, 0, 0, 0},  [VYRE_OP_rotl] = {write_expanded, 0, 0, 0},
    [VYRE_OP_rotr] = {write_expanded, 0, 0, 0},      [VYRE_OP_convert] = {vyre_spv_convert, 0, 0, 0},
    [VYRE_OP_bitcast] = {vyre_spv_bitcast, 0, 0, 0}, [VYRE_OP_sdot] = {vyre_spv_int_dot, 0, 0, 0},
    [VYRE_OP_udot] = {vyre_spv_int_dot, 0, 0, 0},    [VYRE_OP_sudot] = {vyre_spv_int_dot, 0, 0, 0},
};

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

/* Writes a row that is more than one instruction: with guards in a strict program, a built-in, a subgroup operation. */
static uint32_t
write_special(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  uint32_t id = 0;
  s->exact = vyre_spv_flag(s, row, VYRE_ROW_EXACT);
  if (vyre_op_is_invocation(op))
    id = s->use[row - s->base] & VYRE_SPV_ONE_LANE ? 0 : vyre_spv_place(s, op); /* 0: the row of the lane reads it */
  else if (vyre_op_is_subgroup(op))
    id = vyre_spv_subgroup(s, row);
  else if (!forms[op].write)
    vyre_spv_fail(s, "SPIR-V has no instruction for '%s'", vyre_op_infos[op].text);
  else
    id = vyre_spv_guarded(s, row);
  if (!id && forms[op].write)
    id = forms[op].write(s, row);
  s->exact = false;
  return id;
}

static inline uint32_t
use_of(const vyre_spv *s, uint32_t operand)
{
  return operand - s->base < s->count ? s->use[operand - s->base] : 0;
}

static inline bool
has_specialized_operand(const vyre_spv *s, uint32_t row)
{
  return ((use_of(s, s->a[row]) | use_of(s, s->b[row]) | use_of(s, s->c[row])) & VYRE_SPV_SPECIALIZED) != 0;
}

static void
write_form(vyre_spv *s, uint32_t row, const op_form *f)
{
  const uint32_t first_new = s->next_id;
  uint32_t id;
  if (s->strict || !f->write)
    id = write_special(s, row);
  else if (f->write == write_binary) /* the common case */
    id = write_binary(s, row);
  else
    id = f->write(s, row);
  s->id[row - s->base] = id;
  if (id >= first_new && vyre_spv_opcode(s, row) >= VYRE_OP_gid) /* not a constant */
    vyre_spv_describe(s, row, id);
  if (s->constant)
    s->use[row - s->base] |= VYRE_SPV_SPECIALIZED;
}

void
vyre_spv_row(vyre_spv *s, uint32_t row)
{
  const vyre_opcode op = vyre_spv_opcode(s, row);
  const bool specialized = s->specialized && vyre_spv_may_specialize[op] && s->plain && has_specialized_operand(s, row) &&
                           vyre_spv_is_specialized(s, row);
  if (!specialized) {
    write_form(s, row, &forms[op]);
    return;
  }
  s->constant = true;
  s->plain = false;
  write_form(s, row, &forms[op]);
  s->constant = false;
  s->plain = true;
}
