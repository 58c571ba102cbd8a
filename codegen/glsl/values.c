/* Values as expressions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include "vyre/dot.h"

void
glsl_operand_literal(glsl *g, vyre_type type, uint64_t bits, glsl_precedence least)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t width = vyre_kind_bits(kind);
  const bool negative = VYRE_TYPE_LANES(type) == 1 && (vyre_kind_is_float(kind) || vyre_kind_is_signed(kind)) && width >= 16 &&
                        (bits >> (width - 1) & 1) != 0;
  glsl_open(g, negative && least > GLSL_UNARY);
  glsl_literal(g, type, bits);
  glsl_close(g, negative && least > GLSL_UNARY);
}

void
glsl_value(glsl *g, uint32_t row, glsl_precedence least)
{
  if (glsl_is(g, row, VYRE_OP_const))
    glsl_operand_literal(g, glsl_row_type(g, row), glsl_payload(g, row), least);
  else if (g->form[row - g->program] == GLSL_INLINE)
    glsl_expression(g, row, least);
  else
    glsl_put(g, "%s", glsl_row_name(g, row));
}

void
glsl_right(glsl *g, uint32_t row, vyre_type type, glsl_precedence least)
{
  if (glsl_has_literal(g, row))
    glsl_operand_literal(g, type, glsl_payload(g, row), least);
  else
    glsl_value(g, g->v->b[row], least);
}

/* ---- conversions ---- */

/* Opens a conversion of an unsigned or float value to another kind of the same width. */
static void
open_reinterpretation(glsl *g, vyre_type from, vyre_type to)
{
  const vyre_kind f = VYRE_TYPE_KIND(from), t = VYRE_TYPE_KIND(to);
  const uint32_t bits = vyre_kind_bits(f);
  glsl_need_kind(g, f);
  glsl_need_kind(g, t);
  if (f == t)
    glsl_put(g, "(");
  else if (vyre_kind_is_int(f) && vyre_kind_is_int(t))
    glsl_put(g, "%s(", glsl_value_type(g, to));
  else if (bits == 16)
    glsl_put(g, vyre_kind_is_float(f) ? t == VYRE_U16 ? "float16BitsToUint16(" : "float16BitsToInt16("
                : f == VYRE_U16       ? "uint16BitsToFloat16("
                                      : "int16BitsToFloat16(");
  else if (bits == 32)
    glsl_put(g, vyre_kind_is_float(f) ? t == VYRE_U32 ? "floatBitsToUint(" : "floatBitsToInt("
                : f == VYRE_U32       ? "uintBitsToFloat("
                                      : "intBitsToFloat(");
  else
    glsl_put(g, vyre_kind_is_float(f) ? t == VYRE_U64 ? "doubleBitsToUint64(" : "doubleBitsToInt64("
                : f == VYRE_U64       ? "uint64BitsToDouble("
                                      : "int64BitsToDouble(");
}

/* Writes `swizzle` of the operand, joined or split: from unsigned integers of one width to those of another. */
static void
repack(glsl *g, uint32_t operand, vyre_type from, vyre_type to, const char *swizzle)
{
  const uint32_t f = vyre_kind_bits(VYRE_TYPE_KIND(from)), t = vyre_kind_bits(VYRE_TYPE_KIND(to));
  const vyre_type plain = VYRE_TYPE(f == 8 ? VYRE_U8 : f == 16 ? VYRE_U16 : f == 32 ? VYRE_U32 : VYRE_U64, VYRE_TYPE_LANES(from));
  if (t > f)
    glsl_put(g, "pack%u(", t);
  else
    glsl_put(g, "unpack%u(", t);
  glsl_need(g, f == 8 || t == 8 ? GLSL_INT8 : f == 16 || t == 16 ? GLSL_INT16 : GLSL_INT64);
  glsl_need(g, f == 64 || t == 64 ? GLSL_INT64 : f == 16 || t == 16 ? GLSL_INT16 : GLSL_INT8);
  open_reinterpretation(g, VYRE_TYPE(VYRE_TYPE_KIND(from), VYRE_TYPE_LANES(from)), plain);
  glsl_value(g, operand, GLSL_POSTFIX);
  glsl_put(g, ")%s)", swizzle);
}

static void
bitcast(glsl *g, uint32_t row)
{
  const uint32_t operand = g->v->a[row];
  const vyre_type from = glsl_row_type(g, operand), to = glsl_row_type(g, row);
  const uint32_t f = vyre_kind_bits(VYRE_TYPE_KIND(from)), t = vyre_kind_bits(VYRE_TYPE_KIND(to));
  const uint32_t from_lanes = VYRE_TYPE_LANES(from), to_lanes = VYRE_TYPE_LANES(to);
  if (f == t) {
    open_reinterpretation(g, from, to);
    glsl_value(g, operand, GLSL_COMMA);
    glsl_put(g, ")");
    return;
  }
  const vyre_kind plain_kind = t == 8 ? VYRE_U8 : t == 16 ? VYRE_U16 : t == 32 ? VYRE_U32 : VYRE_U64;
  const vyre_type plain = VYRE_TYPE(plain_kind, to_lanes);
  open_reinterpretation(g, plain, to);
  if (from_lanes == 1 || to_lanes == 1) {
    repack(g, operand, from, to, "");
  } else { /* 4 lanes into 2 or 2 into 4 */
    glsl_put(g, "%s(", glsl_value_type(g, plain));
    repack(g, operand, from, to, from_lanes == 4 ? ".xy" : ".x");
    glsl_put(g, ", ");
    repack(g, operand, from, to, from_lanes == 4 ? ".zw" : ".y");
    glsl_put(g, ")");
  }
  glsl_put(g, ")");
}

static void
convert(glsl *g, uint32_t row)
{
  const vyre_type from = glsl_row_type(g, g->v->a[row]), to = glsl_row_type(g, row);
  if (g->strict && vyre_kind_is_float(VYRE_TYPE_KIND(from)) && vyre_kind_is_int(VYRE_TYPE_KIND(to)))
    glsl_call_convert(g, from, to);
  else
    glsl_put(g, "%s(", glsl_value_type(g, to));
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ")");
}

/* ---- composition ---- */

/* Writes a matrix operand: a tuple of columns, or a row that is a matrix. */
static void
matrix(glsl *g, uint32_t row, glsl_precedence least)
{
  const uint32_t columns = VYRE_TUPLE_COUNT(g->v->imm[row]);
  char name[16];
  if (!glsl_is(g, row, VYRE_OP_tuple)) {
    glsl_value(g, row, least);
    return;
  }
  glsl_put(g, "%s(", glsl_matrix_type(g, glsl_row_type(g, vyre_tuple_part(g->v, row, 0)), columns, name));
  for (uint32_t k = 0; k < columns; k++) {
    glsl_put(g, k ? ", " : "");
    glsl_value(g, vyre_tuple_part(g->v, row, k), GLSL_COMMA);
  }
  glsl_put(g, ")");
}

static void
part(glsl *g, uint32_t row)
{
  const uint32_t tuple = g->v->a[row], k = g->v->imm[row];
  if (glsl_is(g, tuple, VYRE_OP_tuple)) {
    glsl_value(g, vyre_tuple_part(g->v, tuple, k), GLSL_POSTFIX);
  } else if (glsl_is_pair(g, tuple)) {
    if (k == 0)
      glsl_put(g, "%s", glsl_row_name(g, tuple));
    else
      glsl_put(g, "%s", g->second[tuple - g->program]);
  } else {
    glsl_put(g, "%s", glsl_row_name(g, tuple));
    glsl_put(g, "[%u]", k);
  }
}

/* Writes an index as a uint for a comparison. */
static void
put_index(glsl *g, uint32_t index)
{
  const bool cast = VYRE_TYPE_KIND(glsl_row_type(g, index)) != VYRE_U32;
  glsl_put(g, cast ? "uint(" : "");
  glsl_value(g, index, cast ? GLSL_COMMA : GLSL_SHIFT);
  glsl_put(g, cast ? ")" : "");
}

static void
lane(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  const bool inside = glsl_has_literal(g, row) && g->v->imm[row] < lanes;
  if (glsl_has_literal(g, row) && !inside) {
    glsl_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(type), 1), 0);
    return;
  }
  const bool guarded = g->strict && !inside;
  glsl_open(g, guarded && least > GLSL_CHOICE);
  if (guarded) {
    put_index(g, g->v->b[row]);
    glsl_put(g, " < %uu ? ", lanes);
  }
  if (glsl_is(g, g->v->a[row], VYRE_OP_const)) { /* all its lanes are equal */
    glsl_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(type), 1), glsl_payload(g, g->v->a[row]));
  } else {
    glsl_value(g, g->v->a[row], GLSL_POSTFIX);
    if (inside && lanes > 1) {
      glsl_put(g, ".%c", "xyzw"[g->v->imm[row]]);
    } else if (lanes > 1) {
      glsl_put(g, "[");
      glsl_value(g, g->v->b[row], GLSL_COMMA);
      glsl_put(g, "]");
    }
  }
  if (guarded) {
    glsl_put(g, " : ");
    glsl_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(type), 1), 0);
  }
  glsl_close(g, guarded && least > GLSL_CHOICE);
}

static void
shuffle(glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const vyre_type type = glsl_row_type(g, row);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  bool one = VYRE_TYPE_LANES(glsl_row_type(g, v->a[row])) > 1 && !glsl_is(g, v->a[row], VYRE_OP_const);
  for (uint32_t k = 0; k < lanes; k++)
    one = one && VYRE_SHUFFLE_LANE(v->imm[row], k) < 4;
  if (one) {
    glsl_value(g, v->a[row], GLSL_POSTFIX);
    glsl_put(g, ".");
  } else {
    glsl_put(g, "%s(", glsl_value_type(g, type));
  }
  for (uint32_t k = 0; k < lanes; k++) {
    const uint32_t from = VYRE_SHUFFLE_LANE(v->imm[row], k);
    if (one) {
      glsl_put(g, "%c", "xyzw"[from]);
      continue;
    }
    glsl_put(g, k ? ", " : "");
    glsl_component(g, from < 4 ? v->a[row] : v->b[row], from & 3u);
  }
  glsl_put(g, one ? "" : ")");
}

static void
construct(glsl *g, uint32_t row)
{
  const uint32_t operands[3] = {g->v->a[row], g->v->b[row], g->v->c[row]};
  glsl_put(g, "%s(", glsl_value_type(g, glsl_row_type(g, row)));
  for (uint32_t k = 0; k < 3 && operands[k]; k++) {
    glsl_put(g, k ? ", " : "");
    glsl_value(g, operands[k], GLSL_COMMA);
  }
  glsl_put(g, ")");
}

static void
select(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_view *v = g->v;
  if (VYRE_TYPE_LANES(glsl_row_type(g, v->a[row])) > 1) {
    glsl_put(g, "mix(");
    glsl_value(g, v->c[row], GLSL_COMMA);
    glsl_put(g, ", ");
    glsl_value(g, v->b[row], GLSL_COMMA);
    glsl_put(g, ", ");
    glsl_value(g, v->a[row], GLSL_COMMA);
    glsl_put(g, ")");
    return;
  }
  glsl_open(g, least > GLSL_COMMA);
  glsl_value(g, v->a[row], GLSL_LOGIC);
  glsl_put(g, " ? ");
  glsl_value(g, v->b[row], GLSL_LOGIC);
  glsl_put(g, " : ");
  glsl_value(g, v->c[row], GLSL_LOGIC);
  glsl_close(g, least > GLSL_COMMA);
}

/* Writes a component of an integer dot product, in the result's type. */
static void
dot_component(glsl *g, const vyre_dot_shape *shape, uint32_t operand, uint32_t k, vyre_type type)
{
  glsl_put(g, "%s(", glsl_value_type(g, type));
  if (shape->packed) {
    glsl_put(g, "bitfieldExtract(");
    glsl_value(g, operand, GLSL_COMMA);
    glsl_put(g, ", %u, 8)", 8 * k);
  } else {
    glsl_component(g, operand, k);
  }
  glsl_put(g, ")");
}

/* Writes products and sums of the result's type, which wrap.  The sum with an accumulator saturates. */
static void
int_dot(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_view *v = g->v;
  const uint32_t accumulator = v->c[row];
  const vyre_type type = glsl_row_type(g, row);
  const vyre_dot_shape shape = vyre_dot_shape_of(glsl_opcode(g, row), glsl_row_type(g, v->a[row]));
  if (accumulator)
    glsl_call(g, shape.left_signed ? "saddsat" : "uaddsat", type);
  glsl_open(g, !accumulator && least > GLSL_SUM);
  for (uint32_t k = 0; k < shape.lanes; k++) {
    glsl_put(g, k ? " + " : "");
    dot_component(g, &shape, v->a[row], k, type);
    glsl_put(g, " * ");
    dot_component(g, &shape, v->b[row], k, type);
  }
  glsl_close(g, !accumulator && least > GLSL_SUM);
  if (accumulator) {
    glsl_put(g, ", ");
    glsl_value(g, accumulator, GLSL_COMMA);
    glsl_put(g, ")");
  }
}

static void
prefix(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, row);
  const bool boolean = VYRE_TYPE_KIND(type) == VYRE_BOOL;
  if (boolean && VYRE_TYPE_LANES(type) > 1) {
    glsl_put(g, "not(");
    glsl_value(g, g->v->a[row], GLSL_COMMA);
    glsl_put(g, ")");
    return;
  }
  glsl_open(g, least > GLSL_UNARY);
  glsl_put(g, glsl_is(g, row, VYRE_OP_neg) ? "-" : boolean ? "!" : "~");
  glsl_value(g, g->v->a[row], GLSL_POSTFIX);
  glsl_close(g, least > GLSL_UNARY);
}

static void
product(glsl *g, uint32_t row, glsl_precedence least)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  glsl_open(g, least > GLSL_PRODUCT);
  (VYRE_TYPE_KIND(glsl_row_type(g, a)) == VYRE_TUPLE ? matrix : glsl_value)(g, a, GLSL_UNARY);
  glsl_put(g, " * ");
  (VYRE_TYPE_KIND(glsl_row_type(g, b)) == VYRE_TUPLE ? matrix : glsl_value)(g, b, GLSL_UNARY);
  glsl_close(g, least > GLSL_PRODUCT);
}

static const char *
builtin(vyre_opcode op)
{
  switch (op) {
  case VYRE_OP_gid:
    return "gl_GlobalInvocationID";
  case VYRE_OP_lid:
    return "gl_LocalInvocationID";
  case VYRE_OP_wid:
    return "gl_WorkGroupID";
  case VYRE_OP_groups:
    return "gl_NumWorkGroups";
  case VYRE_OP_lindex:
    return "gl_LocalInvocationIndex";
  default:
    return NULL;
  }
}

static void
expression(glsl *g, uint32_t row, glsl_precedence least)
{
  const char *text = builtin(glsl_opcode(g, row));
  text = text ? text : glsl_subgroup_builtin(g, glsl_opcode(g, row));
  if (text) {
    glsl_put(g, "%s", text);
    return;
  }
  if (glsl_subgroup(g, row))
    return;
  /* clang-format off */
  switch (glsl_opcode(g, row)) {
  case VYRE_OP_load: glsl_load(g, row, least); return;
  case VYRE_OP_get: glsl_put(g, "%s", glsl_row_name(g, g->v->a[row])); return;
  case VYRE_OP_length: glsl_put(g, "uint("); glsl_path(g, g->v->a[row]); glsl_put(g, ".length())"); return;
  case VYRE_OP_part: part(g, row); return;
  case VYRE_OP_join: case VYRE_OP_splat: construct(g, row); return;
  case VYRE_OP_lane: lane(g, row, least); return;
  case VYRE_OP_shuffle: shuffle(g, row); return;
  case VYRE_OP_select: if (glsl_is_componentwise(g, row)) glsl_arithmetic(g, row, least); else select(g, row, least); return;
  case VYRE_OP_neg: case VYRE_OP_not: prefix(g, row, least); return;
  case VYRE_OP_convert: convert(g, row); return;
  case VYRE_OP_bitcast: bitcast(g, row); return;
  case VYRE_OP_sdot: case VYRE_OP_udot: case VYRE_OP_sudot: int_dot(g, row, least); return;
  case VYRE_OP_matvec: case VYRE_OP_vecmat: case VYRE_OP_matmat: product(g, row, least); return;
  case VYRE_OP_transpose: case VYRE_OP_determinant: case VYRE_OP_inverse:
    glsl_put(g, "%s(", vyre_op_infos[glsl_opcode(g, row)].text); matrix(g, g->v->a[row], GLSL_COMMA); glsl_put(g, ")"); return;
  case VYRE_OP_bfi:
    glsl_call(g, "bfi", glsl_row_type(g, row));
    glsl_value(g, g->v->a[row], GLSL_COMMA); glsl_put(g, ", "); glsl_value(g, g->v->b[row], GLSL_COMMA); glsl_put(g, ", ");
    glsl_value(g, vyre_tuple_part(g->v, g->v->c[row], 0), GLSL_COMMA); glsl_put(g, ", ");
    glsl_value(g, vyre_tuple_part(g->v, g->v->c[row], 1), GLSL_COMMA); glsl_put(g, ")"); return;
  default: glsl_arithmetic(g, row, least); return;
  }
  /* clang-format on */
}

void
glsl_expression(glsl *g, uint32_t row, glsl_precedence least)
{
  const bool outer = g->folds;
  g->folds = outer || glsl_is_constant_expression(g, row, 0);
  expression(g, row, least);
  g->folds = outer;
}

/* ---- statements that define ---- */

bool
glsl_is_pair(const glsl *g, uint32_t row)
{
  switch (glsl_opcode(g, row)) {
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
  case VYRE_OP_frexp:
  case VYRE_OP_modf:
    return true;
  default:
    return false;
  }
}

static void
begin_definition(glsl *g, const char *type, const char *name)
{
  glsl_begin_line(g);
  glsl_put(g, "%s %s", type, name);
}

/* Defines two names, one for each result. */
static void
define_pair(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const char *name = glsl_value_type(g, type);
  const char **second = &g->second[row - g->program];
  *second = glsl_identifier(g,
                            op == VYRE_OP_frexp   ? "exponent"
                            : op == VYRE_OP_modf  ? "whole"
                            : op == VYRE_OP_uaddc ? "carry"
                            : op == VYRE_OP_usubb ? "borrow"
                                                  : "high",
                            0);
  if (op == VYRE_OP_frexp || op == VYRE_OP_modf) {
    const vyre_type out = op == VYRE_OP_frexp ? VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type)) : type;
    begin_definition(g, glsl_value_type(g, out), *second);
    glsl_put(g, ";\n");
    begin_definition(g, name, glsl_row_name(g, row));
    glsl_put(g, " = %s(", op == VYRE_OP_frexp ? "frexp" : "modf");
    glsl_value(g, g->v->a[row], GLSL_COMMA);
    glsl_put(g, ", %s);\n", *second);
    return;
  }
  const char *sign = op == VYRE_OP_uaddc ? "+" : op == VYRE_OP_usubb ? "-" : "*";
  begin_definition(g, name, glsl_row_name(g, row));
  glsl_put(g, " = ");
  glsl_value(g, g->v->a[row], GLSL_UNARY);
  glsl_put(g, " %s ", sign);
  glsl_value(g, g->v->b[row], GLSL_UNARY);
  glsl_put(g, ";\n");
  begin_definition(g, name, *second);
  glsl_put(g, " = ");
  if (op == VYRE_OP_umulx || op == VYRE_OP_smulx) {
    glsl_call(g, op == VYRE_OP_umulx ? "umulhi" : "smulhi", type);
    glsl_arguments(g, row);
  } else {
    const bool vector = VYRE_TYPE_LANES(type) > 1;
    glsl_put(g, "%s(%s", name, vector ? "lessThan(" : "");
    if (op == VYRE_OP_uaddc)
      glsl_put(g, "%s", glsl_row_name(g, row));
    else
      glsl_value(g, g->v->a[row], GLSL_SHIFT);
    glsl_put(g, vector ? ", " : " < ");
    glsl_value(g, op == VYRE_OP_uaddc ? g->v->a[row] : g->v->b[row], GLSL_SHIFT);
    glsl_put(g, vector ? "))" : ")");
  }
  glsl_put(g, ";\n");
}

static void
define_insert(glsl *g, uint32_t row)
{
  const vyre_type type = glsl_row_type(g, row);
  const uint32_t lanes = VYRE_TYPE_LANES(type), index = g->v->c[row];
  begin_definition(g, glsl_value_type(g, type), glsl_row_name(g, row));
  glsl_put(g, " = ");
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ";\n");
  const bool is_literal = glsl_is(g, index, VYRE_OP_const);
  if (is_literal && glsl_payload(g, index) >= lanes)
    return;
  glsl_begin_line(g);
  if (g->strict && !is_literal) {
    glsl_put(g, "if (");
    put_index(g, index);
    glsl_put(g, " < %uu) ", lanes);
  }
  glsl_put(g, "%s", glsl_row_name(g, row));
  if (lanes > 1 && is_literal) {
    glsl_put(g, ".%c", "xyzw"[glsl_payload(g, index)]);
  } else if (lanes > 1) {
    glsl_put(g, "[");
    glsl_value(g, index, GLSL_COMMA);
    glsl_put(g, "]");
  }
  glsl_put(g, " = ");
  glsl_value(g, g->v->b[row], GLSL_COMMA);
  glsl_put(g, ";\n");
}

void
glsl_define(glsl *g, uint32_t row)
{
  const vyre_type type = glsl_row_type(g, row);
  char name[16];
  if (glsl_is_pair(g, row)) {
    define_pair(g, row);
    return;
  }
  if (glsl_is(g, row, VYRE_OP_insert)) {
    define_insert(g, row);
    return;
  }
  const char *type_name = VYRE_TYPE_KIND(type) == VYRE_TUPLE
                              ? glsl_matrix_type(g, VYRE_TUPLE_TYPE(g->v->imm[row]), VYRE_TUPLE_COUNT(g->v->imm[row]), name)
                              : glsl_value_type(g, type);
  glsl_begin_line(g);
  glsl_put(g, "%s%s %s = ",
           g->defines_constants      ? "const "
           : glsl_is_precise(g, row) ? "precise "
                                     : "",
           type_name, glsl_row_name(g, row));
  glsl_expression(g, row, GLSL_COMMA);
  glsl_put(g, ";\n");
}
