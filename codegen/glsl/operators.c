/* Operators and functions of one type: arithmetic, comparisons, bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

typedef struct operator_text {
  uint16_t op;
  const char *text;
  glsl_precedence precedence;
  const char *vectors; /* the function that compares vectors; NULL if the operator applies to vectors too */
} operator_text;

static const operator_text operators[] = {
    {VYRE_OP_add, "+", GLSL_SUM, NULL},
    {VYRE_OP_sub, "-", GLSL_SUM, NULL},
    {VYRE_OP_mul, "*", GLSL_PRODUCT, NULL},
    {VYRE_OP_fdiv, "/", GLSL_PRODUCT, NULL},
    {VYRE_OP_udiv, "/", GLSL_PRODUCT, NULL},
    {VYRE_OP_sdiv, "/", GLSL_PRODUCT, NULL},
    {VYRE_OP_umod, "%", GLSL_PRODUCT, NULL},
    {VYRE_OP_and, "&", GLSL_BITS, NULL},
    {VYRE_OP_or, "|", GLSL_BITS, NULL},
    {VYRE_OP_xor, "^", GLSL_BITS, NULL},
    {VYRE_OP_eq, "==", GLSL_COMPARE, "equal"},
    {VYRE_OP_ne, "!=", GLSL_COMPARE, "notEqual"},
    {VYRE_OP_ult, "<", GLSL_COMPARE, "lessThan"},
    {VYRE_OP_ule, "<=", GLSL_COMPARE, "lessThanEqual"},
    {VYRE_OP_ugt, ">", GLSL_COMPARE, "greaterThan"},
    {VYRE_OP_uge, ">=", GLSL_COMPARE, "greaterThanEqual"},
    {VYRE_OP_slt, "<", GLSL_COMPARE, "lessThan"},
    {VYRE_OP_sle, "<=", GLSL_COMPARE, "lessThanEqual"},
    {VYRE_OP_sgt, ">", GLSL_COMPARE, "greaterThan"},
    {VYRE_OP_sge, ">=", GLSL_COMPARE, "greaterThanEqual"},
    {VYRE_OP_feq, "==", GLSL_COMPARE, "equal"},
    {VYRE_OP_fne, "!=", GLSL_COMPARE, "notEqual"},
    {VYRE_OP_flt, "<", GLSL_COMPARE, "lessThan"},
    {VYRE_OP_fle, "<=", GLSL_COMPARE, "lessThanEqual"},
    {VYRE_OP_fgt, ">", GLSL_COMPARE, "greaterThan"},
    {VYRE_OP_fge, ">=", GLSL_COMPARE, "greaterThanEqual"},
};

static const operator_text *
operator_of(vyre_opcode op)
{
  for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
    if (operators[i].op == op)
      return &operators[i];
  return NULL;
}

static vyre_kind
kind_of_sign(vyre_kind kind, bool is_signed)
{
  return (vyre_kind)(((unsigned)kind & ~1u) | !is_signed);
}

/* Returns the type in which an op reads integers.  Ops of comparisons and shifts determine the signedness, GLSL's operators do
 * not. */
static vyre_type
type_as_read(vyre_opcode op, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t order = VYRE_COMPARES_ORDER(vyre_op_infos[op].compares);
  const bool as_unsigned = op == VYRE_OP_ushr || order == VYRE_COMPARES_UNSIGNED;
  const bool as_signed = op == VYRE_OP_sshr || order == VYRE_COMPARES_SIGNED;
  return vyre_kind_is_int(kind) && (as_unsigned || as_signed) ? VYRE_TYPE(kind_of_sign(kind, as_signed), VYRE_TYPE_LANES(type))
                                                              : type;
}

/* Writes an operand, converted if its type is another. */
static void
as_type(glsl *g, uint32_t row, unsigned which, vyre_type from, vyre_type to, glsl_precedence least)
{
  if (from != to) {
    if (which == 1 && glsl_has_literal(g, row)) {
      glsl_operand_literal(g, to, glsl_payload(g, row), least);
      return;
    }
    glsl_put(g, "%s(", glsl_value_type(g, to));
    least = GLSL_COMMA;
  }
  if (which == 0)
    glsl_value(g, g->v->a[row], least);
  else
    glsl_right(g, row, from, least);
  glsl_close(g, from != to);
}

static void
infix(glsl *g, uint32_t row, const operator_text *o, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, g->v->a[row]), read = type_as_read(glsl_opcode(g, row), type);
  const bool vector = VYRE_TYPE_LANES(type) > 1, chains = o->precedence == GLSL_SUM || o->precedence == GLSL_PRODUCT;
  if (vector && o->vectors) {
    glsl_put(g, "%s(", o->vectors);
    as_type(g, row, 0, type, read, GLSL_COMMA);
    glsl_put(g, ", ");
    as_type(g, row, 1, type, read, GLSL_COMMA);
    glsl_put(g, ")");
    return;
  }
  /* GLSL's arithmetic accepts a scalar beside a vector */
  const vyre_type right = glsl_has_literal(g, row) ? VYRE_TYPE(VYRE_TYPE_KIND(type), 1) : type;
  glsl_open(g, o->precedence < least);
  as_type(g, row, 0, type, read, chains ? o->precedence : (glsl_precedence)(o->precedence + 1));
  glsl_put(g, " %s ", o->text);
  const uint32_t b = g->v->b[row];
  if (!glsl_has_literal(g, row) && glsl_is(g, b, VYRE_OP_splat) && g->form[b - g->program] == GLSL_INLINE)
    glsl_value(g, g->v->a[b], (glsl_precedence)(o->precedence + 1));
  else
    as_type(g, row, 1, right, VYRE_TYPE(VYRE_TYPE_KIND(read), VYRE_TYPE_LANES(right)), (glsl_precedence)(o->precedence + 1));
  glsl_close(g, o->precedence < least);
}

static void
component(glsl *g, uint32_t row, uint32_t lane)
{
  glsl_value(g, row, GLSL_POSTFIX);
  if (VYRE_TYPE_LANES(glsl_row_type(g, row)) > 1 && !glsl_is(g, row, VYRE_OP_const))
    glsl_put(g, ".%c", "xyzw"[lane]);
}

static void
right_component(glsl *g, uint32_t row, uint32_t lane)
{
  if (glsl_has_literal(g, row))
    glsl_operand_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(glsl_row_type(g, g->v->a[row])), 1), glsl_payload(g, row), GLSL_POSTFIX);
  else if (glsl_is(g, g->v->b[row], VYRE_OP_const))
    glsl_operand_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(glsl_row_type(g, g->v->b[row])), 1), glsl_payload(g, g->v->b[row]),
                         GLSL_POSTFIX);
  else
    component(g, g->v->b[row], lane);
}

void
glsl_component(glsl *g, uint32_t operand, uint32_t lane)
{
  if (glsl_is(g, operand, VYRE_OP_const))
    glsl_operand_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(glsl_row_type(g, operand)), 1), glsl_payload(g, operand), GLSL_POSTFIX);
  else
    component(g, operand, lane);
}

/* Writes one lane of a row that has no vector form in GLSL. */
static void
one_component(glsl *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row];
  switch (glsl_opcode(g, row)) {
  case VYRE_OP_select:
    glsl_component(g, a, lane);
    glsl_put(g, " ? ");
    glsl_component(g, g->v->b[row], lane);
    glsl_put(g, " : ");
    glsl_component(g, g->v->c[row], lane);
    return;
  case VYRE_OP_fone:
  case VYRE_OP_fueq: {
    const bool equal = glsl_opcode(g, row) == VYRE_OP_fueq;
    glsl_put(g, equal ? "!(" : "");
    glsl_component(g, a, lane);
    glsl_put(g, " < ");
    right_component(g, row, lane);
    glsl_put(g, " || ");
    glsl_component(g, a, lane);
    glsl_put(g, " > ");
    right_component(g, row, lane);
    glsl_put(g, equal ? ")" : "");
    return;
  }
  default:
    glsl_component(g, a, lane);
    glsl_put(g, " %s ", glsl_opcode(g, row) == VYRE_OP_and ? "&&" : glsl_opcode(g, row) == VYRE_OP_or ? "||" : "^^");
    right_component(g, row, lane);
    return;
  }
}

static void
componentwise(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, row);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  if (lanes > 1)
    glsl_put(g, "%s", glsl_value_type(g, type));
  glsl_open(g, lanes > 1 || least > GLSL_LOGIC);
  for (uint32_t k = 0; k < lanes; k++) {
    glsl_put(g, k ? ", " : "");
    one_component(g, row, k);
  }
  glsl_close(g, lanes > 1 || least > GLSL_LOGIC);
}

static void
logic(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_opcode op = glsl_opcode(g, row);
  glsl_open(g, least > GLSL_LOGIC);
  glsl_value(g, g->v->a[row], GLSL_BITS);
  glsl_put(g, " %s ", op == VYRE_OP_and ? "&&" : op == VYRE_OP_or ? "||" : "^^");
  glsl_right(g, row, VYRE_TYPE(VYRE_BOOL, 1), GLSL_BITS);
  glsl_close(g, least > GLSL_LOGIC);
}

/* Writes !(a >= b), which is less or unordered. */
static void
negated(glsl *g, uint32_t row, const operator_text *inverse)
{
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  glsl_put(g, VYRE_TYPE_LANES(type) > 1 ? "not(" : "!(");
  infix(g, row, inverse, GLSL_COMMA);
  glsl_put(g, ")");
}

static void
shift(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, row), read = type_as_read(glsl_opcode(g, row), type);
  const uint32_t width = vyre_kind_bits(VYRE_TYPE_KIND(type));
  if (read != type)
    glsl_put(g, "%s(", glsl_value_type(g, type));
  glsl_open(g, read == type && least > GLSL_SHIFT);
  as_type(g, row, 0, type, read, GLSL_SUM);
  glsl_put(g, glsl_opcode(g, row) == VYRE_OP_shl ? " << " : " >> ");
  if (glsl_has_literal(g, row)) {
    glsl_put(g, "%uu", (unsigned)(glsl_payload(g, row) & (width - 1)));
  } else {
    const vyre_type count = VYRE_TYPE(VYRE_U32, VYRE_TYPE_LANES(type));
    glsl_open(g, g->strict);
    as_type(g, row, 1, type, count, GLSL_SUM);
    if (g->strict)
      glsl_put(g, " & %uu)", width - 1);
  }
  glsl_close(g, read == type ? least > GLSL_SHIFT : true);
}

/* ---- functions ---- */

typedef struct function_text {
  uint16_t op;
  const char *text;
} function_text;

/* GLSL functions with the op's meaning, for all of its kinds. */
static const function_text same[] = {
    {VYRE_OP_fabs, "abs"},
    {VYRE_OP_fsign, "sign"},
    {VYRE_OP_fma, "fma"},
    {VYRE_OP_any, "any"},
    {VYRE_OP_all, "all"},
    {VYRE_OP_isnan, "isnan"},
    {VYRE_OP_isinf, "isinf"},
    {VYRE_OP_packsnorm4x8, "packSnorm4x8"},
    {VYRE_OP_packunorm4x8, "packUnorm4x8"},
    {VYRE_OP_packsnorm2x16, "packSnorm2x16"},
    {VYRE_OP_packunorm2x16, "packUnorm2x16"},
    {VYRE_OP_packhalf2x16, "packHalf2x16"},
    {VYRE_OP_unpacksnorm4x8, "unpackSnorm4x8"},
    {VYRE_OP_unpackunorm4x8, "unpackUnorm4x8"},
    {VYRE_OP_unpacksnorm2x16, "unpackSnorm2x16"},
    {VYRE_OP_unpackunorm2x16, "unpackUnorm2x16"},
    {VYRE_OP_unpackhalf2x16, "unpackHalf2x16"},
    {VYRE_OP_roundeven, "roundEven"},
    {VYRE_OP_trunc, "trunc"},
    {VYRE_OP_floor, "floor"},
    {VYRE_OP_ceil, "ceil"},
    {VYRE_OP_fract, "fract"},
    {VYRE_OP_sqrt, "sqrt"},
    {VYRE_OP_rsqrt, "inversesqrt"},
    {VYRE_OP_radians, "radians"},
    {VYRE_OP_degrees, "degrees"},
    {VYRE_OP_sin, "sin"},
    {VYRE_OP_cos, "cos"},
    {VYRE_OP_tan, "tan"},
    {VYRE_OP_asin, "asin"},
    {VYRE_OP_acos, "acos"},
    {VYRE_OP_atan, "atan"},
    {VYRE_OP_sinh, "sinh"},
    {VYRE_OP_cosh, "cosh"},
    {VYRE_OP_tanh, "tanh"},
    {VYRE_OP_asinh, "asinh"},
    {VYRE_OP_acosh, "acosh"},
    {VYRE_OP_atanh, "atanh"},
    {VYRE_OP_exp, "exp"},
    {VYRE_OP_exp2, "exp2"},
    {VYRE_OP_log, "log"},
    {VYRE_OP_log2, "log2"},
    {VYRE_OP_atan2, "atan"},
    {VYRE_OP_pow, "pow"},
    {VYRE_OP_step, "step"},
    {VYRE_OP_fmix, "mix"},
    {VYRE_OP_smoothstep, "smoothstep"},
    {VYRE_OP_ldexp, "ldexp"},
    {VYRE_OP_dot, "dot"},
    {VYRE_OP_norm, "length"},
    {VYRE_OP_distance, "distance"},
    {VYRE_OP_cross, "cross"},
    {VYRE_OP_normalize, "normalize"},
    {VYRE_OP_faceforward, "faceforward"},
    {VYRE_OP_reflect, "reflect"},
    {VYRE_OP_refract, "refract"},
    {VYRE_OP_transpose, "transpose"},
    {VYRE_OP_outer, "outerProduct"},
    {VYRE_OP_determinant, "determinant"},
    {VYRE_OP_inverse, "inverse"},
};

/* Helper functions: GLSL has none, or not for all kinds, or leaves cases undefined that vyre defines. */
static const function_text own[] = {
    {VYRE_OP_udiv, "udiv"},
    {VYRE_OP_umod, "umod"},
    {VYRE_OP_sdiv, "sdiv"},
    {VYRE_OP_srem, "srem"},
    {VYRE_OP_smod, "smod"},
    {VYRE_OP_frem, "frem"},
    {VYRE_OP_fmod, "fmod"},
    {VYRE_OP_sabs, "sabs"},
    {VYRE_OP_ssign, "ssign"},
    {VYRE_OP_umin, "least"},
    {VYRE_OP_smin, "least"},
    {VYRE_OP_umax, "greatest"},
    {VYRE_OP_smax, "greatest"},
    {VYRE_OP_fmin, "nmin"},
    {VYRE_OP_nmin, "nmin"},
    {VYRE_OP_fmax, "nmax"},
    {VYRE_OP_nmax, "nmax"},
    {VYRE_OP_uclamp, "limit"},
    {VYRE_OP_sclamp, "limit"},
    {VYRE_OP_fclamp, "nclamp"},
    {VYRE_OP_nclamp, "nclamp"},
    {VYRE_OP_bitcount, "bitcount"},
    {VYRE_OP_bitrev, "bitrev"},
    {VYRE_OP_findlsb, "findlsb"},
    {VYRE_OP_findumsb, "findumsb"},
    {VYRE_OP_findsmsb, "findsmsb"},
    {VYRE_OP_ubfe, "ubfe"},
    {VYRE_OP_sbfe, "sbfe"},
    {VYRE_OP_bfi, "bfi"},
    {VYRE_OP_quantize16, "quantize16"},
    {VYRE_OP_umulhi, "umulhi"},
    {VYRE_OP_smulhi, "smulhi"},
    {VYRE_OP_uaddsat, "uaddsat"},
    {VYRE_OP_saddsat, "saddsat"},
    {VYRE_OP_usubsat, "usubsat"},
    {VYRE_OP_ssubsat, "ssubsat"},
    {VYRE_OP_umulsat, "umulsat"},
    {VYRE_OP_smulsat, "smulsat"},
    {VYRE_OP_uabsdiff, "absdiff"},
    {VYRE_OP_sabsdiff, "absdiff"},
    {VYRE_OP_rotl, "rotl"},
    {VYRE_OP_rotr, "rotr"},
    {VYRE_OP_smoothstep, "smoothstep"},
};

/* GLSL functions for 32 bits, or for floats, if the program does not need vyre's exact results. */
static const function_text relaxed[] = {
    {VYRE_OP_sabs, "abs"},     {VYRE_OP_ssign, "sign"},   {VYRE_OP_umin, "min"},     {VYRE_OP_smin, "min"},
    {VYRE_OP_umax, "max"},     {VYRE_OP_smax, "max"},     {VYRE_OP_fmin, "min"},     {VYRE_OP_fmax, "max"},
    {VYRE_OP_uclamp, "clamp"}, {VYRE_OP_sclamp, "clamp"}, {VYRE_OP_fclamp, "clamp"},
};

static const char *
find(const function_text *list, size_t count, vyre_opcode op)
{
  for (size_t i = 0; i < count; i++)
    if (list[i].op == op)
      return list[i].text;
  return NULL;
}
#define FIND(list, op) find(list, sizeof(list) / sizeof(*(list)), op)

/* Writes the arguments.  Operands of bit fields are uint, and the last two of `bfi` are a tuple. */
void
glsl_arguments(glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t operands = vyre_op_infos[glsl_opcode(g, row)].operands;
  glsl_value(g, v->a[row], GLSL_COMMA);
  if (operands > 1) {
    glsl_put(g, ", ");
    glsl_right(g, row, glsl_row_type(g, v->a[row]), GLSL_COMMA);
  }
  if (operands > 2) {
    glsl_put(g, ", ");
    glsl_value(g, v->c[row], GLSL_COMMA);
  }
  glsl_put(g, ")");
}

/* Returns whether GLSL has no such function for f64. */
static bool
lacks_f64(vyre_opcode op)
{
  return op >= VYRE_OP_radians && op <= VYRE_OP_pow;
}

static bool
call(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const bool is_float = vyre_kind_is_float(kind);
  const char *text = FIND(same, op);
  if (op == VYRE_OP_round)
    text = g->strict ? "roundEven" : "round";
  if (op == VYRE_OP_smoothstep && g->strict)
    text = NULL;
  const bool total = vyre_op_infos[op].undefined == VYRE_UNDEFINED_NEVER;
  if (!text && (is_float ? !g->strict : vyre_kind_bits(kind) == 32 && (total || !g->strict)))
    text = FIND(relaxed, op);
  if (text && kind == VYRE_F64 && lacks_f64(op))
    glsl_fail(g, row, "GLSL has no '%s' of 64 bits\nFix: compute it in f32", vyre_op_infos[op].text);
  if (text) {
    glsl_put(g, "%s(", text);
  } else {
    text = FIND(own, op);
    if (!text)
      return false;
    glsl_call(g, text, type);
  }
  glsl_arguments(g, row);
  return true;
}

void
glsl_arithmetic(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const operator_text *o = operator_of(op), *inverse = operator_of((vyre_opcode)vyre_op_infos[op].inverse);
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const bool boolean = VYRE_TYPE_KIND(type) == VYRE_BOOL;
  const bool divides = op == VYRE_OP_udiv || op == VYRE_OP_sdiv || op == VYRE_OP_umod;
  if (glsl_is_componentwise(g, row))
    componentwise(g, row, least);
  else if (boolean && (op == VYRE_OP_and || op == VYRE_OP_or || op == VYRE_OP_xor))
    logic(g, row, least);
  else if (op == VYRE_OP_shl || op == VYRE_OP_ushr || op == VYRE_OP_sshr)
    shift(g, row, least);
  else if (o && !(g->strict && divides))
    infix(g, row, o, least);
  else if (inverse)
    negated(g, row, inverse);
  else if (!call(g, row))
    glsl_fail(g, row, "'%s' cannot be written as GLSL\nFix: write SPIR-V", vyre_op_infos[op].text);
}
