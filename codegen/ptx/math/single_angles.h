/* sin, cos, tan and their inverses of an f32.  Include singles.h first.
 *
 * SPDX-License-Identifier: Apache-2.0 */

/* ---- sine, cosine ----------------------------------------------------------------------------------------------------------- */

/* Returns the word that `which` selects, counted from 0.  Numbers from 3 on select `last`. */
static word
s_choose(machine *g, word which, uint32_t first, uint32_t second, uint32_t third, uint32_t last)
{
  const word high = w_pick(g, w_eq(g, which, 2), w_lit(g, third), w_lit(g, last));
  const word rest = w_pick(g, w_eq(g, which, 1), w_lit(g, second), high);
  return w_pick(g, w_eq(g, which, 0), w_lit(g, first), rest);
}

/* Reduces |x| >= 2^16 by Payne and Hanek's method.  Only 96 bits of 2 / pi matter: the product of higher bits with x is a
 * multiple of 4, and that of lower bits is too small.  The integer x / 2^k is multiplied by these bits exactly.  The upper two
 * of the product's 64 bits are the quadrant.  No f32 is nearer than 2^-31 to a multiple of pi / 2, so at least 30 bits remain. */
static number
s_reduce_far(machine *g, number x, word *out_quadrant)
{
  const word bits = n_word(g, x), mantissa = w_or(g, w_shl(g, bits, 8), w_lit(g, SINGLE_SIGN));
  const word e = w_sub(g, w_and(g, w_shr(g, bits, 23), w_lit(g, 255)), w_lit(g, 128));
  const word which = w_shr(g, e, 5), by = w_and(g, e, w_lit(g, 31));
  const word a = s_choose(g, which, 0, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u);
  const word b = s_choose(g, which, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u);
  const word c = s_choose(g, which, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u);
  const word d = s_choose(g, which, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
  const word high = w_funnel(g, b, a, by), middle = w_funnel(g, c, b, by), low = w_funnel(g, d, c, by);
  const word part = w_mul(g, mantissa, middle), r0 = w_add(g, part, w_mul_high(g, mantissa, low));
  const word carry = w_pick(g, w_lt(g, r0, part), w_lit(g, 1), w_lit(g, 0));
  const word above = w_mul_high(g, mantissa, middle);
  const word r1 = w_add(g, w_add(g, w_mul(g, mantissa, high), above), carry);
  /* The fraction of a quadrant, rounded to the nearest quadrant. */
  const word f0 = w_shl(g, r0, 2), f1 = w_funnel(g, r0, r1, w_lit(g, 2));
  const truth beyond = w_negative(g, f1);
  const word carried = w_pick(g, w_eq(g, f0, 0), w_lit(g, 1), w_lit(g, 0));
  const word turned = w_add(g, w_xor(g, f1, w_lit(g, UINT32_MAX)), carried);
  const word m1 = w_pick(g, beyond, turned, f1), m0 = w_pick(g, beyond, w_sub(g, w_lit(g, 0), f0), f0);
  const word next = w_pick(g, beyond, w_lit(g, 1), w_lit(g, 0));
  const word q = w_add(g, w_shr(g, r1, 30), next), zeros = w_clz(g, m1);
  const word angle = w_mul_high(g, w_funnel(g, m0, m1, zeros), w_lit(g, 0xc90fdaa2u)); /* times pi / 2 */
  const number power = s_power_of_2(g, w_sub(g, w_lit(g, (uint32_t)-31), zeros)), r = n_mul(g, n_of_unsigned(g, angle), power);
  const truth minus = w_negative(g, bits);
  *out_quadrant = w_pick(g, minus, w_sub(g, w_lit(g, 0), q), q);
  const number opposite = n_neg(g, r);
  return n_pick(g, t_xor(g, beyond, minus), opposite, r);
}

/* Returns x minus a multiple of pi / 2, and stores which multiple, modulo 4.  Below 2^16 it is subtracted in three parts, the
 * first without error. */
static number
s_reduce_angle(machine *g, number x, word *out_quadrant)
{
  const number k = n_near(g, n_mul(g, x, n_lit(g, 0x1.45f306p-1f)));
  const number high = n_fma(g, k, n_lit(g, -SINGLE_HALF_PI_HIGH), x), low = n_fma(g, k, n_lit(g, -SINGLE_HALF_PI_LOW), high);
  number r = n_fma(g, k, n_lit(g, -SINGLE_HALF_PI_LAST), low), far;
  word q = n_to_word(g, k), far_q;
  WHEN(g, n_gt(g, n_abs(g, x), n_lit(g, 0x1p16f)), {
    far = s_reduce_far(g, x, &far_q);
    SET(g, r, far);
    SET(g, q, far_q);
  });
  *out_quadrant = q;
  return r;
}

/* Returns sin r for |r| <= pi / 4. */
static number
s_sin_of(machine *g, number r, number square)
{
  return s_odd(g, r, square, SERIES(g, square, 0x1.7863c6p-19f, -0x1.a04a72p-13f, 0x1.111166p-7f, -0x1.555556p-3f));
}

static number
s_cos_of(machine *g, number square)
{
  const number p = SERIES(g, square, 0x1.99e90cp-16f, -0x1.6c0c2ap-10f, 0x1.55554ap-5f);
  return n_fma(g, square, n_fma(g, square, p, n_lit(g, -0.5f)), n_lit(g, 1.0f));
}

/* Returns `value`, or NaN if x is infinite or a NaN. */
static number
s_of_finite(machine *g, number x, number value)
{
  return n_pick(g, n_lt(g, n_abs(g, x), s_bits(g, SINGLE_INFINITE)), value, s_bits(g, SINGLE_NAN));
}

static number
s_turned(machine *g, number x, word more)
{
  word q;
  const number r = s_reduce_angle(g, x, &q), square = n_mul(g, r, r);
  q = w_add(g, q, more);
  const truth even = w_eq(g, w_and(g, q, w_lit(g, 1)), 0);
  const number cosine = s_cos_of(g, square), value = n_pick(g, even, s_sin_of(g, r, square), cosine), opposite = n_neg(g, value);
  return s_of_finite(g, x, n_pick(g, w_eq(g, w_and(g, q, w_lit(g, 2)), 0), value, opposite));
}

/* A zero keeps its sign. */
static number
s_sin(machine *g, number x)
{
  const number sine = s_turned(g, x, w_lit(g, 0));
  return n_pick(g, n_eq(g, x, n_lit(g, 0.0f)), x, sine);
}

static number
s_cos(machine *g, number x)
{
  return s_turned(g, x, w_lit(g, 1));
}

static number
s_tan(machine *g, number x)
{
  word q;
  const number r = s_reduce_angle(g, x, &q), square = n_mul(g, r, r);
  const number sine = s_sin_of(g, r, square), cosine = s_cos_of(g, square);
  const truth even = w_eq(g, w_and(g, q, w_lit(g, 1)), 0);
  const number over = n_pick(g, even, sine, n_neg(g, cosine)), under = n_pick(g, even, cosine, sine);
  const number tangent = s_of_finite(g, x, n_div(g, over, under));
  return n_pick(g, n_eq(g, x, n_lit(g, 0.0f)), x, tangent);
}

/* ---- inverses --------------------------------------------------------------------------------------------------------------- */

/* Returns atan t for t from 0 to 1. */
static number
s_atan_of(machine *g, number t)
{
  const number square = n_mul(g, t, t);
  const number p = SERIES(g, square, -0x1.d5546ap-10f, 0x1.6527a6p-7f, -0x1.fe56fap-6f, 0x1.da89d2p-5f, -0x1.5820e8p-4f,
                          0x1.c092dcp-4f, -0x1.2420fap-3f, 0x1.9991eap-3f, -0x1.55553ep-2f);
  return s_odd(g, t, square, p);
}

/* Returns pi - angle, or pi / 2 - angle if `half`. */
static number
s_less_than_pi(machine *g, number angle, bool half)
{
  const number high = n_lit(g, half ? SINGLE_HALF_PI_HIGH : SINGLE_PI_HIGH);
  return n_add(g, n_sub(g, high, angle), n_lit(g, half ? SINGLE_HALF_PI_LOW : SINGLE_PI_LOW));
}

static number
s_atan(machine *g, number x)
{
  const number a = n_abs(g, x), one = n_lit(g, 1.0f);
  const truth steep = n_gt(g, a, one);
  const number angle = s_atan_of(g, n_pick(g, steep, n_div(g, one, a), a));
  return s_copysign(g, n_pick(g, steep, s_less_than_pi(g, angle, true), angle), x);
}

static number
s_atan2(machine *g, number y, number x)
{
  const number ay = n_abs(g, y), ax = n_abs(g, x), zero = n_lit(g, 0.0f);
  const truth steep = n_gt(g, ay, ax);
  const number less = n_pick(g, steep, ax, ay), more = n_pick(g, steep, ay, ax);
  /* Equal operands have the ratio 1, for infinity / infinity.  For y = 0, the ratio is replaced by 0, also for 0 / 0. */
  const number quotient = n_div(g, less, more), ratio = n_pick(g, n_eq(g, less, more), n_lit(g, 1.0f), quotient);
  const number flat = s_atan_of(g, n_pick(g, n_eq(g, ay, zero), zero, ratio));
  const number angle = n_pick(g, steep, s_less_than_pi(g, flat, true), flat);
  const number obtuse = s_less_than_pi(g, angle, false), whole = n_pick(g, w_negative(g, n_word(g, x)), obtuse, angle);
  const number value = s_copysign(g, whole, y), sum = n_add(g, x, y);
  const truth nan_y = n_nan(g, y);
  return n_pick(g, t_or(g, n_nan(g, x), nan_y), sum, value);
}

/* Returns asin a up to 1/2, and (pi / 2 - asin a) / 2 above by the half angle.  Stores whether a is above. */
static number
s_asin_part(machine *g, number a, truth *out_far)
{
  const number half = n_lit(g, 0.5f), over = n_mul(g, n_sub(g, n_lit(g, 1.0f), a), half);
  *out_far = n_gt(g, a, half);
  const number square = n_pick(g, *out_far, over, n_mul(g, a, a)), w = n_pick(g, *out_far, n_sqrt(g, over), a);
  return s_odd(g, w, square,
               SERIES(g, square, 0x1.33f076p-5f, 0x1.d7477ep-7f, 0x1.04b3a6p-5f, 0x1.6caa44p-5f, 0x1.3338a0p-4f, 0x1.55554cp-3f));
}

static number
s_asin(machine *g, number x)
{
  truth far;
  const number part = s_asin_part(g, n_abs(g, x), &far);
  return s_copysign(g, n_pick(g, far, s_less_than_pi(g, n_add(g, part, part), true), part), x);
}

static number
s_acos(machine *g, number x)
{
  truth far;
  const number part = s_asin_part(g, n_abs(g, x), &far), twice = n_add(g, part, part);
  const number near = s_less_than_pi(g, s_copysign(g, part, x), true);
  const number obtuse = s_less_than_pi(g, twice, false), end = n_pick(g, n_lt(g, x, n_lit(g, 0.0f)), obtuse, twice);
  return n_pick(g, far, end, near);
}
