/* exp, log, pow and the hyperbolic functions, of f64.
 *
 * Errors are a few units in the last place of an f64, and pow's grow with the result's exponent.  A result rounded to f32 or
 * f16 is almost always the correctly rounded one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/ptx/math/doubles.h"

#define LN2      0x1.62e42fefa39efp-1
#define LN2_HIGH 0x1.62e42fefa3800p-1 /* its low bits are zero, so products with exponents are exact */
#define LN2_LOW  0x1.ef35793c76730p-45
#define LOG2_E   0x1.71547652b82fep+0

reg
pgen_polynomial(gen *g, reg x, const double *coefficients, size_t count)
{
  reg sum = pgen_copy(g, REG_64, f64_lit(coefficients[0]));
  for (size_t i = 1; i < count; i++)
    sum = fma64(g, sum, x, f64_lit(coefficients[i]));
  return sum;
}

/* Returns 2^n for an integer from -1022 to 1023. */
static reg
power_of_2(gen *g, reg n)
{
  return MAKE64(g, "shl.b64", MAKE64(g, "cvt.s64.s32", MAKE32(g, "add.s32", n, lit(1023))), lit(52));
}

/* Returns x 2^n, rounded once.  2^n may exceed the range of an f64, so up to two multiplications precede the last one.  If such a
 * multiplication yields a denormal, the next factor is at most 2^-55 and the result is 0.  So nothing is rounded twice. */
reg
pgen_ldexp(gen *g, vyre_kind kind, reg x, reg n)
{
  for (uint32_t k = 0; k < 2; k++) {
    const reg low = PRED(g, "setp.lt.s32", n, lit((uint32_t)-1022)), high = PRED(g, "setp.gt.s32", n, lit(1023));
    const reg power = pick64(g, low, f64_lit(0x1p-968), pick64(g, high, f64_lit(0x1p1023), f64_lit(1.0)));
    const reg step = MAKE32(g, "selp.s32", lit(968), MAKE32(g, "selp.s32", lit((uint32_t)-1023), lit(0), high), low);
    x = pgen_wide_op(g, kind, "mul", x, power);
    n = MAKE32(g, "add.s32", n, step);
  }
  n = MAKE32(g, "max.s32", MAKE32(g, "min.s32", n, lit(1023)), lit((uint32_t)-1022));
  return pgen_wide_op(g, kind, "mul", x, power_of_2(g, n));
}

/* Returns x 2^n for |n| <= 2200, in three steps.  x is rounded already. */
static reg
scale(gen *g, reg x, reg n)
{
  const reg third = MAKE32(g, "div.s32", n, lit(3)), rest = MAKE32(g, "sub.s32", MAKE32(g, "sub.s32", n, third), third);
  const reg power = power_of_2(g, third), last = power_of_2(g, rest);
  return mul64(g, mul64(g, mul64(g, x, power), power), last);
}

/* Returns the register of e^r 2^n for |r| <= ln 2 / 2, by the Taylor series of e^r. */
static reg
exp_of(gen *g, reg r, reg n)
{
  static const double series[] = {1.0 / 87178291200.0,
                                  1.0 / 6227020800.0,
                                  1.0 / 479001600.0,
                                  1.0 / 39916800.0,
                                  1.0 / 3628800.0,
                                  1.0 / 362880.0,
                                  1.0 / 40320.0,
                                  1.0 / 5040.0,
                                  1.0 / 720.0,
                                  1.0 / 120.0,
                                  1.0 / 24.0,
                                  1.0 / 6.0,
                                  0.5,
                                  1.0,
                                  1.0};
  return scale(g, pgen_polynomial(g, r, series, sizeof(series) / sizeof(*series)), n);
}

/* Clamps x to the range outside which every result is 0 or infinite.  Keeps a NaN. */
static reg
clamped(gen *g, reg x, double least, double greatest)
{
  const reg low = pick64(g, test64(g, "lt", x, f64_lit(least)), f64_lit(least), x);
  return pick64(g, test64(g, "gt", x, f64_lit(greatest)), f64_lit(greatest), low);
}

reg
pgen_exp(gen *g, reg x)
{
  const reg a = clamped(g, x, -800.0, 800.0);
  const reg k = MAKE64(g, "cvt.rni.f64.f64", mul64(g, a, f64_lit(LOG2_E)));
  const reg r = fma64(g, k, f64_lit(-LN2_LOW), fma64(g, k, f64_lit(-LN2_HIGH), a));
  return exp_of(g, r, MAKE32(g, "cvt.rni.s32.f64", k));
}

reg
pgen_exp2(gen *g, reg x)
{
  const reg a = clamped(g, x, -1100.0, 1100.0);
  const reg k = MAKE64(g, "cvt.rni.f64.f64", a);
  const reg n = MAKE32(g, "cvt.rni.s32.f64", k);
  return exp_of(g, mul64(g, sub64(g, a, k), f64_lit(LN2)), n);
}

/* ---- logarithms ------------------------------------------------------------------------------------------------------------- */

/* Returns log((1 + f) / (1 - f)) for |f| <= 0.1716: 2 f + 2 f^3 / 3 + ... */
static reg
log_of(gen *g, reg f)
{
  static const double series[] = {2.0 / 23.0, 2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0,
                                  2.0 / 11.0, 2.0 / 9.0,  2.0 / 7.0,  2.0 / 5.0,  2.0 / 3.0};
  const reg square = mul64(g, f, f), cube = mul64(g, square, f), twice = mul64(g, f, f64_lit(2.0));
  return fma64(g, cube, pgen_polynomial(g, square, series, sizeof(series) / sizeof(*series)), twice);
}

/* Returns log m, and stores e as an f64, for a positive finite x = m 2^e with m from sqrt(1/2) to sqrt(2). */
static reg
reduce(gen *g, reg x, reg *out_exponent)
{
  const reg small = test64(g, "lt", x, f64_lit(0x1p-1022));
  const reg normal = pick64(g, small, mul64(g, x, f64_lit(0x1p54)), x);
  /* The addition moves sqrt(1/2) to a change of the exponent. */
  const reg moved = MAKE64(g, "add.u64", normal, lit(UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd)));
  const reg raised = MAKE64(g, "shr.s64", moved, lit(52));
  const reg fraction = MAKE64(g, "and.b64", moved, lit(UINT64_C(0x000fffffffffffff)));
  const reg m = MAKE64(g, "add.u64", fraction, lit(UINT64_C(0x3fe6a09e667f3bcd)));
  const reg bias = MAKE32(g, "selp.s32", lit(1023 + 54), lit(1023), small);
  *out_exponent = MAKE64(g, "cvt.rn.f64.s32", MAKE32(g, "sub.s32", MAKE32(g, "cvt.u32.u64", raised), bias));
  const reg under = add64(g, m, f64_lit(1.0));
  return log_of(g, div64(g, sub64(g, m, f64_lit(1.0)), under));
}

/* Returns the logarithm of x if x is 0, infinity, a NaN or negative.  Returns `value` for any other x. */
static reg
log_or(gen *g, reg x, reg value)
{
  const reg infinite = pick64(g, test64(g, "eq", x, f64_lit(INFINITE)), x, value);
  const reg zero = pick64(g, test64(g, "eq", x, f64_lit(0.0)), f64_lit(-INFINITE), infinite);
  return pick64(g, test64(g, "ltu", x, f64_lit(0.0)), lit(UINT64_C(0x7ff8000000000000)), zero);
}

reg
pgen_log(gen *g, reg x)
{
  reg e;
  const reg m = reduce(g, x, &e);
  return log_or(g, x, fma64(g, e, f64_lit(LN2_HIGH), fma64(g, e, f64_lit(LN2_LOW), m)));
}

static reg
log2_of(gen *g, reg x)
{
  reg e;
  const reg m = reduce(g, x, &e);
  return fma64(g, m, f64_lit(LOG2_E), e);
}

reg
pgen_log2(gen *g, reg x)
{
  return log_or(g, x, log2_of(g, x));
}

/* Returns log(1 + x) for x >= 0 or small |x|. */
static reg
log_1_plus(gen *g, reg x)
{
  const reg f = div64(g, x, add64(g, x, f64_lit(2.0)));
  const reg near = test64(g, "lt", abs64(g, x), f64_lit(0.375));
  const reg safe = pick64(g, near, f, f64_lit(0.0));
  const reg far = pgen_log(g, add64(g, x, f64_lit(1.0)));
  return pick64(g, near, log_of(g, safe), far);
}

/* ---- powers ----------------------------------------------------------------------------------------------------------------- */

/* Returns C's pow, which is defined for a negative x to an integer power. */
reg
pgen_pow(gen *g, reg x, reg y)
{
  const reg a = abs64(g, x), whole = MAKE64(g, "cvt.rzi.f64.f64", y), half = mul64(g, y, f64_lit(0.5));
  const reg uneven = test64(g, "ne", MAKE64(g, "cvt.rzi.f64.f64", half), half);
  const reg odd = pgen_and(g, test64(g, "eq", whole, y), uneven);
  const reg product = mul64(g, pgen_log2(g, a), y);
  const reg one = test64(g, "eq", a, f64_lit(1.0)), none = test64(g, "eq", y, f64_lit(0.0));
  const reg general = pgen_exp2(g, product);
  const reg power = pick64(g, PRED(g, "or.pred", one, none), f64_lit(1.0), general);
  const reg negative = PRED(g, "setp.lt.s64", x, lit(0));
  const reg minus = pgen_and(g, negative, odd);
  const reg turned = pick64(g, minus, neg64(g, power), power);
  /* A negative finite x has no power whose exponent is not an integer.  Infinite exponents count as integers. */
  const reg finite = test64(g, "gt", x, f64_lit(-INFINITE)), fractional = pgen_and(g, test64(g, "ne", whole, y), finite);
  const reg fails = pgen_and(g, test64(g, "lt", x, f64_lit(0.0)), fractional);
  const reg result = pick64(g, fails, lit(UINT64_C(0x7ff8000000000000)), turned);
  const reg sum = add64(g, x, y), nan_x = test64(g, "nan", x, x), nan_y = test64(g, "nan", y, y);
  const reg plain = pick64(g, PRED(g, "or.pred", nan_x, nan_y), sum, result);
  return pick64(g, PRED(g, "or.pred", test64(g, "eq", x, f64_lit(1.0)), none), f64_lit(1.0), plain);
}

/* ---- hyperbolic functions --------------------------------------------------------------------------------------------------- */

/* Returns sinh x for |x| < 1, by the Taylor series. */
static reg
small_sinh(gen *g, reg x)
{
  static const double series[] = {1.0 / 121645100408832000.0,
                                  1.0 / 355687428096000.0,
                                  1.0 / 1307674368000.0,
                                  1.0 / 6227020800.0,
                                  1.0 / 39916800.0,
                                  1.0 / 362880.0,
                                  1.0 / 5040.0,
                                  1.0 / 120.0,
                                  1.0 / 6.0};
  const reg square = mul64(g, x, x), p = pgen_polynomial(g, square, series, sizeof(series) / sizeof(*series));
  return fma64(g, mul64(g, square, x), p, x);
}

reg
pgen_hyperbolic(gen *g, vyre_opcode op, reg x)
{
  const reg a = abs64(g, x);
  const reg root = pgen_exp(g, mul64(g, a, f64_lit(0.5))); /* root * root = e^a may overflow, but `up` = e^a / 2 does not */
  const reg up = mul64(g, mul64(g, root, f64_lit(0.5)), root);
  const reg down = div64(g, f64_lit(0.25), up);
  const reg cosh = add64(g, up, down);
  const reg far = sub64(g, up, down), near = small_sinh(g, a);
  const reg sinh = pick64(g, test64(g, "lt", a, f64_lit(1.0)), near, far);
  if (op == VYRE_OP_cosh)
    return cosh;
  if (op == VYRE_OP_sinh)
    return pgen_copysign(g, sinh, x);
  const reg quotient = div64(g, sinh, cosh);
  const reg ratio = pick64(g, test64(g, "gt", a, f64_lit(22.0)), f64_lit(1.0), quotient);
  const reg tanh = pgen_copysign(g, ratio, x);
  return pick64(g, test64(g, "nan", x, x), x, tanh);
}

reg
pgen_area(gen *g, vyre_opcode op, reg x)
{
  if (op == VYRE_OP_acosh) {
    const reg t = sub64(g, x, f64_lit(1.0));
    const reg root = MAKE64(g, "sqrt.rn.f64", fma64(g, t, t, mul64(g, t, f64_lit(2.0))));
    const reg far = add64(g, pgen_log(g, x), f64_lit(LN2));
    const reg near = log_1_plus(g, add64(g, t, root));
    const reg value = pick64(g, test64(g, "gt", x, f64_lit(0x1p28)), far, near);
    return pick64(g, test64(g, "ltu", x, f64_lit(1.0)), lit(UINT64_C(0x7ff8000000000000)), value);
  }
  const reg a = abs64(g, x);
  if (op == VYRE_OP_atanh) {
    const reg under = sub64(g, f64_lit(1.0), a), part = div64(g, mul64(g, a, f64_lit(2.0)), under);
    return pgen_copysign(g, mul64(g, log_1_plus(g, part), f64_lit(0.5)), x);
  }
  const reg square = mul64(g, a, a), root = MAKE64(g, "sqrt.rn.f64", add64(g, square, f64_lit(1.0)));
  const reg near = log_1_plus(g, add64(g, a, div64(g, square, add64(g, root, f64_lit(1.0)))));
  const reg far = add64(g, pgen_log(g, a), f64_lit(LN2));
  return pgen_copysign(g, pick64(g, test64(g, "gt", a, f64_lit(0x1p28)), far, near), x);
}
