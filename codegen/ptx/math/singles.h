/* sin, exp, pow and the like of an f32, in operations that PTX rounds correctly: +, *, fma, division, square root, integers.
 *
 * The including file defines `number` (an f32), `word` (32 bits), `truth`, `machine`, and the operations on them.  singles.c
 * writes instructions.  unittests/ptx/singles_test.c computes on the host, so that each function can be measured on every
 * argument.  docs/ptx.md lists the errors, which are well within Vulkan's precision ("Precision and Operation of SPIR-V
 * Instructions").  Denormals are kept, and a NaN yields a NaN.
 *
 *     WHEN(g, p, statement)     changes variables by SET(g, variable, value) where p is true, and is cheap where it is false
 *
 * Polynomials have the f32 coefficients with the least relative error.  A number in two parts is their sum.
 *
 * SPDX-License-Identifier: Apache-2.0 */

#define SINGLE_LN2_HIGH     0x1.62e430p-1f
#define SINGLE_LN2_LOW      -0x1.05c610p-29f
#define SINGLE_LOG2_E_HIGH  0x1.715476p+0f
#define SINGLE_LOG2_E_LOW   0x1.4ae0c0p-26f
#define SINGLE_PI_HIGH      0x1.921fb6p+1f
#define SINGLE_PI_LOW       -0x1.777a5cp-24f
#define SINGLE_HALF_PI_HIGH 0x1.921fb6p+0f
#define SINGLE_HALF_PI_LOW  -0x1.777a5cp-25f
#define SINGLE_HALF_PI_LAST -0x1.ee59dap-50f
#define SINGLE_ROOT_HALF    0x3f3504f3u /* bits of sqrt(1/2) */
#define SINGLE_INFINITE     0x7f800000u
#define SINGLE_NAN          0x7fc00000u
#define SINGLE_SIGN         0x80000000u

/* Evaluates a polynomial, the highest coefficient first. */
static number
s_polynomial(machine *g, number x, const float *coefficients, uint32_t count)
{
  number sum = n_fma(g, x, n_lit(g, coefficients[0]), n_lit(g, coefficients[1]));
  for (uint32_t i = 2; i < count; i++)
    sum = n_fma(g, sum, x, n_lit(g, coefficients[i]));
  return sum;
}

#define SERIES(g, x, ...) \
  s_polynomial((g), (x), (const float[]){__VA_ARGS__}, (uint32_t)(sizeof((const float[]){__VA_ARGS__}) / sizeof(float)))

static number
s_bits(machine *g, uint32_t bits)
{
  return n_of_word(g, w_lit(g, bits));
}

static number
s_copysign(machine *g, number magnitude, number sign)
{
  const word kept = w_and(g, n_word(g, sign), w_lit(g, SINGLE_SIGN));
  return n_of_word(g, w_or(g, w_and(g, n_word(g, magnitude), w_lit(g, ~SINGLE_SIGN)), kept));
}

/* Returns 2^n for n from -126 to 127. */
static number
s_power_of_2(machine *g, word n)
{
  return n_of_word(g, w_shl(g, w_add(g, n, w_lit(g, 127)), 23));
}

/* ---- exponentials ----------------------------------------------------------------------------------------------------------- */

/* Returns x 2^n for n from -250 to 250, rounded once. */
static number
s_scale(machine *g, number x, word n)
{
  const word half = w_sar(g, n, 1);
  const number rest = s_power_of_2(g, w_sub(g, n, half));
  return n_mul(g, n_mul(g, x, s_power_of_2(g, half)), rest);
}

/* Returns 2^r 2^n for |r| <= 1/2. */
static number
s_exp2_of(machine *g, number r, word n)
{
  const number slope = SERIES(g, r, 0x1.e5c2b6p-17f, 0x1.44227cp-13f, 0x1.5da0f0p-10f, 0x1.3b2a4ap-7f, 0x1.c6b072p-5f,
                              0x1.ebfbe0p-3f, 0x1.62e430p-1f);
  return s_scale(g, n_fma(g, r, slope, n_lit(g, 1.0f)), n);
}

static number
s_clamped(machine *g, number x, float least, float greatest)
{
  const number low = n_pick(g, n_lt(g, x, n_lit(g, least)), n_lit(g, least), x);
  return n_pick(g, n_gt(g, x, n_lit(g, greatest)), n_lit(g, greatest), low);
}

static number
s_exp2(machine *g, number x)
{
  const number a = s_clamped(g, x, -160.0f, 130.0f), k = n_near(g, a);
  const word n = n_to_word(g, k);
  return s_exp2_of(g, n_sub(g, a, k), n);
}

/* Returns e^x 2^more. */
static number
s_exp_times(machine *g, number x, uint32_t more)
{
  const number a = s_clamped(g, x, -110.0f, 100.0f), k = n_near(g, n_mul(g, a, n_lit(g, SINGLE_LOG2_E_HIGH)));
  const number high = n_fma(g, k, n_lit(g, -SINGLE_LN2_HIGH), a), r = n_fma(g, k, n_lit(g, -SINGLE_LN2_LOW), high);
  const number slope =
      SERIES(g, r, 0x1.9e16fcp-13f, 0x1.6d4f08p-10f, 0x1.111302p-7f, 0x1.5554e6p-5f, 0x1.555554p-3f, 0x1.000000p-1f, 1.0f);
  const word n = w_add(g, n_to_word(g, k), w_lit(g, more));
  return s_scale(g, n_fma(g, r, slope, n_lit(g, 1.0f)), n);
}

static number
s_exp(machine *g, number x)
{
  return s_exp_times(g, x, 0);
}

/* ---- logarithms ------------------------------------------------------------------------------------------------------------- */

/* Returns m and stores e, for a positive finite x = m 2^e with m from sqrt(1/2) to sqrt(2). */
static number
s_reduce(machine *g, number x, number *out_exponent)
{
  const truth small = n_lt(g, x, n_lit(g, 0x1p-126f));
  const word bits = n_word(g, n_pick(g, small, n_mul(g, x, n_lit(g, 0x1p23f)), x));
  const word moved = w_sub(g, bits, w_lit(g, SINGLE_ROOT_HALF));
  const word added = w_pick(g, small, w_lit(g, 23), w_lit(g, 0)), e = w_sub(g, w_sar(g, moved, 23), added);
  *out_exponent = n_of_int(g, e);
  return n_of_word(g, w_add(g, w_and(g, moved, w_lit(g, 0x7fffff)), w_lit(g, SINGLE_ROOT_HALF)));
}

/* Returns log(1 + f) - f, for 1 + f from sqrt(1/2) to sqrt(2). */
static number
s_log_rest(machine *g, number f)
{
  const number p = SERIES(g, f, 0x1.13c88ep-4f, -0x1.dd9ecap-4f, 0x1.e6dbe4p-4f, -0x1.fc3d62p-4f, 0x1.233afap-3f, -0x1.555b90p-3f,
                          0x1.99a478p-3f, -0x1.000008p-2f, 0x1.555548p-2f);
  const number slope = n_fma(g, f, p, n_lit(g, -0.5f));
  return n_mul(g, n_mul(g, f, f), slope);
}

/* Returns log(1 + f) + e log 2. */
static number
s_log_sum(machine *g, number f, number e)
{
  const number rest = n_fma(g, e, n_lit(g, SINGLE_LN2_LOW), s_log_rest(g, f));
  return n_fma(g, e, n_lit(g, SINGLE_LN2_HIGH), n_add(g, f, rest));
}

/* Returns the logarithm of x if x is 0, infinity, a NaN or negative.  Returns `value` for any other x. */
static number
s_log_or(machine *g, number x, number value)
{
  const number infinite = n_pick(g, n_eq(g, x, s_bits(g, SINGLE_INFINITE)), x, value);
  const number zero = n_pick(g, n_eq(g, x, n_lit(g, 0.0f)), s_bits(g, SINGLE_SIGN | SINGLE_INFINITE), infinite);
  return n_pick(g, n_ltu(g, x, n_lit(g, 0.0f)), s_bits(g, SINGLE_NAN), zero);
}

static number
s_log(machine *g, number x)
{
  number e;
  const number m = s_reduce(g, x, &e);
  return s_log_or(g, x, s_log_sum(g, n_sub(g, m, n_lit(g, 1.0f)), e));
}

static number
s_log2(machine *g, number x)
{
  number e;
  const number m = s_reduce(g, x, &e), f = n_sub(g, m, n_lit(g, 1.0f)), high = n_lit(g, SINGLE_LOG2_E_HIGH);
  const number low = n_fma(g, f, n_lit(g, SINGLE_LOG2_E_LOW), n_mul(g, s_log_rest(g, f), high));
  return s_log_or(g, x, n_add(g, n_fma(g, f, high, low), e));
}

/* Returns log(1 + x), for x from 0 to 2^100. */
static number
s_log_1_plus(machine *g, number x)
{
  const word bits = n_word(g, n_add(g, x, n_lit(g, 1.0f)));
  const word e = w_sar(g, w_sub(g, bits, w_lit(g, SINGLE_ROOT_HALF)), 23);
  const number power = s_power_of_2(g, w_sub(g, w_lit(g, 0), e)), exponent = n_of_int(g, e);
  return s_log_sum(g, n_fma(g, x, power, n_sub(g, power, n_lit(g, 1.0f))), exponent);
}

/* ---- powers ----------------------------------------------------------------------------------------------------------------- */

/* Returns log2 of a positive finite x in two parts: 2 / log 2 times the series of atanh((m - 1) / (m + 1)), plus the exponent. */
static number
s_log2_parts(machine *g, number x, number *out_low)
{
  number e;
  const number m = s_reduce(g, x, &e), one = n_lit(g, 1.0f), ch = n_lit(g, 2 * SINGLE_LOG2_E_HIGH);
  const number over = n_sub(g, m, one), under = n_add(g, m, one), lost = n_sub(g, m, n_sub(g, under, one));
  const number inverse = n_div(g, one, under), s = n_mul(g, over, inverse), minus = n_neg(g, s);
  const number sl = n_mul(g, n_fma(g, minus, lost, n_fma(g, minus, under, over)), inverse);
  const number square = n_mul(g, s, s), cube = n_mul(g, s, square);
  const number square_low = n_fma(g, s, s, n_neg(g, square));
  const number cube_error = n_fma(g, s, square, n_neg(g, cube));
  const number cube_low = n_fma(g, s, square_low, n_fma(g, n_mul(g, sl, square), n_lit(g, 3.0f), cube_error));
  const number p = SERIES(g, square, 0x1.5905e4p-2f, 0x1.a5cac2p-2f, 0x1.2776e8p-1f, 0x1.ec709ep-1f);
  const number t = n_mul(g, cube, p), t_low = n_fma(g, cube_low, p, n_fma(g, cube, p, n_neg(g, t)));
  const number h = n_mul(g, s, ch), exact = n_add(g, n_fma(g, s, ch, n_neg(g, h)), t_low), sum = n_add(g, h, t);
  const number rest = n_fma(g, s, n_lit(g, 2 * SINGLE_LOG2_E_LOW), n_fma(g, sl, ch, exact));
  const number low = n_add(g, n_add(g, n_sub(g, h, sum), t), rest), high = n_add(g, e, sum);
  *out_low = n_add(g, n_add(g, n_sub(g, e, high), sum), low);
  return high;
}

/* Returns x^y for a positive finite x and any y. */
static number
s_power(machine *g, number x, number y)
{
  number low;
  const number high = s_log2_parts(g, x, &low), product = n_mul(g, y, high);
  const number rest = n_fma(g, y, low, n_fma(g, y, high, n_neg(g, product)));
  const number a = s_clamped(g, product, -160.0f, 130.0f), k = n_near(g, a);
  const number more = n_pick(g, n_eq(g, a, product), rest, n_lit(g, 0.0f));
  const word n = n_to_word(g, k);
  return s_exp2_of(g, n_add(g, n_sub(g, a, k), more), n);
}

/* Returns C's pow, which is defined for a negative x to an integer power. */
static number
s_pow(machine *g, number x, number y)
{
  const number a = n_abs(g, x), zero = n_lit(g, 0.0f), one = n_lit(g, 1.0f), half = n_mul(g, y, n_lit(g, 0.5f));
  const number infinite = s_bits(g, SINGLE_INFINITE);
  const truth whole = n_eq(g, n_trunc(g, y), y), odd = t_and(g, whole, t_not(g, n_eq(g, n_trunc(g, half), half)));
  const truth grows = n_gt(g, y, zero), none = n_eq(g, a, zero), endless = n_eq(g, a, infinite);
  const number of_zero = n_pick(g, grows, zero, infinite), of_infinity = n_pick(g, grows, infinite, zero);
  const number finite = n_pick(g, none, of_zero, n_pick(g, endless, of_infinity, s_power(g, a, y)));
  const number power = n_pick(g, n_eq(g, a, one), one, finite);
  const truth minus = t_and(g, w_negative(g, n_word(g, x)), odd);
  const number turned = n_pick(g, minus, n_neg(g, power), power);
  /* A negative finite x has no power whose exponent is not an integer, so the result is NaN.  Powers of -infinity have limits. */
  const truth fractional = t_not(g, whole), bounded = t_not(g, endless);
  const truth fails = t_and(g, t_and(g, n_lt(g, x, zero), bounded), fractional);
  const number result = n_pick(g, fails, s_bits(g, SINGLE_NAN), turned);
  const number sum = n_add(g, x, y);
  const truth nan_y = n_nan(g, y);
  const number plain = n_pick(g, t_or(g, n_nan(g, x), nan_y), sum, result);
  const truth zero_y = n_eq(g, y, zero);
  return n_pick(g, t_or(g, n_eq(g, x, one), zero_y), one, plain);
}

/* Returns 1 / sqrt(x), rounded once, as the evaluator does.  `wrong` is the error of the first quotient, exact to about 20 bits.
 * If these bits do not determine the rounding, computes the result in f64. */
static number
s_rsqrt(machine *g, number x)
{
  const number one = n_lit(g, 1.0f), y = n_div(g, one, n_sqrt(g, x)), h = n_mul(g, x, y), minus = n_neg(g, y);
  const number rest = n_fma(g, h, minus, one), wrong = n_fma(g, n_fma(g, x, y, n_neg(g, h)), minus, rest);
  const number less = n_fma(g, n_mul(g, y, n_lit(g, 0.5f - 0x1p-19f)), wrong, y);
  const number more = n_fma(g, n_mul(g, y, n_lit(g, 0.5f + 0x1p-19f)), wrong, y), infinite = s_bits(g, SINGLE_INFINITE);
  const truth endless = n_eq(g, x, infinite);
  number result = n_pick(g, t_or(g, n_eq(g, n_abs(g, y), infinite), endless), y, more), wide;
  const truth differ = t_not(g, n_eq(g, less, more));
  WHEN(g, t_and(g, n_eq(g, result, more), differ), {
    wide = n_rsqrt_wide(g, x);
    SET(g, result, wide);
  });
  return result;
}

/* ---- hyperbolic functions --------------------------------------------------------------------------------------------------- */

/* Returns x + x^3 p.  `square` is x^2, and `p` is the value of a polynomial of x^2. */
static number
s_odd(machine *g, number x, number square, number p)
{
  return n_fma(g, n_mul(g, x, square), p, x);
}

static number
s_cosh(machine *g, number x)
{
  const number half = s_exp_times(g, n_abs(g, x), UINT32_MAX);
  return n_add(g, half, n_div(g, n_lit(g, 0.25f), half));
}

static number
s_sinh(machine *g, number x)
{
  const number a = n_abs(g, x), square = n_mul(g, a, a), half = s_exp_times(g, a, UINT32_MAX);
  const number p = SERIES(g, square, 0x1.7677a8p-19f, 0x1.a01c20p-13f, 0x1.1110eap-7f, 0x1.555556p-3f);
  const number far = n_sub(g, half, n_div(g, n_lit(g, 0.25f), half));
  const number near = s_odd(g, a, square, p);
  return s_copysign(g, n_pick(g, n_lt(g, a, n_lit(g, 1.0f)), near, far), x);
}

static number
s_tanh(machine *g, number x)
{
  const number a = n_abs(g, x), square = n_mul(g, a, a), one = n_lit(g, 1.0f);
  const number p = SERIES(g, square, -0x1.9a6130p-8f, 0x1.59147ap-6f, -0x1.b922e4p-5f, 0x1.110cfep-3f, -0x1.55554ap-2f);
  const number under = n_add(g, s_exp(g, n_add(g, a, a)), one), far = n_sub(g, one, n_div(g, n_lit(g, 2.0f), under));
  const number near = s_odd(g, a, square, p);
  return s_copysign(g, n_pick(g, n_lt(g, a, n_lit(g, 0.55f)), near, far), x);
}

/* Returns log(2 x) of a large x. */
static number
s_log_twice(machine *g, number x)
{
  number e;
  const number m = s_reduce(g, x, &e), one = n_lit(g, 1.0f), exponent = n_add(g, e, one);
  return s_log_or(g, x, s_log_sum(g, n_sub(g, m, one), exponent));
}

static number
s_asinh(machine *g, number x)
{
  const number a = n_abs(g, x), one = n_lit(g, 1.0f), square = n_mul(g, a, a);
  const number root = n_sqrt(g, n_add(g, square, one));
  const number near = s_log_1_plus(g, n_add(g, a, n_div(g, square, n_add(g, root, one))));
  const number far = s_log_twice(g, a);
  return s_copysign(g, n_pick(g, n_gt(g, a, n_lit(g, 0x1p28f)), far, near), x);
}

static number
s_acosh(machine *g, number x)
{
  const number one = n_lit(g, 1.0f), t = n_sub(g, x, one), root = n_sqrt(g, n_fma(g, t, t, n_add(g, t, t)));
  const number near = s_log_1_plus(g, n_add(g, t, root)), far = s_log_twice(g, x);
  const number value = n_pick(g, n_gt(g, x, n_lit(g, 0x1p28f)), far, near);
  return n_pick(g, n_ltu(g, x, one), s_bits(g, SINGLE_NAN), value);
}

static number
s_atanh(machine *g, number x)
{
  const number a = n_abs(g, x), one = n_lit(g, 1.0f), under = n_sub(g, one, a), part = n_div(g, n_add(g, a, a), under);
  const number half = n_mul(g, s_log_1_plus(g, part), n_lit(g, 0.5f));
  const number value = n_pick(g, n_eq(g, a, one), s_bits(g, SINGLE_INFINITE), half);
  const number result = s_copysign(g, value, x);
  return n_pick(g, n_gt(g, a, one), s_bits(g, SINGLE_NAN), result);
}
