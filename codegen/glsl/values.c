/* Values as expressions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <string.h>

static vyre_opcode
opcode(const glsl *g, uint32_t row)
{
  return (vyre_opcode)VYRE_ROW_OP(g->v->op[row]);
}

static bool
has_literal(const glsl *g, uint32_t row)
{
  return (VYRE_ROW_FLAGS(g->v->op[row]) & VYRE_ROW_IMM) != 0;
}

static void
open_if(glsl *g, bool parenthesis)
{
  if (parenthesis)
    glsl_put(g, "(");
}

static void
close_if(glsl *g, bool parenthesis)
{
  if (parenthesis)
    glsl_put(g, ")");
}

static void
literal(glsl *g, vyre_type type, uint64_t bits, glsl_precedence least)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t width = vyre_kind_bits(kind);
  const bool negative = VYRE_TYPE_LANES(type) == 1 && (vyre_kind_is_float(kind) || vyre_kind_is_signed(kind)) && width >= 16 &&
                        (bits >> (width - 1) & 1) != 0;
  open_if(g, negative && least > GLSL_UNARY);
  glsl_literal(g, type, bits);
  close_if(g, negative && least > GLSL_UNARY);
}

void
glsl_value(glsl *g, uint32_t row, glsl_precedence least)
{
  if (glsl_is(g, row, VYRE_OP_const))
    literal(g, glsl_row_type(g, row), glsl_payload(g, row), least);
  else if (g->form[row - g->program] == GLSL_INLINE)
    glsl_expression(g, row, least);
  else
    glsl_put(g, "%s", glsl_row_name(g, row));
}

void
glsl_right(glsl *g, uint32_t row, vyre_type type, glsl_precedence least)
{
  if (has_literal(g, row))
    literal(g, type, glsl_payload(g, row), least);
  else
    glsl_value(g, g->v->b[row], least);
}

/* ---- operators ---- */

typedef struct operator_text {
  uint16_t op;
  const char *text;
  glsl_precedence precedence;
  const char *vectors; /* the function that compares vectors; NULL: the operator is for vectors too */
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

/* Compares and shifts say by their name how they read integers; in GLSL the operands' type does. */
static vyre_type
type_as_read(vyre_opcode op, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const bool as_unsigned = op == VYRE_OP_ushr || (op >= VYRE_OP_ult && op <= VYRE_OP_uge);
  const bool as_signed = op == VYRE_OP_sshr || (op >= VYRE_OP_slt && op <= VYRE_OP_sge);
  return vyre_kind_is_int(kind) && (as_unsigned || as_signed) ? VYRE_TYPE(kind_of_sign(kind, as_signed), VYRE_TYPE_LANES(type)) : type;
}

/* An operand, converted to a type if it is of another. */
static void
as_type(glsl *g, uint32_t row, unsigned which, vyre_type from, vyre_type to, glsl_precedence least)
{
  if (from != to) {
    if (which == 1 && has_literal(g, row)) {
      literal(g, to, glsl_payload(g, row), least);
      return;
    }
    glsl_put(g, "%s(", glsl_value_type(g, to));
    least = GLSL_COMMA;
  }
  if (which == 0)
    glsl_value(g, g->v->a[row], least);
  else
    glsl_right(g, row, from, least);
  close_if(g, from != to);
}

static void
infix(glsl *g, uint32_t row, const operator_text *o, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, g->v->a[row]), read = type_as_read(opcode(g, row), type);
  const bool vector = VYRE_TYPE_LANES(type) > 1, chains = o->precedence == GLSL_SUM || o->precedence == GLSL_PRODUCT;
  if (vector && o->vectors) {
    glsl_put(g, "%s(", o->vectors);
    as_type(g, row, 0, type, read, GLSL_COMMA);
    glsl_put(g, ", ");
    as_type(g, row, 1, type, read, GLSL_COMMA);
    glsl_put(g, ")");
    return;
  }
  /* arithmetic takes a scalar beside a vector */
  const vyre_type right = has_literal(g, row) ? VYRE_TYPE(VYRE_TYPE_KIND(type), 1) : type;
  open_if(g, o->precedence < least);
  as_type(g, row, 0, type, read, chains ? o->precedence : (glsl_precedence)(o->precedence + 1));
  glsl_put(g, " %s ", o->text);
  const uint32_t b = g->v->b[row];
  if (!has_literal(g, row) && glsl_is(g, b, VYRE_OP_splat) && g->form[b - g->program] == GLSL_INLINE)
    glsl_value(g, g->v->a[b], (glsl_precedence)(o->precedence + 1));
  else
    as_type(g, row, 1, right, VYRE_TYPE(VYRE_TYPE_KIND(read), VYRE_TYPE_LANES(right)), (glsl_precedence)(o->precedence + 1));
  close_if(g, o->precedence < least);
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
  if (has_literal(g, row))
    literal(g, VYRE_TYPE(VYRE_TYPE_KIND(glsl_row_type(g, g->v->a[row])), 1), glsl_payload(g, row), GLSL_POSTFIX);
  else if (glsl_is(g, g->v->b[row], VYRE_OP_const))
    literal(g, VYRE_TYPE(VYRE_TYPE_KIND(glsl_row_type(g, g->v->b[row])), 1), glsl_payload(g, g->v->b[row]), GLSL_POSTFIX);
  else
    component(g, g->v->b[row], lane);
}

static void
left_component(glsl *g, uint32_t row, uint32_t operand, uint32_t lane)
{
  if (glsl_is(g, operand, VYRE_OP_const))
    literal(g, VYRE_TYPE(VYRE_TYPE_KIND(glsl_row_type(g, operand)), 1), glsl_payload(g, operand), GLSL_POSTFIX);
  else
    component(g, operand, lane);
  (void)row;
}

/* One lane of a row that GLSL has no vector form of. */
static void
one_component(glsl *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row];
  switch (opcode(g, row)) {
  case VYRE_OP_select:
    left_component(g, row, a, lane);
    glsl_put(g, " ? ");
    left_component(g, row, g->v->b[row], lane);
    glsl_put(g, " : ");
    left_component(g, row, g->v->c[row], lane);
    return;
  case VYRE_OP_fone:
  case VYRE_OP_fueq: {
    const bool equal = opcode(g, row) == VYRE_OP_fueq;
    glsl_put(g, equal ? "!(" : "");
    left_component(g, row, a, lane);
    glsl_put(g, " < ");
    right_component(g, row, lane);
    glsl_put(g, " || ");
    left_component(g, row, a, lane);
    glsl_put(g, " > ");
    right_component(g, row, lane);
    glsl_put(g, equal ? ")" : "");
    return;
  }
  default:
    left_component(g, row, a, lane);
    glsl_put(g, " %s ", opcode(g, row) == VYRE_OP_and ? "&&" : opcode(g, row) == VYRE_OP_or ? "||" : "^^");
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
  open_if(g, lanes > 1 || least > GLSL_LOGIC);
  for (uint32_t k = 0; k < lanes; k++) {
    glsl_put(g, k ? ", " : "");
    one_component(g, row, k);
  }
  close_if(g, lanes > 1 || least > GLSL_LOGIC);
}

static void
logic(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_opcode op = opcode(g, row);
  open_if(g, least > GLSL_LOGIC);
  glsl_value(g, g->v->a[row], GLSL_BITS);
  glsl_put(g, " %s ", op == VYRE_OP_and ? "&&" : op == VYRE_OP_or ? "||" : "^^");
  glsl_right(g, row, VYRE_TYPE(VYRE_BOOL, 1), GLSL_BITS);
  close_if(g, least > GLSL_LOGIC);
}

/* !(a >= b): less, or unordered. */
static void
unordered(glsl *g, uint32_t row)
{
  static const struct {
    uint16_t op;
    const char *text, *vectors;
  } opposites[] = {
      {VYRE_OP_fult, ">=", "greaterThanEqual"},
      {VYRE_OP_fule, ">", "greaterThan"},
      {VYRE_OP_fugt, "<=", "lessThanEqual"},
      {VYRE_OP_fuge, "<", "lessThan"},
  };
  uint32_t i = 0;
  while (i < 3 && opposites[i].op != opcode(g, row))
    i++;
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const operator_text inner = {opposites[i].op, opposites[i].text, GLSL_COMPARE, opposites[i].vectors};
  glsl_put(g, VYRE_TYPE_LANES(type) > 1 ? "not(" : "!(");
  infix(g, row, &inner, GLSL_COMMA);
  glsl_put(g, ")");
}

static void
shift(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_type type = glsl_row_type(g, row), read = type_as_read(opcode(g, row), type);
  const uint32_t width = vyre_kind_bits(VYRE_TYPE_KIND(type));
  if (read != type)
    glsl_put(g, "%s(", glsl_value_type(g, type));
  open_if(g, read == type && least > GLSL_SHIFT);
  as_type(g, row, 0, type, read, GLSL_SUM);
  glsl_put(g, opcode(g, row) == VYRE_OP_shl ? " << " : " >> ");
  if (has_literal(g, row)) {
    glsl_put(g, "%uu", (unsigned)(glsl_payload(g, row) & (width - 1)));
  } else {
    const vyre_type count = VYRE_TYPE(VYRE_U32, VYRE_TYPE_LANES(type));
    open_if(g, g->strict);
    as_type(g, row, 1, type, count, GLSL_SUM);
    if (g->strict)
      glsl_put(g, " & %uu)", width - 1);
  }
  close_if(g, read == type ? least > GLSL_SHIFT : true);
}

/* ---- functions ---- */

typedef struct function_text {
  uint16_t op;
  const char *text;
} function_text;

/* Those of GLSL that mean what the op does, for all kinds that it has. */
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

/* Those that vyre writes: GLSL has none, or not for all kinds, or leaves open what vyre defines. */
static const function_text own[] = {
    {VYRE_OP_udiv, "udiv"},         {VYRE_OP_umod, "umod"},         {VYRE_OP_sdiv, "sdiv"},         {VYRE_OP_srem, "srem"},
    {VYRE_OP_smod, "smod"},         {VYRE_OP_frem, "frem"},         {VYRE_OP_fmod, "fmod"},         {VYRE_OP_sabs, "sabs"},
    {VYRE_OP_ssign, "ssign"},       {VYRE_OP_umin, "least"},        {VYRE_OP_smin, "least"},        {VYRE_OP_umax, "greatest"},
    {VYRE_OP_smax, "greatest"},     {VYRE_OP_fmin, "nmin"},         {VYRE_OP_nmin, "nmin"},         {VYRE_OP_fmax, "nmax"},
    {VYRE_OP_nmax, "nmax"},         {VYRE_OP_uclamp, "limit"},      {VYRE_OP_sclamp, "limit"},      {VYRE_OP_fclamp, "nclamp"},
    {VYRE_OP_nclamp, "nclamp"},     {VYRE_OP_bitcount, "bitcount"}, {VYRE_OP_bitrev, "bitrev"},     {VYRE_OP_findlsb, "findlsb"},
    {VYRE_OP_findumsb, "findumsb"}, {VYRE_OP_findsmsb, "findsmsb"}, {VYRE_OP_ubfe, "ubfe"},         {VYRE_OP_sbfe, "sbfe"},
    {VYRE_OP_bfi, "bfi"},           {VYRE_OP_quantize16, "quantize16"}, {VYRE_OP_umulhi, "umulhi"},   {VYRE_OP_smulhi, "smulhi"},
    {VYRE_OP_uaddsat, "uaddsat"},   {VYRE_OP_saddsat, "saddsat"},   {VYRE_OP_usubsat, "usubsat"},   {VYRE_OP_ssubsat, "ssubsat"},
    {VYRE_OP_umulsat, "umulsat"},   {VYRE_OP_smulsat, "smulsat"},   {VYRE_OP_uabsdiff, "absdiff"},  {VYRE_OP_sabsdiff, "absdiff"},
    {VYRE_OP_rotl, "rotl"},         {VYRE_OP_rotr, "rotr"},
};

/* What GLSL has for 32 bits, or for floats, where the program does not need vyre's meaning to the last bit. */
static const function_text relaxed[] = {
    {VYRE_OP_sabs, "abs"},   {VYRE_OP_ssign, "sign"},  {VYRE_OP_umin, "min"},     {VYRE_OP_smin, "min"},     {VYRE_OP_umax, "max"},
    {VYRE_OP_smax, "max"},   {VYRE_OP_fmin, "min"},    {VYRE_OP_fmax, "max"},     {VYRE_OP_uclamp, "clamp"}, {VYRE_OP_sclamp, "clamp"},
    {VYRE_OP_fclamp, "clamp"},
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

/* Bit-field operands are uint; `bfi` has its last two in a tuple. */
static void
arguments(glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t operands = vyre_op_infos[opcode(g, row)].operands;
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

static bool
call(glsl *g, uint32_t row)
{
  const vyre_opcode op = opcode(g, row);
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const bool is_float = vyre_kind_is_float(kind);
  const char *text = FIND(same, op);
  if (op == VYRE_OP_round)
    text = g->strict ? "roundEven" : "round";
  const bool total = vyre_op_infos[op].undefined == VYRE_UNDEFINED_NEVER;
  if (!text && (is_float ? !g->strict : vyre_kind_bits(kind) == 32 && (total || !g->strict)))
    text = FIND(relaxed, op);
  if (text) {
    glsl_put(g, "%s(", text);
  } else {
    text = FIND(own, op);
    if (!text)
      return false;
    glsl_call(g, text, type);
  }
  arguments(g, row);
  return true;
}

/* ---- conversions ---- */

/* The bits of an unsigned or float value, written by `inner`, as another kind of as many bits. */
static void
open_reinterpretation(glsl *g, vyre_type from, vyre_type to)
{
  const vyre_kind f = VYRE_TYPE_KIND(from), t = VYRE_TYPE_KIND(to);
  const uint32_t bits = vyre_kind_bits(f);
  if (f == t)
    glsl_put(g, "(");
  else if (vyre_kind_is_int(f) && vyre_kind_is_int(t))
    glsl_put(g, "%s(", glsl_value_type(g, to));
  else if (bits == 16)
    glsl_put(g, vyre_kind_is_float(f) ? t == VYRE_U16 ? "float16BitsToUint16(" : "float16BitsToInt16("
                                      : f == VYRE_U16 ? "uint16BitsToFloat16(" : "int16BitsToFloat16(");
  else if (bits == 32)
    glsl_put(g, vyre_kind_is_float(f) ? t == VYRE_U32 ? "floatBitsToUint(" : "floatBitsToInt("
                                      : f == VYRE_U32 ? "uintBitsToFloat(" : "intBitsToFloat(");
  else
    glsl_put(g, vyre_kind_is_float(f) ? t == VYRE_U64 ? "doubleBitsToUint64(" : "doubleBitsToInt64("
                                      : f == VYRE_U64 ? "uint64BitsToDouble(" : "int64BitsToDouble(");
}

/* `swizzle` of the operand, its parts put together or taken apart: from unsigned integers of one width to those of another. */
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

static uint32_t
tuple_part(const glsl *g, uint32_t tuple, uint32_t k)
{
  const vyre_view *v = g->v;
  uint32_t left = VYRE_TUPLE_COUNT(v->imm[tuple]);
  for (; left > 3 && k >= 2; left -= 2, k -= 2)
    tuple = v->c[tuple];
  return k == 0 ? v->a[tuple] : k == 1 ? v->b[tuple] : v->c[tuple];
}

/* A matrix operand: columns put together, or a row that is one. */
static void
matrix(glsl *g, uint32_t row, glsl_precedence least)
{
  const uint32_t columns = VYRE_TUPLE_COUNT(g->v->imm[row]);
  char name[16];
  if (!glsl_is(g, row, VYRE_OP_tuple)) {
    glsl_value(g, row, least);
    return;
  }
  glsl_put(g, "%s(", glsl_matrix_type(g, glsl_row_type(g, tuple_part(g, row, 0)), columns, name));
  for (uint32_t k = 0; k < columns; k++) {
    glsl_put(g, k ? ", " : "");
    glsl_value(g, tuple_part(g, row, k), GLSL_COMMA);
  }
  glsl_put(g, ")");
}

static void
part(glsl *g, uint32_t row)
{
  const uint32_t tuple = g->v->a[row], k = g->v->imm[row];
  if (glsl_is(g, tuple, VYRE_OP_tuple)) {
    glsl_value(g, tuple_part(g, tuple, k), GLSL_POSTFIX);
  } else if (glsl_is_pair(g, tuple)) {
    if (k == 0)
      glsl_put(g, "%s", glsl_row_name(g, tuple));
    else
      glsl_put(g, "%s", glsl_text(g, g->second[tuple - g->program]));
  } else {
    glsl_put(g, "%s", glsl_row_name(g, tuple));
    glsl_put(g, "[%u]", k);
  }
}

/* An index as a uint, to be compared. */
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
  const bool inside = has_literal(g, row) && g->v->imm[row] < lanes;
  if (has_literal(g, row) && !inside) {
    glsl_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(type), 1), 0);
    return;
  }
  const bool guarded = g->strict && !inside;
  open_if(g, guarded && least > GLSL_CHOICE);
  if (guarded) {
    put_index(g, g->v->b[row]);
    glsl_put(g, " < %uu ? ", lanes);
  }
  if (glsl_is(g, g->v->a[row], VYRE_OP_const)) { /* all its lanes are one */
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
  close_if(g, guarded && least > GLSL_CHOICE);
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
    left_component(g, row, from < 4 ? v->a[row] : v->b[row], from & 3u);
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
  open_if(g, least > GLSL_COMMA);
  glsl_value(g, v->a[row], GLSL_LOGIC);
  glsl_put(g, " ? ");
  glsl_value(g, v->b[row], GLSL_LOGIC);
  glsl_put(g, " : ");
  glsl_value(g, v->c[row], GLSL_LOGIC);
  close_if(g, least > GLSL_COMMA);
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
  open_if(g, least > GLSL_UNARY);
  glsl_put(g, glsl_is(g, row, VYRE_OP_neg) ? "-" : boolean ? "!" : "~");
  glsl_value(g, g->v->a[row], GLSL_POSTFIX);
  close_if(g, least > GLSL_UNARY);
}

static void
product(glsl *g, uint32_t row, glsl_precedence least)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  open_if(g, least > GLSL_PRODUCT);
  (VYRE_TYPE_KIND(glsl_row_type(g, a)) == VYRE_TUPLE ? matrix : glsl_value)(g, a, GLSL_UNARY);
  glsl_put(g, " * ");
  (VYRE_TYPE_KIND(glsl_row_type(g, b)) == VYRE_TUPLE ? matrix : glsl_value)(g, b, GLSL_UNARY);
  close_if(g, least > GLSL_PRODUCT);
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
arithmetic(glsl *g, uint32_t row, glsl_precedence least)
{
  const vyre_opcode op = opcode(g, row);
  const operator_text *o = operator_of(op);
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const bool boolean = VYRE_TYPE_KIND(type) == VYRE_BOOL;
  const bool divides = op == VYRE_OP_udiv || op == VYRE_OP_sdiv || op == VYRE_OP_umod;
  if (glsl_is_componentwise(g, row))
    componentwise(g, row, least);
  else if (boolean && (op == VYRE_OP_and || op == VYRE_OP_or || op == VYRE_OP_xor))
    logic(g, row, least);
  else if (op >= VYRE_OP_fult && op <= VYRE_OP_fuge)
    unordered(g, row);
  else if (o && !(g->strict && divides))
    infix(g, row, o, least);
  else if (!call(g, row))
    glsl_fail(g, row, "there is no GLSL for '%s'", vyre_op_infos[op].text);
}

void
glsl_expression(glsl *g, uint32_t row, glsl_precedence least)
{
  const char *text = builtin(opcode(g, row));
  if (text) {
    glsl_put(g, "%s", text);
    return;
  }
  /* clang-format off */
  switch (opcode(g, row)) {
  case VYRE_OP_load: glsl_load(g, row, least); return;
  case VYRE_OP_get: glsl_put(g, "%s", glsl_row_name(g, g->v->a[row])); return;
  case VYRE_OP_length: glsl_put(g, "uint("); glsl_path(g, g->v->a[row]); glsl_put(g, ".length())"); return;
  case VYRE_OP_part: part(g, row); return;
  case VYRE_OP_join: case VYRE_OP_splat: construct(g, row); return;
  case VYRE_OP_lane: lane(g, row, least); return;
  case VYRE_OP_shuffle: shuffle(g, row); return;
  case VYRE_OP_select: if (glsl_is_componentwise(g, row)) componentwise(g, row, least); else select(g, row, least); return;
  case VYRE_OP_neg: case VYRE_OP_not: prefix(g, row, least); return;
  case VYRE_OP_shl: case VYRE_OP_ushr: case VYRE_OP_sshr: shift(g, row, least); return;
  case VYRE_OP_convert: convert(g, row); return;
  case VYRE_OP_bitcast: bitcast(g, row); return;
  case VYRE_OP_matvec: case VYRE_OP_vecmat: case VYRE_OP_matmat: product(g, row, least); return;
  case VYRE_OP_transpose: case VYRE_OP_determinant: case VYRE_OP_inverse:
    glsl_put(g, "%s(", FIND(same, opcode(g, row))); matrix(g, g->v->a[row], GLSL_COMMA); glsl_put(g, ")"); return;
  case VYRE_OP_bfi:
    glsl_call(g, "bfi", glsl_row_type(g, row));
    glsl_value(g, g->v->a[row], GLSL_COMMA); glsl_put(g, ", "); glsl_value(g, g->v->b[row], GLSL_COMMA); glsl_put(g, ", ");
    glsl_value(g, tuple_part(g, g->v->c[row], 0), GLSL_COMMA); glsl_put(g, ", ");
    glsl_value(g, tuple_part(g, g->v->c[row], 1), GLSL_COMMA); glsl_put(g, ")"); return;
  default: arithmetic(g, row, least); return;
  }
  /* clang-format on */
}

/* ---- statements that define ---- */

bool
glsl_is_pair(const glsl *g, uint32_t row)
{
  switch (opcode(g, row)) {
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

/* Two names: one result each. */
static void
define_pair(glsl *g, uint32_t row)
{
  const vyre_opcode op = opcode(g, row);
  const vyre_type type = glsl_row_type(g, g->v->a[row]);
  const char *name = glsl_value_type(g, type);
  uint32_t *second = &g->second[row - g->program];
  *second = glsl_identifier(g, op == VYRE_OP_frexp ? "exponent" : op == VYRE_OP_modf ? "whole" : op == VYRE_OP_uaddc ? "carry" : op == VYRE_OP_usubb ? "borrow" : "high", 0);
  if (op == VYRE_OP_frexp || op == VYRE_OP_modf) {
    const vyre_type out = op == VYRE_OP_frexp ? VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type)) : type;
    begin_definition(g, glsl_value_type(g, out), glsl_text(g, *second));
    glsl_put(g, ";\n");
    begin_definition(g, name, glsl_row_name(g, row));
    glsl_put(g, " = %s(", op == VYRE_OP_frexp ? "frexp" : "modf");
    glsl_value(g, g->v->a[row], GLSL_COMMA);
    glsl_put(g, ", %s);\n", glsl_text(g, *second));
    return;
  }
  const char *sign = op == VYRE_OP_uaddc ? "+" : op == VYRE_OP_usubb ? "-" : "*";
  begin_definition(g, name, glsl_row_name(g, row));
  glsl_put(g, " = ");
  glsl_value(g, g->v->a[row], GLSL_UNARY);
  glsl_put(g, " %s ", sign);
  glsl_value(g, g->v->b[row], GLSL_UNARY);
  glsl_put(g, ";\n");
  begin_definition(g, name, glsl_text(g, *second));
  glsl_put(g, " = ");
  if (op == VYRE_OP_umulx || op == VYRE_OP_smulx) {
    glsl_call(g, op == VYRE_OP_umulx ? "umulhi" : "smulhi", type);
    arguments(g, row);
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
  const bool precise = (VYRE_ROW_FLAGS(g->v->op[row]) & VYRE_ROW_EXACT) && !vyre_kind_is_int(VYRE_TYPE_KIND(type));
  const char *type_name = VYRE_TYPE_KIND(type) == VYRE_TUPLE
                              ? glsl_matrix_type(g, VYRE_TUPLE_TYPE(g->v->imm[row]), VYRE_TUPLE_COUNT(g->v->imm[row]), name)
                              : glsl_value_type(g, type);
  glsl_begin_line(g);
  glsl_put(g, "%s%s %s = ", g->constants ? "const " : precise ? "precise " : "", type_name, glsl_row_name(g, row));
  glsl_expression(g, row, GLSL_COMMA);
  glsl_put(g, ";\n");
}
