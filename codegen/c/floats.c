/* Arithmetic on floats: in float for f32, otherwise in double and rounded once to the kind.  A NaN becomes canonical when an
 * expression's value is stored, not between the operations of the expression.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

typedef enum float_sort {
  SORT_OPERATOR,
  SORT_FUNCTION, /* a C function for float and double */
  SORT_HELPER,   /* a helper function for each float kind */
  SORT_DOUBLE,   /* a helper from double to double */
  SORT_FMOD,
} float_sort;

typedef struct float_op {
  vyre_opcode op;
  float_sort sort;
  const char *name;
} float_op;

static const float_op float_ops[] = {
    {VYRE_OP_add, SORT_OPERATOR, "+"},
    {VYRE_OP_sub, SORT_OPERATOR, "-"},
    {VYRE_OP_mul, SORT_OPERATOR, "*"},
    {VYRE_OP_fdiv, SORT_OPERATOR, "/"},
    {VYRE_OP_neg, SORT_OPERATOR, "-"},
    {VYRE_OP_fma, SORT_FUNCTION, "fma"},
    {VYRE_OP_fabs, SORT_FUNCTION, "fabs"},
    {VYRE_OP_sqrt, SORT_FUNCTION, "sqrt"},
    {VYRE_OP_round, SORT_FUNCTION, "nearbyint"},
    {VYRE_OP_roundeven, SORT_FUNCTION, "nearbyint"},
    {VYRE_OP_trunc, SORT_FUNCTION, "trunc"},
    {VYRE_OP_floor, SORT_FUNCTION, "floor"},
    {VYRE_OP_ceil, SORT_FUNCTION, "ceil"},
    {VYRE_OP_fsign, SORT_HELPER, "fsign"},
    {VYRE_OP_fmin, SORT_HELPER, "fmin"},
    {VYRE_OP_nmin, SORT_HELPER, "fmin"},
    {VYRE_OP_fmax, SORT_HELPER, "fmax"},
    {VYRE_OP_nmax, SORT_HELPER, "fmax"},
    {VYRE_OP_fclamp, SORT_HELPER, "fclamp"},
    {VYRE_OP_nclamp, SORT_HELPER, "fclamp"},
    {VYRE_OP_step, SORT_HELPER, "step"},
    {VYRE_OP_fmix, SORT_HELPER, "fmix"},
    {VYRE_OP_smoothstep, SORT_HELPER, "smoothstep"},
    {VYRE_OP_quantize16, SORT_HELPER, "quantize16"},
    {VYRE_OP_frem, SORT_FMOD, "fmod"},
    {VYRE_OP_fmod, SORT_DOUBLE, "fmodulo"},
    {VYRE_OP_fract, SORT_DOUBLE, "fract"},
    {VYRE_OP_rsqrt, SORT_DOUBLE, "rsqrt"},
    {VYRE_OP_radians, SORT_DOUBLE, "radians"},
    {VYRE_OP_degrees, SORT_DOUBLE, "degrees"},
    {VYRE_OP_ldexp, SORT_DOUBLE, "scale"},
};

/* Finds the implementation of an op.  Functions of libm have the op's own name. */
static bool
find(vyre_opcode op, float_op *out)
{
  for (size_t i = 0; i < sizeof(float_ops) / sizeof(*float_ops); i++)
    if (float_ops[i].op == op) {
      *out = float_ops[i];
      return true;
    }
  *out = (float_op){op, SORT_DOUBLE, vyre_op_infos[op].text};
  return op >= VYRE_OP_sin && op <= VYRE_OP_pow;
}

static bool
gives_double(const float_op *o)
{
  return o->sort == SORT_DOUBLE || o->sort == SORT_FMOD;
}

void
cgen_open_result(cgen *g, vyre_kind kind, bool from_double)
{
  cgen_call(g, kind == VYRE_F32 && from_double ? "round" : "result", kind);
}

/* ---- operands ------------------------------------------------------------------------------------------------------------- */

static void put_raw(cgen *g, uint32_t row, uint32_t lane, const float_op *o);

void
cgen_float_operand(cgen *g, uint32_t row, uint32_t lane, bool tight)
{
  const vyre_kind kind = cgen_kind(g, row);
  uint64_t bits;
  float_op o;
  if (code_constant(&g->w, row, &bits)) {
    cgen_float_literal(g, kind, bits);
  } else if (kind == VYRE_F16) {
    cgen_call(g, "value", kind);
    cgen_value(g, row, lane, false);
    cgen_put(g, ")");
  } else if (vyre_kind_is_float(kind) && cgen_form_of(g, row) == CGEN_INLINE && find(cgen_op(g, row), &o) &&
             (kind == VYRE_F64 || !gives_double(&o))) {
    cgen_put(g, tight && o.sort == SORT_OPERATOR ? "(" : "");
    put_raw(g, row, lane, &o);
    cgen_put(g, tight && o.sort == SORT_OPERATOR ? ")" : "");
  } else {
    cgen_value(g, row, lane, tight);
  }
}

static void
put_right(cgen *g, uint32_t row, uint32_t lane, bool tight)
{
  uint64_t bits;
  if (cgen_has_literal(g, row) && code_right_constant(&g->w, row, &bits))
    cgen_float_literal(g, VYRE_TYPE_KIND(code_right_type(g->v, row)), bits);
  else
    cgen_float_operand(g, g->v->b[row], lane, tight);
}

/* ---- arithmetic ----------------------------------------------------------------------------------------------------------- */

/* Returns whether the row is 0 - x.  GCC 12 folds it to -x, which is -0 for x = 0, if it sees that x is not -0: x is a
 * converted integer or an fabs. */
static bool
is_from_zero(const cgen *g, uint32_t row)
{
  uint64_t bits;
  return cgen_is(g, row, VYRE_OP_sub) && code_constant(&g->w, g->v->a[row], &bits) && bits == 0;
}

static void
put_raw(cgen *g, uint32_t row, uint32_t lane, const float_op *o)
{
  static const float_op minus = {VYRE_OP_sub, SORT_HELPER, "minus"};
  const vyre_view *v = g->v;
  o = is_from_zero(g, row) ? &minus : o;
  const vyre_kind kind = cgen_kind(g, v->a[row]);
  const bool has_right = v->b[row] || cgen_has_literal(g, row), is_operator = o->sort == SORT_OPERATOR;
  if (o->sort == SORT_HELPER)
    cgen_call(g, o->name, kind);
  else if (o->sort == SORT_DOUBLE)
    cgen_call(g, o->name, VYRE_F64);
  else if (!is_operator)
    cgen_put(g, "%s%s(", o->name, o->sort == SORT_FUNCTION && kind == VYRE_F32 ? "f" : "");
  else if (!has_right)
    cgen_put(g, "%s", o->name);
  if (is_operator && !has_right) { /* parentheses, because the operand may be a negative literal */
    cgen_put(g, "(");
    cgen_float_operand(g, v->a[row], lane, false);
    cgen_put(g, ")");
    return;
  }
  cgen_float_operand(g, v->a[row], lane, is_operator);
  if (is_operator)
    cgen_put(g, " %s ", o->name);
  else if (has_right)
    cgen_put(g, ", ");
  if (has_right && o->op == VYRE_OP_ldexp)
    cgen_right(g, row, lane, false);
  else if (has_right)
    put_right(g, row, lane, is_operator);
  if (v->c[row]) {
    cgen_put(g, ", ");
    cgen_float_operand(g, v->c[row], lane, false);
  }
  cgen_put(g, is_operator ? "" : ")");
}

/* Writes an ordered comparison as C's operator, and others as the negation of their inverse. */
static void
compare(cgen *g, uint32_t row, uint32_t lane)
{
  static const char *const signs[16] = {
      [VYRE_COMPARES_LESS] = "<",
      [VYRE_COMPARES_EQUAL] = "==",
      [VYRE_COMPARES_LESS | VYRE_COMPARES_EQUAL] = "<=",
      [VYRE_COMPARES_GREATER] = ">",
      [VYRE_COMPARES_GREATER | VYRE_COMPARES_EQUAL] = ">=",
      [VYRE_COMPARES_LESS | VYRE_COMPARES_GREATER | VYRE_COMPARES_UNORDERED] = "!=",
  };
  const uint32_t outcomes = VYRE_COMPARES_OUTCOMES(vyre_op_infos[cgen_op(g, row)].compares);
  const bool direct = signs[outcomes] != NULL, apart = cgen_is(g, row, VYRE_OP_fone) || cgen_is(g, row, VYRE_OP_fueq);
  cgen_put(g, direct || cgen_is(g, row, VYRE_OP_fone) ? "" : "!(");
  cgen_float_operand(g, g->v->a[row], lane, true);
  cgen_put(g, " %s ", apart ? "<" : signs[direct ? outcomes : ~outcomes & 15u]);
  put_right(g, row, lane, true);
  if (apart) {
    cgen_put(g, " || ");
    cgen_float_operand(g, g->v->a[row], lane, true);
    cgen_put(g, " > ");
    put_right(g, row, lane, true);
  }
  cgen_put(g, direct || cgen_is(g, row, VYRE_OP_fone) ? "" : ")");
}

bool
cgen_float(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_opcode op = cgen_op(g, row);
  float_op o;
  if (op >= VYRE_OP_packsnorm4x8 && op <= VYRE_OP_unpackhalf2x16) {
    cgen_pack(g, row, lane);
    return true;
  }
  if (!vyre_kind_is_float(cgen_kind(g, g->v->a[row])))
    return false;
  if (vyre_op_infos[op].compares) {
    compare(g, row, lane);
    return true;
  }
  if (op == VYRE_OP_isnan || op == VYRE_OP_isinf) {
    cgen_put(g, "%s(", op == VYRE_OP_isnan ? "isnan" : "isinf");
    cgen_float_operand(g, g->v->a[row], lane, false);
    cgen_put(g, ") != 0");
    return true;
  }
  if (!find(op, &o))
    return false;
  cgen_open_result(g, cgen_kind(g, row), gives_double(&o));
  put_raw(g, row, lane, &o);
  cgen_put(g, ")");
  return true;
}

/* ---- conversions ---------------------------------------------------------------------------------------------------------- */

void
cgen_convert(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind from = cgen_kind(g, a), to = cgen_kind(g, row);
  if (vyre_kind_is_float(from)) {
    if (vyre_kind_is_float(to))
      cgen_open_result(g, to, from != VYRE_F32);
    else
      cgen_call(g, vyre_kind_is_signed(to) ? "of_float_i" : "of_float_u", to);
    cgen_float_operand(g, a, lane, false);
    cgen_put(g, ")");
    return;
  }
  const uint32_t bits = vyre_kind_bits(from);
  if (to == VYRE_F16)
    cgen_open_result(g, to, true);
  if (vyre_kind_is_float(to) || vyre_kind_bits(to) != bits)
    cgen_put(g, "(%s)", to == VYRE_F16 ? "double" : cgen_type_name(to));
  if (vyre_kind_is_signed(from) && (vyre_kind_is_float(to) || vyre_kind_bits(to) > bits))
    cgen_put(g, "(int%u_t)", bits);
  cgen_value(g, a, lane, true);
  cgen_put(g, to == VYRE_F16 ? ")" : "");
}

void
cgen_pack(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_opcode op = cgen_op(g, row);
  const uint32_t a = g->v->a[row];
  const bool bytes =
      op == VYRE_OP_packsnorm4x8 || op == VYRE_OP_packunorm4x8 || op == VYRE_OP_unpacksnorm4x8 || op == VYRE_OP_unpackunorm4x8;
  const bool norm =
      op == VYRE_OP_packsnorm4x8 || op == VYRE_OP_packsnorm2x16 || op == VYRE_OP_unpacksnorm4x8 || op == VYRE_OP_unpacksnorm2x16;
  const bool half = op == VYRE_OP_packhalf2x16 || op == VYRE_OP_unpackhalf2x16;
  const uint32_t bits = bytes ? 8 : 16;
  const char *scale = bytes ? norm ? "127.0f" : "255.0f" : norm ? "32767.0f" : "65535.0f";
  if (op >= VYRE_OP_unpacksnorm4x8) {
    cgen_call(g, half ? "round" : "unpack", VYRE_F32);
    if (half)
      cgen_call(g, "value", VYRE_F16);
    cgen_put(g, half ? "(uint16_t)(" : norm ? "(float)(int%u_t)(" : "(float)(uint%u_t)(", bits);
    cgen_value(g, a, 0, true);
    cgen_put(g, half ? " >> %uu)))" : " >> %uu), %s)", lane * bits, scale);
    return;
  }
  for (uint32_t k = 0; k < 32 / bits; k++) {
    cgen_put(g, k ? " | (" : "(");
    if (half) {
      cgen_put(g, "(uint32_t)");
      cgen_call(g, "result", VYRE_F16);
      cgen_float_operand(g, a, k, false);
      cgen_put(g, ")");
    } else {
      cgen_call(g, "pack", VYRE_F32);
      cgen_float_operand(g, a, k, false);
      cgen_put(g, ", %s, %s) & %s", norm ? "-1.0f" : "0.0f", scale, bytes ? "0xffu" : "0xffffu");
    }
    cgen_put(g, k ? ") << %uu" : ")", k * bits);
  }
}
