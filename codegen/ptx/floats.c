/* Arithmetic on floats.  A value is converted to a number, and the number to a result.  An f16 is computed as an f32, and each
 * step of a composite operation is rounded to f16.  Functions such as sin and exp are computed in f32 (singles.c), those of
 * f64 in f64.
 *
 * PTX leaves the bits of a NaN undefined.  A result gets the canonical NaN if its bits are used.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

bool
pgen_cuts(const gen *g, vyre_kind kind)
{
  return (g->v->imm[g->program] & vyre_mode_to_zero(kind)) != 0;
}

static bool
flushes(const gen *g, vyre_kind kind)
{
  return (g->v->imm[g->program] & vyre_mode_flush(kind)) != 0;
}

static const char *
rounding(const gen *g, vyre_kind kind)
{
  return pgen_cuts(g, kind) ? "rz" : "rn";
}

static const char *
format_of(vyre_kind kind)
{
  return kind == VYRE_F64 ? "f64" : "f32";
}

static reg_class
number_class(vyre_kind kind)
{
  return kind == VYRE_F64 ? REG_64 : REG_32;
}

/* ---- values and numbers --------------------------------------------------------------------------------------------------- */

reg
pgen_flushed(gen *g, vyre_kind kind, reg value)
{
  value = pgen_in_register(g, class_of(kind), value);
  if (!flushes(g, kind))
    return value;
  if (kind == VYRE_F64) {
    const reg exponent = MAKE64(g, "and.b64", value, lit(UINT64_C(0x7ff) << 52));
    const reg zero = MAKE64(g, "and.b64", value, lit(UINT64_C(1) << 63));
    return pgen_select(g, REG_64, zero, value, PRED(g, "setp.eq.u64", exponent, lit(0)));
  }
  if (kind == VYRE_F32) {
    const reg exponent = MAKE32(g, "and.b32", value, lit(0x7f800000u)), zero = MAKE32(g, "and.b32", value, lit(0x80000000u));
    return pgen_select(g, REG_32, zero, value, PRED(g, "setp.eq.u32", exponent, lit(0)));
  }
  const reg exponent = MAKE16(g, "and.b16", value, lit(0x7c00u)), zero = MAKE16(g, "and.b16", value, lit(0x8000u));
  return pgen_select(g, REG_16, zero, value, PRED(g, "setp.eq.u16", exponent, lit(0)));
}

reg
pgen_number(gen *g, vyre_kind kind, reg value)
{
  return kind == VYRE_F16 ? MAKE32(g, "cvt.f32.f16", value) : value;
}

reg
pgen_number_of(gen *g, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = kind_of(g, row);
  const reg value = pgen_value(g, row, lane);
  return pgen_number(g, kind, flushes(g, kind) ? pgen_flushed(g, kind, value) : value);
}

static reg
right_number(gen *g, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = pgen_right_kind(g, row);
  const reg value = pgen_right(g, row, lane);
  return pgen_number(g, kind, flushes(g, kind) ? pgen_flushed(g, kind, value) : value);
}

reg
pgen_number_literal(vyre_kind kind, double value)
{
  const float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return kind == VYRE_F64 ? f64_lit(value) : f32_lit(bits);
}

reg
pgen_canonical(gen *g, vyre_kind kind, reg value)
{
  const uint64_t bits = kind == VYRE_F16 ? 0x7e00u : kind == VYRE_F32 ? 0x7fc00000u : UINT64_C(0x7ff8) << 48;
  const reg number = pgen_number(g, kind, value);
  return pgen_select(g, class_of(kind), lit(bits), value, pgen_float_compare(g, kind, "nan", number, number));
}

/* Returns a number as a value.  Rounds a number of an f16. */
static reg
value_of(gen *g, vyre_kind kind, reg number)
{
  char text[64];
  if (kind != VYRE_F16)
    return pgen_in_register(g, number_class(kind), number);
  return MAKE16(g, pgen_format(text, "cvt.%s.f16.f32", rounding(g, kind)), pgen_in_register(g, REG_32, number));
}

reg
pgen_float_result(gen *g, uint32_t row, vyre_kind kind, reg number)
{
  reg value = value_of(g, kind, number);
  if (flushes(g, kind))
    value = pgen_flushed(g, kind, value);
  return g->seen[row - g->program] ? pgen_canonical(g, kind, value) : value;
}

static reg
step_of(gen *g, vyre_kind kind, reg number)
{
  return kind == VYRE_F16 ? MAKE32(g, "cvt.f32.f16", value_of(g, kind, number)) : number;
}

reg
pgen_widen(gen *g, vyre_kind kind, reg number)
{
  return kind == VYRE_F64 ? number : MAKE64(g, "cvt.f64.f32", pgen_in_register(g, REG_32, number));
}

reg
pgen_narrow(gen *g, vyre_kind kind, reg wide)
{
  char text[64];
  if (kind == VYRE_F64)
    return wide;
  if (kind == VYRE_F32)
    return MAKE32(g, pgen_format(text, "cvt.%s.f32.f64", rounding(g, kind)), wide);
  return MAKE32(g, "cvt.f32.f16", MAKE16(g, pgen_format(text, "cvt.%s.f16.f64", rounding(g, kind)), wide));
}

/* ---- operations ----------------------------------------------------------------------------------------------------------- */

reg
pgen_float_op(gen *g, vyre_kind kind, const char *name, reg a, reg b, bool step)
{
  char text[64];
  pgen_format(text, "%s.%s.%s", name, rounding(g, kind), format_of(kind));
  const reg r = pgen_make(g, number_class(kind), text, REGS(a, b));
  return step ? step_of(g, kind, r) : r;
}

reg
pgen_float_unary(gen *g, vyre_kind kind, const char *name, reg a, bool step)
{
  char text[64];
  pgen_format(text, "%s.%s.%s", name, rounding(g, kind), format_of(kind));
  const reg r = pgen_make(g, number_class(kind), text, REGS(pgen_in_register(g, number_class(kind), a)));
  return step ? step_of(g, kind, r) : r;
}

reg
pgen_wide_op(gen *g, vyre_kind kind, const char *name, reg a, reg b)
{
  char text[64];
  pgen_format(text, "%s.%s.f64", name, rounding(g, kind));
  return b.klass == REG_NONE ? MAKE64(g, text, a) : MAKE64(g, text, a, b);
}

/* Returns the result of min, max, neg or abs, which are exact. */
static reg
plain(gen *g, vyre_kind kind, const char *name, reg a, reg b)
{
  char text[64];
  pgen_format(text, "%s.%s", name, format_of(kind));
  a = pgen_in_register(g, number_class(kind), a);
  return b.klass == REG_NONE ? pgen_make(g, number_class(kind), text, REGS(a)) : pgen_make(g, number_class(kind), text, REGS(a, b));
}

static reg
to_integral(gen *g, vyre_kind kind, const char *how, reg a)
{
  char text[64];
  pgen_format(text, "cvt.%s.%s.%s", how, format_of(kind), format_of(kind));
  return pgen_make(g, number_class(kind), text, REGS(pgen_in_register(g, number_class(kind), a)));
}

reg
pgen_float_compare(gen *g, vyre_kind kind, const char *relation, reg a, reg b)
{
  char text[64];
  return PRED(g, pgen_format(text, "setp.%s.%s", relation, format_of(kind)), pgen_in_register(g, number_class(kind), a), b);
}

static reg
choose(gen *g, vyre_kind kind, reg yes, reg no, reg p)
{
  return pgen_select(g, number_class(kind), yes, no, p);
}

static reg
sign_of(gen *g, vyre_kind kind, reg a)
{
  const reg zero = pgen_number_literal(kind, 0.0), one = pgen_number_literal(kind, 1.0);
  const reg least = choose(g, kind, pgen_number_literal(kind, -1.0), a, pgen_float_compare(g, kind, "lt", a, zero));
  const reg signs = choose(g, kind, one, least, pgen_float_compare(g, kind, "gt", a, zero));
  return choose(g, kind, zero, signs, pgen_float_compare(g, kind, "nan", a, a));
}

static reg
fused(gen *g, uint32_t row, uint32_t lane, vyre_kind kind)
{
  const vyre_view *v = g->v;
  char text[64];
  if (kind == VYRE_F16 && !pgen_cuts(g, kind) && !flushes(g, kind)) {
    const reg a = pgen_value(g, v->a[row], lane), b = pgen_value(g, v->b[row], lane), c = pgen_value(g, v->c[row], lane);
    return pgen_number(g, kind, MAKE16(g, "fma.rn.f16", a, b, c));
  }
  const reg a = pgen_number_of(g, v->a[row], lane), b = pgen_number_of(g, v->b[row], lane), c = pgen_number_of(g, v->c[row], lane);
  pgen_format(text, "fma.%s.%s", rounding(g, kind), kind == VYRE_F32 ? "f32" : "f64");
  if (kind != VYRE_F16)
    return pgen_make(g, number_class(kind), text, REGS(a, b, c));
  const reg wide_a = pgen_widen(g, kind, a), wide_b = pgen_widen(g, kind, b), wide_c = pgen_widen(g, kind, c);
  return pgen_narrow(g, kind, MAKE64(g, text, wide_a, wide_b, wide_c));
}

static reg
quantize(gen *g, vyre_kind kind, reg a)
{
  char text[64];
  a = pgen_in_register(g, number_class(kind), a);
  pgen_format(text, "cvt.%s.f16.%s", rounding(g, kind), format_of(kind));
  const reg half = MAKE16(g, text, a);
  const reg back = pgen_make(g, number_class(kind), kind == VYRE_F64 ? "cvt.f64.f16" : "cvt.f32.f16", REGS(half));
  const reg zero = kind == VYRE_F64 ? MAKE64(g, "and.b64", a, lit(UINT64_C(1) << 63)) : MAKE32(g, "and.b32", a, lit(0x80000000u));
  const reg magnitude = plain(g, kind, "abs", a, (reg){0});
  return choose(g, kind, zero, back, pgen_float_compare(g, kind, "lt", magnitude, pgen_number_literal(kind, 0x1p-14)));
}

static reg
mix(gen *g, vyre_kind kind, reg a, reg b, reg t)
{
  const reg rest = pgen_float_op(g, kind, "sub", pgen_number_literal(kind, 1.0), t, true);
  const reg left = pgen_float_op(g, kind, "mul", a, rest, true), right = pgen_float_op(g, kind, "mul", b, t, true);
  return pgen_float_op(g, kind, "add", left, right, false);
}

/* Returns the result of a step of smoothstep.  Unlike steps of other composite ops it flushes denormals, as the exported
 * SPIR-V does. */
static reg
smooth_step(gen *g, vyre_kind kind, const char *name, reg a, reg b)
{
  const reg r = pgen_float_op(g, kind, name, a, b, false);
  return flushes(g, kind) ? pgen_number(g, kind, pgen_flushed(g, kind, value_of(g, kind, r))) : step_of(g, kind, r);
}

static reg
smooth(gen *g, vyre_kind kind, reg low, reg high, reg a)
{
  const reg over = smooth_step(g, kind, "sub", a, low), whole = smooth_step(g, kind, "sub", high, low);
  const reg ratio = smooth_step(g, kind, "div", over, whole);
  const reg t = plain(g, kind, "min", plain(g, kind, "max", ratio, pgen_number_literal(kind, 0.0)), pgen_number_literal(kind, 1.0));
  const reg twice = smooth_step(g, kind, "mul", t, pgen_number_literal(kind, 2.0));
  const reg slope = smooth_step(g, kind, "sub", pgen_number_literal(kind, 3.0), twice);
  return pgen_float_op(g, kind, "mul", smooth_step(g, kind, "mul", t, t), slope, false);
}

/* ---- functions ------------------------------------------------------------------------------------------------------------ */

/* Returns an approximation to about 22 bits by an instruction of the device.  Returns REG_NONE for an op without such
 * an instruction. */
static reg
approximate(gen *g, vyre_opcode op, reg a)
{
  const reg log2_of_e = f32_lit(0x3fb8aa3bu), ln2 = f32_lit(0x3f317218u);
  a = pgen_in_register(g, REG_32, a);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_sin: return MAKE32(g, "sin.approx.f32", a);
  case VYRE_OP_cos: return MAKE32(g, "cos.approx.f32", a);
  case VYRE_OP_tan: {
    const reg sine = MAKE32(g, "sin.approx.f32", a);
    return MAKE32(g, "div.approx.f32", sine, MAKE32(g, "cos.approx.f32", a));
  }
  case VYRE_OP_exp2: return MAKE32(g, "ex2.approx.f32", a);
  case VYRE_OP_exp: return MAKE32(g, "ex2.approx.f32", MAKE32(g, "mul.rn.f32", a, log2_of_e));
  case VYRE_OP_log2: return MAKE32(g, "lg2.approx.f32", a);
  case VYRE_OP_log: return MAKE32(g, "mul.rn.f32", MAKE32(g, "lg2.approx.f32", a), ln2);
  case VYRE_OP_rsqrt: return MAKE32(g, "rsqrt.approx.f32", a);
  case VYRE_OP_tanh: return MAKE32(g, "tanh.approx.f32", a);
  default: return (reg){0};
  }
  /* clang-format on */
}

/* Computes in f32, for an f16 too.  Excludes correctly rounded functions, which would be rounded twice. */
static bool
in_singles(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b, reg *out)
{
  const bool exact = op == VYRE_OP_rsqrt || op == VYRE_OP_fract;
  if (kind == VYRE_F64 || (exact && (kind == VYRE_F16 || pgen_cuts(g, kind))))
    return false;
  if (op != VYRE_OP_fract)
    return pgen_single(g, op, a, b, out);
  a = pgen_in_register(g, REG_32, a);
  *out = MAKE32(g, "sub.rn.f32", a, MAKE32(g, "cvt.rmi.f32.f32", a));
  return true;
}

/* Computes in f64.  The caller rounds the result to the kind. */
static bool
function(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b, reg *out)
{
  const double pi = 3.14159265358979323846;
  const reg none = {0};
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_frem: *out = pgen_remainder(g, kind, a, b, false); return true;
  case VYRE_OP_fmod: *out = pgen_remainder(g, kind, a, b, true); return true;
  case VYRE_OP_fract: *out = pgen_wide_op(g, kind, "sub", a, MAKE64(g, "cvt.rmi.f64.f64", a)); return true;
  case VYRE_OP_rsqrt: *out = pgen_wide_op(g, kind, "div", f64_lit(1.0), pgen_wide_op(g, kind, "sqrt", a, none)); return true;
  case VYRE_OP_radians: *out = pgen_wide_op(g, kind, "mul", a, f64_lit(pi / 180.0)); return true;
  case VYRE_OP_degrees: *out = pgen_wide_op(g, kind, "mul", a, f64_lit(180.0 / pi)); return true;
  case VYRE_OP_sin: case VYRE_OP_cos: case VYRE_OP_tan: *out = pgen_sin_cos(g, op, a); return true;
  case VYRE_OP_atan: *out = pgen_atan(g, a); return true;
  case VYRE_OP_asin: case VYRE_OP_acos: {
    const reg less = MAKE64(g, "sub.rn.f64", f64_lit(1.0), a), more = MAKE64(g, "add.rn.f64", a, f64_lit(1.0));
    const reg other = MAKE64(g, "sqrt.rn.f64", MAKE64(g, "mul.rn.f64", less, more));
    *out = op == VYRE_OP_asin ? pgen_atan2(g, a, other) : pgen_atan2(g, other, a);
    return true;
  }
  case VYRE_OP_sinh: case VYRE_OP_cosh: case VYRE_OP_tanh: *out = pgen_hyperbolic(g, op, a); return true;
  case VYRE_OP_asinh: case VYRE_OP_acosh: case VYRE_OP_atanh: *out = pgen_area(g, op, a); return true;
  case VYRE_OP_exp: *out = pgen_exp(g, a); return true;
  case VYRE_OP_exp2: *out = pgen_exp2(g, a); return true;
  case VYRE_OP_log: *out = pgen_log(g, a); return true;
  case VYRE_OP_log2: *out = pgen_log2(g, a); return true;
  case VYRE_OP_atan2: *out = pgen_atan2(g, a, b); return true;
  case VYRE_OP_pow: *out = pgen_pow(g, a, b); return true;
  default: return false;
  }
  /* clang-format on */
}

/* ---- all ------------------------------------------------------------------------------------------------------------------ */

static bool
compare(gen *g, uint32_t row, uint32_t lane, vyre_kind kind, reg *out)
{
  static const char *const relations[16] = {"", "lt",  "eq",  "le",  "gt",  "ne",  "ge",  "",
                                            "", "ltu", "equ", "leu", "gtu", "neu", "geu", ""};
  const vyre_opcode op = op_of(g, row);
  const vyre_op_info *info = &vyre_op_infos[op];
  if (op == VYRE_OP_isnan || op == VYRE_OP_isinf) {
    const reg a = pgen_in_register(g, number_class(kind), pgen_number_of(g, g->v->a[row], lane));
    const double infinity = (double)__builtin_inff();
    *out = op == VYRE_OP_isnan
               ? pgen_float_compare(g, kind, "nan", a, a)
               : pgen_float_compare(g, kind, "eq", plain(g, kind, "abs", a, (reg){0}), pgen_number_literal(kind, infinity));
    return true;
  }
  if (!info->compares)
    return false;
  const reg a = pgen_number_of(g, g->v->a[row], lane);
  *out = pgen_float_compare(g, kind, relations[VYRE_COMPARES_OUTCOMES(info->compares)], a, right_number(g, row, lane));
  return true;
}

/* Computes operations that are instructions, or short sequences of them. */
static bool
arithmetic(gen *g, uint32_t row, uint32_t lane, vyre_kind kind, reg a, reg b, reg c, reg *out)
{
  const reg none = {0};
  /* clang-format off */
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_add: *out = pgen_float_op(g, kind, "add", a, b, false); return true;
  case VYRE_OP_sub: *out = pgen_float_op(g, kind, "sub", a, b, false); return true;
  case VYRE_OP_mul: *out = pgen_float_op(g, kind, "mul", a, b, false); return true;
  case VYRE_OP_fdiv: *out = pgen_float_op(g, kind, "div", a, b, false); return true;
  case VYRE_OP_neg: *out = plain(g, kind, "neg", a, none); return true;
  case VYRE_OP_fma: *out = fused(g, row, lane, kind); return true;
  case VYRE_OP_fabs: *out = plain(g, kind, "abs", a, none); return true;
  case VYRE_OP_fsign: *out = sign_of(g, kind, a); return true;
  case VYRE_OP_fmin: case VYRE_OP_nmin: *out = plain(g, kind, "min", a, b); return true;
  case VYRE_OP_fmax: case VYRE_OP_nmax: *out = plain(g, kind, "max", a, b); return true;
  case VYRE_OP_fclamp: case VYRE_OP_nclamp: *out = plain(g, kind, "min", plain(g, kind, "max", a, b), c); return true;
  case VYRE_OP_round: case VYRE_OP_roundeven: *out = to_integral(g, kind, "rni", a); return true;
  case VYRE_OP_trunc: *out = to_integral(g, kind, "rzi", a); return true;
  case VYRE_OP_floor: *out = to_integral(g, kind, "rmi", a); return true;
  case VYRE_OP_ceil: *out = to_integral(g, kind, "rpi", a); return true;
  case VYRE_OP_sqrt: *out = pgen_float_unary(g, kind, "sqrt", a, false); return true;
  case VYRE_OP_step:
    *out = choose(g, kind, pgen_number_literal(kind, 0.0), pgen_number_literal(kind, 1.0), pgen_float_compare(g, kind, "lt", b, a));
    return true;
  case VYRE_OP_quantize16: *out = quantize(g, kind, a); return true;
  case VYRE_OP_fmix: *out = mix(g, kind, a, b, c); return true;
  case VYRE_OP_smoothstep: *out = smooth(g, kind, a, b, c); return true;
  case VYRE_OP_ldexp:
    a = pgen_in_register(g, REG_64, pgen_widen(g, kind, a));
    *out = pgen_narrow(g, kind, pgen_ldexp(g, kind, a, pgen_in_register(g, REG_32, pgen_right(g, row, lane))));
    return true;
  default: return false;
  }
  /* clang-format on */
}

bool
pgen_float(gen *g, uint32_t row, uint32_t lane, reg *out)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = op_of(g, row);
  const vyre_kind kind = kind_of(g, v->a[row]);
  reg number = {0};
  if (!vyre_kind_is_float(kind))
    return false;
  if (compare(g, row, lane, kind, out))
    return true;
  const reg a = pgen_number_of(g, v->a[row], lane);
  const reg b = op != VYRE_OP_ldexp && (v->b[row] || has_literal(g, row)) ? right_number(g, row, lane) : (reg){0};
  const reg c = v->c[row] ? pgen_number_of(g, v->c[row], lane) : (reg){0};
  if (!arithmetic(g, row, lane, kind, a, b, c, &number)) {
    if (g->approximate && kind != VYRE_F64)
      number = approximate(g, op, a);
    if (number.klass == REG_NONE && !in_singles(g, op, kind, a, b, &number)) {
      const reg wide = pgen_in_register(g, REG_64, pgen_widen(g, kind, a));
      const reg right = b.klass ? pgen_in_register(g, REG_64, pgen_widen(g, kind, b)) : b;
      if (!function(g, op, kind, wide, right, &number))
        return false;
      number = pgen_narrow(g, kind, number);
    }
  }
  *out = pgen_float_result(g, row, kind, number);
  return true;
}

reg
pgen_combine_floats(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b)
{
  a = pgen_number(g, kind, pgen_flushed(g, kind, a));
  b = pgen_number(g, kind, pgen_flushed(g, kind, b));
  const reg r = op == VYRE_OP_add || op == VYRE_OP_mul ? pgen_float_op(g, kind, op == VYRE_OP_add ? "add" : "mul", a, b, false)
                                                       : plain(g, kind, op == VYRE_OP_nmin ? "min" : "max", a, b);
  return pgen_canonical(g, kind, pgen_flushed(g, kind, value_of(g, kind, r)));
}
